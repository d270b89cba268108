package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// exportPages hold a menu that opens while the mouse is over it, whose entry opens
// a window, whose button brings a file.
var exportPages = map[string]string{
	"/": `<style>#m{display:none}#menu:hover #m{display:block}</style>
		<div id=menu style="width:200px">menu<div id=m><a id=e onclick="window.open('/export')">export</a></div></div>
		<p id=done></p>`,
	"/export": `<button id=csv>CSV</button><script>csv.onclick = () => {
		const a = document.createElement('a')
		a.href = URL.createObjectURL(new Blob(['a,b\n1,2\n'], {type: 'text/csv'})); a.download = 'rows.csv'; a.click()
		opener.done.textContent = 'exported'
	}</script>`,
}

// A file behind a menu and in a window of its own reaches programs and agents: as
// the data of the run, and as a file of its execution.
func TestMenusWindowsAndFilesOverBothFrontEnds(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, exportPages[r.URL.Path])
	}))
	t.Cleanup(pages.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(pages.URL, "http://"))
	status, created := s.call("POST", "/routines/", `{"name":"export","description":"Exports the rows.","parameters":[{"name":"menu"}],"operations":[
		{"type":"navigate","url":"`+pages.URL+`"},
		{"type":"click","selector":"#e","x-hover":["#{{menu}}"],"x-popup":"follow"},
		{"type":"click","selector":"#csv","x-popup":"close"}]}`)
	if status != 201 {
		t.Fatal(status, created)
	}
	status, e := s.call("POST", fmt.Sprintf("/routines/%v/execute", created["id"]), `{"parameters":{"menu":"menu"}}`)
	if status != 201 {
		t.Fatal(status, e)
	}
	result := e["result"].(map[string]any)
	if result["data"] != "YSxiCjEsMgo=" || result["filename"] != "rows.csv" || result["is_base64"] != true || result["content_type"] != "text/csv" ||
		result["warnings"] != nil {
		t.Error(result)
	}
	if files := fmt.Sprint(e["files"]); files != "[map[content_type:text/csv name:rows.csv size:8]]" {
		t.Error(files)
	}
	q, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s/executions/%v/files/rows.csv", s.url, e["execution_id"]), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("X-Service-Token", s.token)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "a,b\n1,2\n" {
		t.Errorf("%d %q %v", answer.StatusCode, text, err)
	}
	if out := s.tool("export", `{"menu":"menu"}`); !strings.HasPrefix(out, "200") || !strings.Contains(out, `rows.csv`) || strings.Count(out,
		"/files/rows.csv") < 1 || !strings.Contains(out, `1,2`) {
		t.Error(out)
	}
}
