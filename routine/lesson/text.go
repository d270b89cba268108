package lesson

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"rote/routine"
)

// maxOperationsText bounds the line that lists the operations of a lesson, in bytes.
const maxOperationsText = 1000

// settledLate is how long after an operation the page may change before the answer says so.
const settledLate = time.Second

// maxPageText bounds what an answer quotes from the page, besides the look at it, in bytes,
// and maxMessage the message of one error, in characters.
const (
	maxPageText = 6000
	maxMessage  = 1000
)

// answer builds the text of an answer. What comes from the page follows a line that says so.
type answer struct {
	b         strings.Builder
	quotes    bool // whether that line is there
	pageBytes int  // how much is quoted from the page
	left      bool // whether something is left out because it would be too much
}

// line adds a line of our own.
func (a *answer) line(format string, args ...any) {
	fmt.Fprintf(&a.b, format+"\n", args...)
}

// notice adds the line that says that what follows comes from the page, if it is not there.
func (a *answer) notice() {
	if !a.quotes {
		a.quotes = true
		a.line("%s", routine.PageTextNotice)
	}
}

// page adds a line with content of the page.
func (a *answer) page(format string, args ...any) {
	a.notice()
	text := fmt.Sprintf(format, args...)
	if room := maxPageText - a.pageBytes; len(text) > room {
		a.left = true
		text = text[:max(strings.LastIndexByte(text[:room], '\n'), 0)]
	}
	if a.pageBytes += len(text); text != "" {
		a.line("%s", text)
	}
}

// Text is the answer for a reader.
func (t *Tried) Text() string {
	a := &answer{}
	for _, step := range t.Steps {
		a.step(step)
	}
	if a.left {
		a.line("… and more that is left out here: take_snapshot, list_network_requests")
	}
	switch last := len(t.Steps) - 1; {
	case t.PageLost != "":
		a.line("page_lost: %s.", t.PageLost)
	case last >= 0 && isErrorPage(t.Steps[last].URL):
		a.line("No page is open now: undo_operations with to %d opens one and does the kept operations again.", len(t.Operations))
	}
	a.operations(t.Info)
	a.pageBytes = 0 // the candidates have room of their own
	a.mended(t)
	return a.b.String()
}

// step adds what one operation did.
func (a *answer) step(s Step) {
	if s.Error != nil {
		a.failure(s)
	} else {
		a.done(s)
	}
	a.values(s)
	a.what(s)
}

// done adds the outcome of an operation that was done.
func (a *answer) done(s Step) {
	text := "Done: " + stepName(s)
	if s.Record.Details["skipped"] == true {
		a.notice()
		text = fmt.Sprintf("Skipped: %s: %s", stepName(s), routine.OneLine(routine.PlainText(fmt.Sprint(s.Record.Details["reason"]))))
	}
	text += ", " + milliseconds(s.Record.DurationSeconds)
	if n, ok := s.Record.Details["matches"].(int); ok {
		text += fmt.Sprintf(", %s", matches(n))
		if s.Element != nil && s.Element.GivenGrade != "" {
			text += " (" + s.Element.GivenGrade + ")"
		}
	}
	if status, ok := s.Record.Details["status"]; ok {
		text += fmt.Sprintf(", status %v", status)
	}
	kept := "Not kept."
	if s.Number > 0 {
		kept = fmt.Sprintf("Kept as operation %d.", s.Number)
	}
	a.line("%s. %s", text, kept)
	if s.inDialog && s.Number > 0 {
		a.line(optionalAdvice)
	}
	if e := s.Element; e != nil && s.selector != "" && e.GivenGrade == gradeOfPlace && e.Grade < gradeOfPlace && e.Selector != "" {
		a.page("%s: %s instead of %s: %s", e.Grade, e.Selector, e.GivenGrade, routine.Truncate(s.selector, 200))
	}
}

// gradeOfPlace is the grade of selectors that find an element only by its place.
const gradeOfPlace = "D"

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%d ms", int(seconds*1000+0.5)) }

// shownMessage is the message of an error on one line, without invisible characters. That of
// a script is in quotes, because a page can throw any text.
func shownMessage(code routine.Code, message string, most int) string {
	text := routine.Truncate(strings.TrimSuffix(routine.OneLine(routine.PlainText(message)), "."), most)
	if code == routine.CodeScriptError {
		return routine.JSONText(text)
	}
	return text
}

// failure adds why an operation failed. The elements that could have been meant are on a
// line of their own.
func (a *answer) failure(s Step) {
	message, _, _ := strings.Cut(s.Error.Message, "; nearest: ")
	switch s.Error.Code {
	case routine.CodeInvalid, routine.CodeForbidden, routine.CodeEgressDenied: // nothing of them is from the page
	default:
		a.notice()
	}
	a.line("%s: %s. Not kept.", s.Error.Code, shownMessage(s.Error.Code, message, maxMessage))
	if s.inDialog {
		a.line(optionalAdvice)
	}
	var nearest []string
	for _, x := range s.Nearest {
		if x.Problem == "" && !x.Matched && len(nearest) < maxNearest {
			nearest = append(nearest, nearestText(x))
		}
	}
	if len(nearest) > 0 {
		a.page("Nearest: %s", strings.Join(nearest, " · "))
	}
}

// maxNearest bounds how many elements an answer names that could have been meant.
const maxNearest = 4

func nearestText(x routine.Element) string {
	text := routine.PlainText(x.Role)
	if x.Text != "" {
		text += " " + routine.JSONText(routine.Truncate(routine.PlainText(x.Text), 60))
	}
	return text + " | " + x.Selector
}

// values adds the values that an operation used, and the field that took them.
func (a *answer) values(s Step) {
	for _, p := range s.Parameters {
		text := fmt.Sprintf("%s = %s (%s).", p.Name, routine.Truncate(string(p.Observed), 100), p.Type)
		if p.Secret {
			text = fmt.Sprintf("%s = %s (secret).", p.Name, routine.Masked)
		}
		if s.Element != nil && s.Element.Field != nil {
			a.notice()
			text += " Field: " + fieldText(*s.Element.Field) + "."
		}
		a.line("%s", text)
	}
}

// limit matches the number, the date or the time that is the least or the greatest value of a
// field, also if there is none. A page can write any text there.
var limit = regexp.MustCompile(`^[0-9TWZ:.+-]{0,30}$`)

// fieldText says what a form field accepts.
func fieldText(f routine.Field) string {
	parts := []string{f.Type}
	if f.Label != "" {
		parts[0] = routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(f.Label)), 60))
		if f.Type != "text" {
			parts = append(parts, f.Type)
		}
	}
	if f.Required {
		parts = append(parts, "required")
	}
	if limit.MatchString(f.Min) && limit.MatchString(f.Max) && f.Min+f.Max != "" {
		parts = append(parts, f.Min+"…"+f.Max)
	}
	if f.MaxLength > 0 {
		parts = append(parts, fmt.Sprintf("max %d characters", f.MaxLength))
	}
	if f.Pattern != "" {
		parts = append(parts, "pattern "+routine.JSONText(routine.Truncate(routine.PlainText(f.Pattern), 60)))
	}
	if n := len(f.Options); n > 0 {
		options := fmt.Sprintf("%d options", n)
		if n == 1 {
			options = "1 option"
		}
		if f.OptionsVary {
			options += " now"
		}
		parts = append(parts, options)
	}
	return strings.Join(parts, ", ")
}

// what adds what an operation did to the page.
func (a *answer) what(s Step) {
	if s.Moved && !isErrorPage(s.URL) {
		shown := s.URL
		if s.sameOrigin {
			shown = shortURL(shown)
		}
		a.page("URL: %s", routine.PlainText(shown))
	}
	if r := s.Result; r != nil {
		name := "Result"
		if r.Kind == "stored" {
			name = "Stored " + routine.JSONText(s.storedKey)
		}
		a.page("%s", strings.TrimRight(strings.Join([]string{name + ":", r.Shape, fmt.Sprintf("%d bytes:", r.Bytes), r.Text}, " "), ": "))
	}
	if len(s.Requests) > 0 {
		a.page("Requests: %s", strings.Join(s.Requests, "\n  "))
	}
	if len(s.ConsoleErrors) > 0 {
		a.page("Console: %s", consoleText(s))
	}
	for _, w := range s.Warnings {
		a.page("Warning: %s", routine.OneLine(routine.PlainText(w)))
	}
	a.changes(s)
	if s.QuietAfter > settledLate {
		a.line("The page was quiet %.1f s after it: the next operation waits for its element itself.", s.QuietAfter.Seconds())
	}
}

// consoleText returns the errors of the console in quotes, because a page can write any text.
func consoleText(s Step) string {
	var lines []string
	for _, e := range s.ConsoleErrors {
		lines = append(lines, routine.JSONText(e))
	}
	if s.MoreConsoleErrors > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", s.MoreConsoleErrors))
	}
	return strings.Join(lines, "\n  ")
}

// changes adds the lines that came and went.
func (a *answer) changes(s Step) {
	var lines []string
	for _, text := range s.Appeared {
		lines = append(lines, "+ "+text)
	}
	for _, text := range s.Gone {
		lines = append(lines, "- "+text)
	}
	if s.MoreChanges > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more: take_snapshot", s.MoreChanges))
	}
	switch {
	case len(lines) > 0:
		a.page("Page: %s", strings.Join(lines, "\n  "))
	case s.looked:
		a.line("Page: no change.")
	case s.busy:
		a.line("Page: it is busy and did not answer; take_snapshot looks again.")
	}
}

// stepName names the operation of a step, as in: click "#save".
func stepName(s Step) string { return strings.TrimSpace(s.Record.Type + " " + s.subject) }

// operations adds the line that lists the operations of a lesson.
func (a *answer) operations(i Info) {
	if len(i.Operations) == 0 {
		a.line("No operations are kept.")
		return
	}
	var texts []string
	size, left := 0, 0
	for n := len(i.Operations) - 1; n >= 0; n-- {
		text := operationText(i.Operations[n])
		if size += len(text) + len(" · "); size > maxOperationsText {
			left = n + 1
			break
		}
		texts = append([]string{text}, texts...)
	}
	if left > 0 {
		texts = append([]string{fmt.Sprintf("… %d before", left)}, texts...)
	}
	text := "Operations: " + strings.Join(texts, " · ")
	if n := len(i.Remaining); n > 0 {
		text += fmt.Sprintf(". Not done yet: %d to %d", i.Remaining[0].Number, i.Remaining[n-1].Number)
	}
	if i.Dropped > 0 {
		text += fmt.Sprintf(". The page has state of %d dropped operations", i.Dropped)
	}
	a.line("%s", text)
}

func operationText(o Operation) string {
	text := fmt.Sprintf("%d %s", o.Number, o.Summary)
	if o.Unproved {
		text += " (unproved)"
	}
	return text
}

// Text is the answer for a reader.
func (s *Started) Text() string {
	a := &answer{}
	text := fmt.Sprintf("%s is open, and ends after %s without a call.", s.ID, spell(s.idle))
	if len(s.Done) > 0 && s.Failure == nil {
		var done []string
		for _, step := range s.Done {
			done = append(done, stepText(step))
		}
		text += " Operations: " + strings.Join(done, " · ")
	}
	a.line("%s", text)
	a.savedSession(s)
	if s.Ended != "" {
		a.line("%s, which was saved, was ended to open this one.", s.Ended)
	}
	for _, step := range s.Done {
		for _, w := range step.Warnings {
			a.page("Warning: %s", routine.OneLine(routine.PlainText(w)))
		}
	}
	if s.Failure != nil {
		a.notice()
	}
	a.b.WriteString(mendText(s))
	a.snapshot(s.Snapshot)
	return a.b.String()
}

// stepText is a step in a few words, as in: 1 navigate https://shop.example/ (200, 640 ms).
func stepText(s Step) string {
	details := milliseconds(s.Record.DurationSeconds)
	if status, ok := s.Record.Details["status"]; ok {
		details = fmt.Sprintf("%v, %s", status, details)
	}
	return fmt.Sprintf("%d %s (%s)", s.Number, stepName(s), details)
}

// snapshot adds what is on the page.
func (a *answer) snapshot(s *Snapshot) {
	if s == nil {
		a.line("The page did not answer: take_snapshot looks again.")
		return
	}
	a.b.WriteString(s.Text())
}

// Text is the lesson for a reader.
func (i Info) Text() string {
	a := &answer{}
	switch i.State {
	case Open:
		a.line("%s is open.", i.ID)
	case PageLost:
		a.line("%s has no page any more.", i.ID)
	case Ended:
		a.line("%s has ended.", i.ID)
	}
	if i.State != Ended || !i.Saved {
		a.operations(i)
	}
	return a.b.String()
}
