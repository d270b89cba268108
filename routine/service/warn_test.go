package service_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
)

// A stored value of a script that was changed on the way gets a warning. A value
// that is not stored gets none.
func TestWarningOfAScriptValue(t *testing.T) {
	page := routinetest.Page{Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
		return routine.Evaluation{JSON: json.RawMessage("{}"), Lost: "of type Map, whose JSON is {}: return data"}, nil
	}}
	e, err := runOnce(t, page, `{"type":"js_evaluate","js":"(() => new Map())()"},{"type":"js_evaluate","js":"(() => new Map())()","session_storage_key":"k"}`, "", `{}`)
	if diff := cmp.Diff([]string{`what the script returns for "k" is of type Map, whose JSON is {}: return data`}, e.Result.Warnings); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A login page that is saved as an invoice is warned of.
func TestWarningOfADownloadThatIsSomethingElse(t *testing.T) {
	for _, row := range []struct{ filename, contentType, from, want string }{
		{"a.pdf", "text/html; charset=utf-8", "https://a.test/login", "a.pdf was answered with text/html, which is no .pdf file, after a redirect to https://a.test/login"},
		{"a.pdf", "text/html", "https://a.test/x", "a.pdf was answered with text/html, which is no .pdf file"},
		{"a.PNG", "application/pdf", "https://a.test/x", "a.PNG was answered with application/pdf, which is no .png file"},
		{"a.csv", "application/json", "https://a.test/x", "a.csv was answered with application/json, which is no .csv file"},
		{"a.docx", "Text/HTML", "https://a.test/x", "a.docx was answered with text/html, which is no .docx file"},
		{"a.pdf", "application/pdf", "https://a.test/login", ""},
		{"a.pdf", "application/octet-stream", "https://a.test/x", ""},
		{"a.pdf", "", "https://a.test/x", ""},
		{"a.jpg", "image/webp", "https://a.test/x", ""},
		{"a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "https://a.test/x", ""},
		{"page.html", "text/html", "https://a.test/x", ""},
		{"page", "text/html", "https://a.test/x", ""},
	} {
		page := routinetest.Page{Response: routine.Response{URL: row.from,
			Headers: map[string]string{"content-type": row.contentType}, Body: []byte("x")}}
		e, err := runOnce(t, page, `{"type":"download","endpoint":{"url":"https://a.test/x"},"filename":"`+row.filename+`"}`, "", `{}`)
		if got := strings.Join(e.Result.Warnings, "\n"); err != nil || got != row.want {
			t.Errorf("%s %s: %q %v", row.filename, row.contentType, got, err)
		}
	}
}

func fourMatches(context.Context, string) (string, int, error) { return "<b></b>", 4, nil }

// return_html notes of how many matches it gives the first.
func TestReturnHTMLNotesItsMatches(t *testing.T) {
	e, err := runOnce(t, routinetest.Page{OuterHTML: fourMatches}, `{"type":"return_html","scope":"element","selector":"#a"},{"type":"return_html"}`, "", `{}`)
	if err != nil || e.Result.OperationsMetadata[0].Details["matches"] != 4 || e.Result.OperationsMetadata[1].Details != nil {
		t.Errorf("%+v %v", e.Result.OperationsMetadata, err)
	}
}

// A selector that matches several elements is warned of, with the one that was used.
func TestWarningOfSeveralMatches(t *testing.T) {
	for _, row := range []struct {
		operation string
		found     routine.Match
		want      []string
	}{
		{`{"type":"click","selector":"a.item"}`, routine.Match{Matches: 1}, nil},
		{`{"type":"click","selector":"a.item"}`, routine.Match{Matches: 3},
			[]string{`"a.item" matches 3 elements: the first one was used; use a selector that matches only the one you mean`}},
		{`{"type":"click","selector":"a.item"}`, routine.Match{Matches: 3, Skipped: 1},
			[]string{`"a.item" matches 3 elements: number 2 was used, because the ones before it are not actionable; ` +
				`use a selector that matches only the one you mean`}},
		{`{"type":"input_text","selector":"#q","text":"x"}`, routine.Match{Matches: 2, Skipped: 1},
			[]string{`"#q" matches 2 elements: number 2 was used, because the ones before it are not actionable; use a selector that matches only the one you mean`}},
		{`{"type":"return_html","scope":"element","selector":"#a"}`, routine.Match{},
			[]string{`"#a" matches 4 elements: the first one was used; use a selector that matches only the one you mean`}},
	} {
		page := routinetest.Page{OuterHTML: fourMatches,
			Click: func(context.Context, routine.Click) (routine.Match, error) { return row.found, nil },
			Type:  func(context.Context, routine.Typing) (routine.Match, error) { return row.found, nil }}
		e, err := runOnce(t, page, row.operation, "", `{}`)
		if err != nil || cmp.Diff(row.want, e.Result.Warnings) != "" {
			t.Errorf("%s %+v: %v %v", row.operation, row.found, e.Result.Warnings, err)
		}
	}
}

// The limit of a script is not the run's of the same name.
func TestLimitOfAScript(t *testing.T) {
	page := routinetest.Page{Evaluate: func(ctx context.Context, _ routine.Script) (routine.Evaluation, error) {
		<-ctx.Done()
		return routine.Evaluation{}, context.Cause(ctx)
	}}
	e, err := runOnce(t, page, `{"type":"js_evaluate","js":"(() => 1)()","timeout_seconds":0.01}`, "", `{}`)
	const want = "operation 1 of 1 (js_evaluate): the script was still running when the operation's own timeout_seconds of 0.01 was over, which may be 10 at most"
	if routine.CodeOf(err) != routine.CodeTimeout || *e.Error != want {
		t.Error(*e.Error)
	}
}
