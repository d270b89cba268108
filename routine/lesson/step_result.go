package lesson

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/lesson/judge"
	"rote/routine/operation"
	"rote/routine/requests"
)

// maxResultText bounds the beginning of a result that an answer shows, in bytes.
const maxResultText = 500

// stepResult describes the result that an operation set, or the value that it stored; nil if
// it did neither.
func (l *lesson) stepResult(d engine.Done) *StepResult {
	switch {
	case d.Result != nil && d.Result.IsBase64:
		r := d.Result
		text := fmt.Sprintf("%s %s", routine.JSONText(routine.PlainText(r.Filename)), routine.PlainText(r.ContentType))
		return &StepResult{Kind: string(operation.ResultFile), Shape: judge.Shape(r), Bytes: int(*r.Size), Text: l.session.Mask(text)}
	case d.Result != nil:
		kind, _ := operation.KindOf(d.Record.Type)
		if page := l.htmlPage(string(d.Result.Data)); page != nil {
			page.Kind = string(kind.Result)
			return page
		}
		return &StepResult{Kind: string(kind.Result), Shape: l.session.Mask(judge.Shape(d.Result)), Bytes: len(d.Result.Data),
			Text: l.beginning(string(d.Result.Data))}
	case d.StoredKey != "":
		if page := l.htmlPage(d.Stored); page != nil {
			page.Kind = "stored"
			return page
		}
		r := &StepResult{Kind: "stored", Bytes: len(d.Stored), Text: l.beginning(d.Stored)}
		if json.Valid([]byte(d.Stored)) {
			r.Shape = l.session.Mask(judge.Shape(&routine.Result{Data: json.RawMessage(d.Stored)}))
		}
		return r
	}
	return nil
}

var (
	// startOfPage matches the beginning of an HTML document.
	startOfPage = regexp.MustCompile(`(?i)^(\s|<!--(.|\n)*?-->)*<(!doctype\s+html|html)\b`)
	titleOfPage = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
)

const (
	maxPageHead  = 64 << 10 // bytes of a document in which the title is looked for
	maxPageTitle = 100      // characters
)

// htmlPage describes a text, which may be in JSON quotes, by size and title if it is an HTML
// document: the beginning of one says little. It returns nil for anything else.
func (l *lesson) htmlPage(text string) *StepResult {
	size := len(text)
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	head := text[:min(len(text), maxPageHead)]
	if !startOfPage.MatchString(head) {
		return nil
	}
	r := &StepResult{Shape: "HTML page", Bytes: size, Text: "no title"}
	if found := titleOfPage.FindStringSubmatch(head); found != nil {
		title := routine.OneLine(routine.PlainText(html.UnescapeString(found[1])))
		r.Text = "title " + routine.JSONText(routine.Truncate(l.session.Mask(title), maxPageTitle))
	}
	return r
}

// beginning is the beginning of a result or of a stored text with secrets masked.
func (l *lesson) beginning(text string) string {
	return requests.Sample([]byte(text), l.session.Secrets(), maxResultText)
}
