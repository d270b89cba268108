package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"rote/routine"
)

var elapsed = regexp.MustCompile(`\d+ h \d+ min`)

func TestExecutionPage(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	for name, edit := range map[string]func(*routine.Execution){"pending": func(*routine.Execution) {}, "running": running, "completed": completed,
		"failed": failed, "unsaved": func(x *routine.Execution) { x.RoutineID, x.RoutineVersion, x.Parameters = "", 0, nil }} {
		x := e.addRun(len(name), func(x *routine.Execution) { edit(x); x.ID = "run-" + name })
		page := e.get("/console/executions/"+x.ID, http.StatusOK).body
		golden(t, "execution-"+name+".txt", elapsed.ReplaceAllString(outline(t, page), "(elapsed)"))
		if live := strings.Contains(page, `data-live="/console/executions/`+x.ID+`/live"`); live != x.Open() ||
			strings.Contains(page, `http-equiv="refresh" content="2"`) != live || strings.Contains(page, "/live.js") != live {
			t.Errorf("%s: the page is live: %v", name, live)
		}
	}
}

func TestExecutionPageOffersTheSameCall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.addRun(1, func(x *routine.Execution) {
		failed(x)
		x.Parameters = json.RawMessage(`{"n":12345678901234567890,"password":"***","text":"it's"}`)
	})
	page := e.get("/console/executions/run-1", http.StatusOK).body
	want := `data-copy-text="curl ` + e.URL + `/routines/Routine_1/execute -H &#34;Authorization: Bearer $ROTE_TOKEN&#34; ` +
		`-H &#39;Content-Type: application/json&#39; -d &#39;{&#34;parameters&#34;:{&#34;n&#34;:12345678901234567890,` +
		`&#34;password&#34;:&#34;&lt;password&gt;&#34;,&#34;text&#34;:&#34;it&#39;\&#39;&#39;s&#34;}}&#39;"`
	for _, part := range []string{want, `href="/console/routines/Routine_1?from=run-1"`, `href="/console/routines/Routine_1/edit?at=2"`,
		`href="/console/routines/Routine_1/edit?at=2&amp;selector=button.buy"`, `data-copy-text="button.buy"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s:\n%s", part, page)
		}
	}
}

const hostile = `</pre></title><script>alert(1)</script>"'><img src=x onerror=alert(1)> ` + "\u202Ertl"

func TestHostileTextsAreTexts(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	long := hostile + strings.Repeat("x", 10_000)
	for n, text := range []string{hostile, long} {
		e.addRun(n, func(x *routine.Execution) {
			failed(x)
			x.RoutineName, x.CreatedBy, x.Error, x.ErrorCode = text, text, &text, routine.Code(text)
			x.Parameters = routine.RawJSON(map[string]string{text: text})
			x.Evidence.URL, x.Evidence.Title, x.Evidence.Text, x.Evidence.Console = text, text, text, []string{text}
			x.Evidence.Elements[0] = routine.Element{Selector: text, Role: text, Text: text, Where: text, Problem: text}
			x.Evidence.FailedRequests[0] = routine.FailedRequest{Method: text, URL: text, Error: text}
			x.Evidence.Script = &routine.ScriptLine{Text: text}
			r := &x.Result.OperationsMetadata[1]
			r.Type, r.Error, r.Details = text, &text, map[string]any{text: text}
			r.EgressDenied = []routine.Denial{{Host: text, Address: text, Reason: text}}
			x.Result.Warnings, x.Result.Outline, x.Result.Data = []string{text}, text, routine.RawJSON([]any{map[string]string{text: text}})
		})
	}
	for _, path := range []string{"", "/run-0", "/run-1", "/run-0/report.html", "/run-1/report.html"} {
		page := e.get("/console/executions"+path, http.StatusOK).body
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%s has markup of a stranger:\n%s", path, page)
		}
	}
}

func TestReportIsOneFile(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.addRun(1, failed)
	got := e.get("/console/executions/run-1/report.html", http.StatusOK)
	if got.Header.Get("Content-Disposition") != "attachment; filename=run-run-1.html" {
		t.Error(got.Header)
	}
	for _, part := range []string{"<script", "<link", "<form", "<a ", "<button", `src="/`} {
		if strings.Contains(got.body, part) {
			t.Errorf("the report has %s:\n%s", part, got.body)
		}
	}
	for _, part := range []string{"<style>/* Colours", `src="data:image/jpeg;base64,Y29udGVudCBvZiBzY3JlZW5zaG90LmpwZw=="`} {
		if !strings.Contains(got.body, part) {
			t.Errorf("the report lacks %s:\n%s", part, got.body)
		}
	}
	golden(t, "execution-report.txt", regexp.MustCompile(`Report of .*`).ReplaceAllString(outline(t, got.body), "Report of (time)"))
}

func TestFilesOfExecutions(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.addRun(1, failed)
	e.addRun(2, completed)
	e.addRun(3, func(x *routine.Execution) {
		completed(x)
		x.Result.IsBase64, x.Result.Filename, x.Result.ContentType = true, "a.html", "text/html"
		x.Result.Data = json.RawMessage(`"PGI+aGk8L2I+"`)
	})
	for path, want := range map[string][3]string{
		"run-1/files/screenshot.jpg": {"image/jpeg", "inline; filename=screenshot.jpg", "content of screenshot.jpg"},
		"run-1/files/page.svg":       {"application/octet-stream", "attachment; filename=page.svg", "content of page.svg"},
		"run-2/result.json": {"application/octet-stream", "attachment; filename=result-run-2.json",
			`[{"sku":"a-1","price":42.50,"id":12345678901234567890},{"sku":"=1+1","stock":null,"price":1e2}]`},
		"run-2/result.csv": {"application/octet-stream", "attachment; filename=result-run-2.csv",
			"sku,price,id,stock\na-1,42.50,12345678901234567890,\n'=1+1,1e2,,\n"},
		"run-3/result": {"application/octet-stream", "attachment; filename=a.html", "<b>hi</b>"},
	} {
		got := e.get("/console/executions/"+path, http.StatusOK)
		if h := got.Header; h.Get("Content-Type") != want[0] || h.Get("Content-Disposition") != want[1] || got.body != want[2] ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v\n%s", path, h, got.body)
		}
	}
	for _, path := range []string{"run-9", "run-1/files/none", "run-1/result.json", "run-2/result", "run-3/result.csv"} {
		e.get("/console/executions/"+path, http.StatusNotFound)
	}
}

// The live view sends all rows first and then those that change, until the run has ended.
func TestLiveExecution(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	release := make(chan struct{})
	e.browser.Page.Click = func(ctx context.Context, _ routine.Click) (routine.Match, error) {
		select {
		case <-release:
			return routine.Match{Matches: 1}, nil
		case <-ctx.Done():
			return routine.Match{}, routine.CauseOf(ctx)
		}
	}
	id := e.start()
	r, err := http.NewRequestWithContext(t.Context(), "GET", e.URL+"/console/executions/"+id+"/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if kind := got.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatal(kind)
	}
	lines, released, all, last, size := bufio.NewScanner(got.Body), false, "", "", 0
	for lines.Scan() {
		line := lines.Text()
		all, size = all+line+"\n", size+len(line)
		if line == "" {
			size = 0
		}
		if size > 2<<10 {
			t.Errorf("an event has more than 2 KiB:\n%s", all)
		}
		if name, is := strings.CutPrefix(line, "event: "); is {
			last = name
		}
		if !released && strings.Contains(line, "1 of 4 operations") {
			released = true
			if !strings.Contains(all, `<tr id="operation-4">`) || !strings.Contains(all, "navigate https://shop.example/") {
				t.Errorf("the rows are not all there:\n%s", all)
			}
			close(release)
		}
	}
	if !released || last != "end" || !strings.Contains(all, "data: completed\n") && !strings.Contains(all, "data: failed\n") {
		t.Errorf("the stream ends with %s:\n%s", last, all)
	}
	again := e.get("/console/executions/"+id+"/live", http.StatusOK).body
	if strings.Count(again, "<tr id=") != 5 || !strings.Contains(again, "event: end\n") {
		t.Errorf("a run that has ended:\n%s", again)
	}
}
