package requests

import (
	"fmt"
	"slices"
	"strings"

	"rote/routine"
)

const (
	// MaxLines and MaxListBytes bound a list of requests.
	MaxLines     = 40
	MaxListBytes = 4 << 10
	// maxLineBytes bounds the shapes of one line.
	maxLineBytes = 300
)

// Query says which requests of a log to list and what is known about them.
type Query struct {
	// Find is a text that the URL, the body or the answer must contain; empty: all.
	// Numbers are found whatever separators they have: "19.00 €" finds 19 and 1900.
	Find string
	// After is the number of a request. Only later ones are listed.
	After int
	// During returns the operation during which a request was made, as in "by operation 3"
	// or "at load"; nil or an empty text: not known.
	During func(number int) string
	// Secrets are the texts that must not be shown.
	Secrets []string
}

// Line describes a request without its values, or several requests that are alike.
type Line struct {
	// Number is that of the last of them.
	Number int    `json:"request"`
	Method string `json:"method"`
	// URL has the kind of each value in its place, as in /items/{int}?q={str}.
	URL string `json:"url"`
	// Sent is the shape of the body.
	Sent string `json:"sent,omitempty"`
	// Status is 0 if there is no answer; Error says why there will be none.
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
	// Type is json, html, csv, xml, form, events or text.
	Type string `json:"type,omitempty"`
	// Size is that of the answer in bytes.
	Size int64 `json:"size"`
	// Answer is the shape of a JSON answer.
	Answer string `json:"answer,omitempty"`
	During string `json:"during,omitempty"`
	// Times is how many requests are alike.
	Times int `json:"times,omitempty"`
}

// String is the line for a reader.
func (l Line) String() string {
	parts := []string{fmt.Sprint(l.Number), l.Method, l.URL}
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(l.Sent)
	switch {
	case l.Error != "":
		add("→ failed: " + routine.JSONText(l.Error))
	case l.Status == 0:
		add("→ no answer yet")
	default:
		add(fmt.Sprintf("→ %d", l.Status))
		add(l.Type)
		if l.Type != "" || l.Size > 0 {
			add(byteSize(l.Size))
		}
		add(l.Answer)
	}
	add(l.During)
	if l.Times > 1 {
		add(fmt.Sprintf("×%d", l.Times))
	}
	return strings.Join(parts, " ")
}

// byteSize is a number of bytes as people write it.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Listing is a list of requests, the newest last.
type Listing struct {
	Lines []Line `json:"requests"`
	// Before counts the older requests that are left out or no longer kept.
	Before int `json:"before,omitempty"`
	// Others counts requests of other kinds: images, scripts, styles, beacons.
	Others int `json:"others"`
	// Pending counts the requests that have no answer yet.
	Pending int `json:"pending,omitempty"`
	// Find is what was asked for.
	Find string `json:"find,omitempty"`
}

// List describes the requests of a log, at most MaxLines lines and MaxListBytes bytes of
// text: the newest.
func List(log routine.RequestLog, q Query) Listing {
	m := newMask(q.Secrets)
	listing := Listing{Lines: []Line{}, Others: log.Others, Pending: log.Pending, Find: q.Find}
	find, leftOut := newFinder(q.Find, m), 0
	bytes := len(listing.Text())
	for i := range slices.Backward(log.Requests) {
		r := &log.Requests[i]
		if r.Number <= q.After || !find.in(r) {
			continue
		}
		line := lineOf(r, m)
		if q.During != nil {
			line.During = q.During(r.Number)
		}
		if same := slices.IndexFunc(listing.Lines, line.alike); same >= 0 {
			listing.Lines[same].Times++
			continue
		}
		line.Times = 1
		bytes += len(line.String()) + len(" ×200\n")
		if leftOut > 0 || len(listing.Lines) == MaxLines || bytes > MaxListBytes {
			leftOut++
			continue
		}
		listing.Lines = append(listing.Lines, line)
	}
	if listing.Before = leftOut; q.After == 0 {
		listing.Before += log.Dropped
	}
	slices.Reverse(listing.Lines)
	return listing
}

// Lines are the lines of some requests for the answer to an operation, at most most of
// them, with a last one that counts the others.
func Lines(rs []routine.Request, secrets []string, most int) []string {
	m := newMask(secrets)
	var lines []Line
	for i := range rs {
		line := lineOf(&rs[i], m)
		if same := slices.IndexFunc(lines, line.alike); same >= 0 {
			lines[same].Number = line.Number
			lines[same].Times++
			continue
		}
		line.Times = 1
		lines = append(lines, line)
	}
	texts := make([]string, 0, most+1)
	for i, line := range lines {
		if i == most {
			texts = append(texts, fmt.Sprintf("… and %d more", len(lines)-i))
			break
		}
		texts = append(texts, line.String())
	}
	return texts
}

// lineOf describes one request.
func lineOf(r *routine.Request, m *mask) Line {
	line := Line{Number: r.Number, Method: r.Method, URL: urlTemplate(r.URL, r.PageURL, m), Status: r.Status,
		Sent: routine.Truncate(sentShape(r, m), maxLineBytes), Size: r.AnswerSize}
	if r.Error != "" {
		line.Error = routine.Truncate(routine.OneLine(routine.PlainText(m.text(r.Error))), maxName)
	}
	if r.Status == 0 {
		return line
	}
	if r.AnswerSize > 0 || len(r.Answer) > 0 {
		line.Type = contentKind(r.ContentType)
	}
	if tree := answerTree(r); tree != nil {
		line.Type, line.Answer = "json", routine.Truncate(shaper{m, false}.of([]*node{tree}, 0), maxLineBytes)
	}
	return line
}

// alike reports whether two lines say the same except for number, size and operation.
func (l Line) alike(other Line) bool {
	l.Number, l.Size, l.Times, l.During = other.Number, other.Size, other.Times, other.During
	return l == other
}

// Text is the list for a reader.
func (l Listing) Text() string {
	var b strings.Builder
	b.WriteString(routine.PageTextNotice + "\n")
	if l.Before > 0 {
		fmt.Fprintf(&b, "… %d before\n", l.Before)
	}
	for _, line := range l.Lines {
		b.WriteString(line.String() + "\n")
	}
	if len(l.Lines) == 0 {
		b.WriteString(l.none() + "\n")
	}
	if l.Pending > 0 {
		fmt.Fprintf(&b, "%d of them have no answer yet. ", l.Pending)
	}
	if l.Others > 0 {
		fmt.Fprintf(&b, "Also: %d of other kinds. ", l.Others)
	}
	if len(l.Lines) > 0 {
		b.WriteString("Ask with id for one as a fetch operation.")
	}
	return strings.TrimRight(b.String(), " \n") + "\n"
}

// none says that no request is listed.
func (l Listing) none() string {
	if l.Find != "" {
		return "No request has " + quoteName(l.Find) + " in its URL, body or answer: it may be in the page's own HTML. Use take_snapshot with extract."
	}
	return "No data requests. What the page shows is probably in its own HTML: use take_snapshot with extract."
}
