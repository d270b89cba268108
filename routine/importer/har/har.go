// Package har reads HAR files, in which the tools of browsers and proxies save the requests of a
// page. A routine repeats one of the requests: the one whose answer most likely has the data, or
// the one that the caller picks; and before it those that it needs.
package har

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
)

// Kind is the name of this kind of recordings.
const Kind = "har"

// Matches reports whether a JSON text is a file of this kind.
func Matches(root *jsontree.Value) bool { return root.Get("log").Get("entries").Kind == jsontree.Array }

// maxEntries is how many requests a file may have.
const maxEntries = 10_000

// Read makes a draft of one request of a file. pick is its number, from 1, or a part of its method
// and URL; empty for the one that most likely has the data.
func Read(root *jsontree.Value, pick string) (*draft.Draft, error) {
	if !Matches(root) {
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: a HAR file is an object with the list log.entries")
	}
	items := root.Get("log").Get("entries").Items
	if len(items) > maxEntries {
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the file has %d requests, the limit is %d", items[maxEntries].Line, len(items), maxEntries)
	}
	f := &file{d: &draft.Draft{}}
	for i, item := range items {
		f.entries = append(f.entries, readEntry(i+1, item))
	}
	f.setPages()
	f.rate()
	target, err := f.pick(strings.TrimSpace(pick))
	if err != nil {
		return nil, err
	}
	f.d.Title = f.title(root, target)
	f.list(target)
	if err := f.chain(target); err != nil {
		return nil, err
	}
	return f.d, nil
}

// file is the content of a HAR file.
type file struct {
	d       *draft.Draft
	entries []*entry
	ranked  []*entry // those that a routine may want to repeat, the best first
}

// title is the title of the page, unless that is a URL; else the host of the request.
func (f *file) title(root *jsontree.Value, target *entry) string {
	for _, p := range root.Get("log").Get("pages").Items {
		if title := p.Get("title").String(); p.Get("id").String() == target.pageRef && !strings.Contains(title, "/") {
			return title
		}
	}
	return target.host
}

// maxListed is how many requests the list of candidates has.
const maxListed = 20

// list puts the requests that could be meant into the report.
func (f *file) list(target *entry) {
	f.d.Candidates = []draft.Candidate{}
	for _, e := range f.ranked[:min(len(f.ranked), maxListed)] {
		f.d.Candidates = append(f.d.Candidates, e.candidate(e == target))
	}
	if !slices.Contains(f.ranked[:min(len(f.ranked), maxListed)], target) {
		f.d.Candidates = append([]draft.Candidate{target.candidate(true)}, f.d.Candidates[:min(len(f.d.Candidates), maxListed-1)]...)
	}
}

func (e *entry) candidate(taken bool) draft.Candidate {
	return draft.Candidate{Number: e.Number, Line: e.line, Request: e.shown(), Status: e.Status, Type: draft.Shown(e.ContentType),
		Bytes: e.AnswerSize, Score: e.score, Taken: taken}
}

// pick returns the request to repeat.
func (f *file) pick(pick string) (*entry, error) {
	if pick == "" {
		if len(f.ranked) > 0 && f.ranked[0].Status < 400 {
			return f.ranked[0], nil
		}
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: there is no data request in the file: none of its %d requests has an answer with JSON, "+
			"CSV or a part of a page; give the number of one, or a part of its URL, as the test", len(f.entries))
	}
	if n, err := strconv.Atoi(pick); err == nil && n >= 1 && n <= len(f.entries) {
		return f.entries[n-1], nil
	}
	for _, e := range f.ranked {
		if e.matches(pick) {
			return e, nil
		}
	}
	for _, e := range slices.Backward(f.entries) {
		if e.matches(pick) {
			return e, nil
		}
	}
	return nil, routine.Errorf(routine.CodeInvalid, "no request of the file has %s in its method and URL%s",
		routine.Quote(draft.Shown(pick)), f.examples())
}

func (e *entry) matches(text string) bool {
	return strings.Contains(strings.ToLower(e.Method+" "+e.URL), strings.ToLower(text))
}

// examples names the best requests for an error.
func (f *file) examples() string {
	text := ""
	for i, e := range f.ranked[:min(len(f.ranked), 5)] {
		text += []string{": the best are ", ", "}[min(i, 1)] + fmt.Sprintf("%d (%s)", e.Number, e.shown())
	}
	return text
}
