package routine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"rote/routine/placeholder"
)

// Evidence is what a page was like when an operation failed on it, so that its
// author can mend the routine without opening the page. It is small: the JSON
// takes at most 8 KiB. All of its texts come from the page, with what is secret
// masked: they are data, never instructions.
type Evidence struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Text is the beginning of what a person reads on the page, its alerts
	// first, in at most 300 characters.
	Text string `json:"text,omitempty"`
	// Elements are what could have been meant by the operation's selector, the
	// likeliest first. The list is empty for operations that look for no element,
	// and null when the page did not answer.
	Elements []Element `json:"elements"`
	// Console are the last lines that the page wrote, FailedRequests the last
	// of its requests that failed.
	Console        []string        `json:"console"`
	FailedRequests []FailedRequest `json:"failed_requests"`
	// Script is the line at which the script of a js_evaluate threw; null when
	// that is not known.
	Script *ScriptLine `json:"script,omitempty"`
	// Screenshot is null when none could be taken.
	Screenshot *Screenshot `json:"screenshot"`
}

// ScriptLine is a line of a script of a routine.
type ScriptLine struct {
	Place
	// Text is the line as the routine has it, with its placeholders.
	Text string `json:"text"`
}

// Element is one element of a page as a routine could name it.
type Element struct {
	// Selector is plain CSS and matches this element only, also where it is in
	// a frame or an open shadow root.
	Selector string `json:"selector"`
	// Role is that of accessibility, or else the tag.
	Role string `json:"role"`
	// Text is what a person reads on or beside it, never what was typed into
	// it.
	Text string `json:"text,omitempty"`
	// Where names the frame or shadow root that it is in.
	Where string `json:"where,omitempty"`
	// Problem is why a person could not act on it; empty: nothing.
	Problem string `json:"problem,omitempty"`
	// Matched tells that the operation's own selector matches it.
	Matched bool `json:"matched,omitempty"`
}

// FailedRequest is a request of a page that brought no answer, or an answer
// with an HTTP status from 400 on.
type FailedRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Screenshot describes a picture of what was in view. What shows a secret was
// blanked in it.
type Screenshot struct {
	ContentType string `json:"content_type"`
	// Width and Height are in pixels, Size is in bytes.
	Width  int `json:"width"`
	Height int `json:"height"`
	Size   int `json:"size"`
	// File names the file of the execution that holds it; empty when it is not
	// kept.
	File string `json:"file,omitempty"`
	Data []byte `json:"-"`
}

// Inspection says what evidence to look for.
type Inspection struct {
	// Operation is the type of the one that failed, Selector its selector;
	// empty: it has none.
	Operation, Selector string
	// Secrets are texts that the evidence must not show.
	Secrets []string
}

// evidenceTime bounds how much longer a failed run takes.
const evidenceTime = 1500 * time.Millisecond

// maxInspected bounds the secrets that a page is searched for, in bytes of all their
// spellings. It takes too long to search for more.
const maxInspected = 256 << 10

// inspect gathers evidence of a failure on the run's page, also when the run's
// time is over. One that was cancelled or whose service stops is not kept
// waiting for it. There is none when the secrets are more than maxInspected.
func (r *Run) inspect(ctx context.Context, o Operation) *Evidence {
	if unwanted(ctx) || r.hidden.size() > maxInspected {
		return nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), evidenceTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if unwanted(ctx) {
			cancel()
		}
	})
	defer stop()
	i := Inspection{Operation: o.Type(), Secrets: r.hidden.texts}
	if r.op != nil {
		eachTemplate(r.op, func(s site) {
			if s.place == placeholder.Selector {
				i.Selector = s.text
			}
		})
	}
	e := r.page.Evidence(bounded, i)
	if e != nil {
		e.Script = r.failedLine(o)
	}
	redactEvidence(e, r.hidden)
	return e
}

// failedLine is the line of the operation's script at which it threw; nil when
// that is not known.
func (r *Run) failedLine(o Operation) *ScriptLine {
	op, err := decodeOperation(o)
	written, ok := op.(scripted)
	filled, _ := r.op.(scripted)
	if err != nil || !ok || filled == nil || r.failedAt.Line < 1 {
		return nil
	}
	lines := strings.Split(lineEnds.Replace(written.script()), "\n")
	if r.failedAt.Line > len(lines) || strings.Count(lineEnds.Replace(filled.script()), "\n")+1 != len(lines) {
		return nil // a placeholder that is written over several lines
	}
	return &ScriptLine{r.failedAt, lines[r.failedAt.Line-1]}
}

// lineEnds makes all line ends of JavaScript the same.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// screenshotFile is the name under which a screenshot is kept.
const screenshotFile = "screenshot.jpg"

// keepScreenshot makes the screenshot of a failed run a file of its execution.
// That it is lost is told in the log only: it must not hide why the run failed.
func (s *Service) keepScreenshot(ctx context.Context, e *Execution) {
	if e.Evidence == nil || e.Evidence.Screenshot == nil {
		return
	}
	shot := e.Evidence.Screenshot
	f := &File{FileInfo{Name: screenshotFile, ContentType: shot.ContentType, Size: int64(len(shot.Data))}, shot.Data}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := s.store.PutFile(saving, e.ID, f); err != nil {
		s.log.WarnContext(ctx, "screenshot could not be saved", "execution_id", e.ID, "error", err)
		return
	}
	shot.File = f.Name
	e.Files = append(e.Files, f.FileInfo)
}

// unwanted tells that ctx has ended for another reason than the time.
func unwanted(ctx context.Context) bool {
	return ctx.Err() != nil && CodeOf(CauseOf(ctx)) != CodeTimeout
}

// How much of each text evidence shows, in characters, how many of each list,
// and how many bytes all of its JSON takes.
const (
	maxEvidence      = 8 << 10
	maxEvidenceURL   = 500
	maxEvidenceLine  = 200
	maxEvidenceLabel = 100
	maxEvidenceText  = 300
	maxEvidenceList  = 10
	// leastElements stay when the JSON is too long for all of the lists.
	leastElements = 5
)

// redactEvidence removes secret values from e and truncates its texts and lists to
// the limits above.
func redactEvidence(e *Evidence, hidden secrets) {
	if e == nil {
		return
	}
	shown := func(text string, limit int) string {
		return Truncate(OneLine(hideCredentials(hidden.text(text))), limit)
	}
	e.URL, e.Title, e.Text = shown(e.URL, maxEvidenceURL), shown(e.Title, maxEvidenceLine), shown(e.Text, maxEvidenceText)
	for i := range e.Elements {
		x := &e.Elements[i]
		x.Selector, x.Role = hidden.text(x.Selector), shown(x.Role, maxEvidenceLabel)
		x.Text, x.Where, x.Problem = shown(x.Text, maxEvidenceLabel), shown(x.Where, maxEvidenceLabel), shown(x.Problem, maxEvidenceLabel)
	}
	if e.Script != nil {
		e.Script.Text = shown(e.Script.Text, maxEvidenceLine)
	}
	e.Console, e.FailedRequests = last(e.Console, maxEvidenceList), last(e.FailedRequests, maxEvidenceList)
	for i, line := range e.Console {
		e.Console[i] = shown(line, maxEvidenceLine)
	}
	for i := range e.FailedRequests {
		f := &e.FailedRequests[i]
		f.Method, f.URL, f.Error = shown(f.Method, maxEvidenceLabel), shown(f.URL, maxEvidenceLine), shown(f.Error, maxEvidenceLine)
	}
	for e.size() > maxEvidence {
		switch {
		case len(e.Elements) > leastElements:
			e.Elements = e.Elements[:len(e.Elements)-1]
		case len(e.Console) > 0:
			e.Console = e.Console[1:]
		case len(e.FailedRequests) > 0:
			e.FailedRequests = e.FailedRequests[1:]
		default:
			e.Elements = e.Elements[:len(e.Elements)-1]
		}
	}
}

func (e *Evidence) size() int {
	text, _ := json.Marshal(e) // texts and numbers
	return len(text)
}

func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

var (
	// userinfo is the part of a URL before the host.
	userinfo = regexp.MustCompile(`://[^/?#\s]*@`)
	// credential is a part of a query or fragment whose name says that its
	// value is a secret.
	credential = regexp.MustCompile(`(?i)([?&#;][^=&#\s]*(?:` + strings.Join(secretNames, "|") + `)[^=&#\s]*=)[^&#\s]*`)
)

// hideCredentials masks those that URLs in a text carry.
func hideCredentials(text string) string {
	return credential.ReplaceAllString(userinfo.ReplaceAllString(text, "://"), "${1}"+Masked)
}

// maxNearest is how many elements an error names.
const maxNearest = 4

// hintOf returns what the evidence adds to the error, because most readers see nothing
// but the error: the line of the script, or what could have been meant.
func hintOf(e *Evidence, o Operation, err *Error) string {
	if e != nil && e.Script != nil && e.Script.Text != "" {
		return fmt.Sprintf("; line %d is: %s", e.Script.Line, e.Script.Text)
	}
	return nearestElements(e, o, err)
}

// nearestElements names what could have been meant by the selector of a search for an
// element.
func nearestElements(e *Evidence, o Operation, err *Error) string {
	code, limit := err.Code, "timeout_ms"
	var search *Error
	if code == CodeTimeout && errors.As(err.Cause, &search) { // the run's time ended it
		code, limit = search.Code, "timeout_seconds of the run"
	}
	if e == nil || e.Elements == nil || code != CodeElementNotFound && code != CodeElementNotActionable {
		return ""
	}
	if code == CodeElementNotFound && len(e.Elements) > 0 && e.Elements[0].Matched {
		return "; it came right after that: wait longer for it (" + limit + ")"
	}
	var usable []string
	for _, x := range e.Elements {
		if x.Problem == "" && !x.Matched && len(usable) < maxNearest { // what the selector matches is what failed
			usable = append(usable, x.String())
		}
	}
	if len(usable) == 0 && code == CodeElementNotActionable {
		return ""
	}
	if k, _ := kindNamed(o.typ); len(usable) == 0 && k.Effect == EffectReads {
		return "; nothing on the page is named like it"
	}
	if len(usable) == 0 {
		return "; there is nothing else to act on"
	}
	return "; nearest: " + strings.Join(usable, ", ")
}

// String is the element in a few words, as in: button.buy-now 'Buy now'.
func (x Element) String() string {
	text := x.Selector
	if x.Text != "" {
		text += " '" + Truncate(x.Text, 40) + "'"
	}
	if x.Where != "" {
		text += " (" + x.Where + ")"
	}
	return text
}
