package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// evidenceTime bounds the extra time that evidence adds to a failed run.
const evidenceTime = 1500 * time.Millisecond

// maxInspected bounds the secrets for which a page is searched, in bytes of all
// spellings. A search for more takes too long.
const maxInspected = 256 << 10

// inspect collects evidence of a failure on the run's page, even after the run's
// timeout. There is none if the run was cancelled, if the service stops, or if the
// secrets exceed maxInspected.
func (r *runner) inspect(ctx context.Context, o routine.Operation) *routine.Evidence {
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
	k, _ := operation.KindOf(o.Type())
	i := routine.Inspection{Use: k.Use, Secrets: r.hidden.texts}
	if r.op != nil {
		operation.EachTemplate(r.op, func(s operation.Site) {
			if s.Place == placeholder.Selector {
				i.Selector = s.Text
			}
		})
	}
	e := r.evidenceOf(bounded, i)
	if e != nil {
		e.Script = r.failedLine(o)
	}
	redactEvidence(e, r.hidden)
	return e
}

// failedLine returns the line of the operation's script at which it threw, or nil if
// that is not known.
func (r *runner) failedLine(o routine.Operation) *routine.ScriptLine {
	op, err := operation.Decode(o)
	written, ok := operation.ScriptOf(op)
	filled, _ := operation.ScriptOf(r.op)
	if err != nil || !ok || r.FailedAt.Line < 1 {
		return nil
	}
	lines := strings.Split(lineEnds.Replace(written), "\n")
	if r.FailedAt.Line > len(lines) || strings.Count(lineEnds.Replace(filled), "\n")+1 != len(lines) {
		return nil // a placeholder that is written over several lines
	}
	return &routine.ScriptLine{Place: r.FailedAt, Text: lines[r.FailedAt.Line-1]}
}

// lineEnds makes all line ends of JavaScript the same.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// unwanted reports whether ctx has ended for another reason than its deadline.
func unwanted(ctx context.Context) bool {
	return ctx.Err() != nil && routine.CodeOf(routine.CauseOf(ctx)) != routine.CodeTimeout
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
func redactEvidence(e *routine.Evidence, hidden secrets) {
	if e == nil {
		return
	}
	shown := func(text string, limit int) string {
		return routine.Truncate(routine.OneLine(hideCredentials(hidden.text(text))), limit)
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
	e.Console, e.FailedRequests = lastOf(e.Console, maxEvidenceList), lastOf(e.FailedRequests, maxEvidenceList)
	for i, line := range e.Console {
		e.Console[i] = shown(line, maxEvidenceLine)
	}
	for i := range e.FailedRequests {
		f := &e.FailedRequests[i]
		f.Method, f.URL, f.Error = shown(f.Method, maxEvidenceLabel), shown(f.URL, maxEvidenceLine), shown(f.Error, maxEvidenceLine)
	}
	for jsonSize(e) > maxEvidence {
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

func jsonSize(e *routine.Evidence) int {
	text, _ := json.Marshal(e) // texts and numbers
	return len(text)
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

var (
	// userinfo is the part of a URL before the host.
	userinfo = regexp.MustCompile(`://[^/?#\s]*@`)
	// credential is a part of a query or fragment whose name says that its
	// value is a secret.
	credential = regexp.MustCompile(`(?i)([?&#;][^=&#\s]*(?:` + operation.CredentialPattern + `)[^=&#\s]*=)[^&#\s]*`)
)

// hideCredentials masks the credentials in URLs in a text.
func hideCredentials(text string) string {
	return credential.ReplaceAllString(userinfo.ReplaceAllString(text, "://"), "${1}"+routine.Masked)
}

// maxNearest bounds how many elements an error names.
const maxNearest = 4

// hintOf returns what the evidence adds to the error, because most readers see nothing
// but the error: the line of the script, or what could have been meant.
func hintOf(e *routine.Evidence, o routine.Operation, err *routine.Error) string {
	// The script of a text form was generated. Its message says what it looks for.
	if e != nil && e.Script != nil && e.Script.Text != "" && !operation.IsTextForm(o) {
		return fmt.Sprintf("; line %d is: %s", e.Script.Line, e.Script.Text)
	}
	return nearestElements(e, o, err)
}

// nearestElements names the elements that could have been meant by the selector of a
// failed search.
func nearestElements(e *routine.Evidence, o routine.Operation, err *routine.Error) string {
	code, limit := err.Code, "timeout_ms"
	var search *routine.Error
	if code == routine.CodeTimeout && errors.As(err.Cause, &search) { // the run's time ended it
		code, limit = search.Code, "timeout_seconds of the run"
	}
	if e == nil || e.Elements == nil || code != routine.CodeElementNotFound && code != routine.CodeElementNotActionable {
		return ""
	}
	if code == routine.CodeElementNotFound && len(e.Elements) > 0 && e.Elements[0].Matched {
		return "; it came right after that: wait longer for it (" + limit + ")"
	}
	var usable []string
	for _, x := range e.Elements {
		if x.Problem == "" && !x.Matched && len(usable) < maxNearest { // what the selector matches is what failed
			usable = append(usable, x.String())
		}
	}
	if len(usable) == 0 && code == routine.CodeElementNotActionable {
		return ""
	}
	if k, _ := operation.KindOf(o.Type()); len(usable) == 0 && k.Effect == operation.EffectReads {
		return "; nothing on the page is named like it"
	}
	if len(usable) == 0 {
		return "; there is nothing else to act on"
	}
	return "; nearest: " + strings.Join(usable, ", ")
}
