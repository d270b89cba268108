package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// accountPage has a consent banner that covers the page if the query asks for it, and a
// button that asks before it deletes.
const accountPage = `<button id=delete onclick="done.textContent = confirm('Delete the account?') ? 'deleted' : 'kept'">x</button><p id=done></p>
	<div id=banner style="position:fixed;inset:0"><button id=accept onclick="banner.remove()">Accept</button></div>
	<script>if (location.search !== '?banner=yes') banner.remove()</script>`

// One routine works with and without a consent banner, and confirms what the page asks.
func TestOptionalClickAndAcceptedDialog(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, accountPage)
	}))
	t.Cleanup(pages.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(pages.URL, "http://"))
	status, created := s.call("POST", "/routines/", `{"name":"delete","description":"Deletes the account.","parameters":[{"name":"banner"}],"operations":[
		{"type":"navigate","url":"`+pages.URL+`/?banner={{banner}}"},
		{"type":"click","selector":"#accept","x-optional":true},
		{"type":"click","selector":"#delete","x-dialog":"accept"},
		{"type":"return_html","scope":"element","selector":"#done"}]}`)
	if status != 201 {
		t.Fatal(status, created)
	}
	for banner, details := range map[string]string{
		"yes": "map[matches:1]",
		"no":  `map[reason:no element matches "#accept" after 2000 ms skipped:true]`,
	} {
		status, e := s.call("POST", fmt.Sprintf("/routines/%v/execute", created["id"]), `{"parameters":{"banner":"`+banner+`"}}`)
		if status != 201 {
			t.Fatal(status, e)
		}
		result := e["result"].(map[string]any)
		click := result["operations_metadata"].([]any)[1].(map[string]any)
		if result["data"] != `<p id="done">deleted</p>` || fmt.Sprint(click["details"]) != details || click["error"] != nil {
			t.Errorf("banner %q: %v, %v", banner, result["data"], click)
		}
		if warnings := fmt.Sprint(result["warnings"]); !strings.Contains(warnings, `dialog (confirm), which was accepted: "Delete the account?"`) {
			t.Error(warnings)
		}
	}
}
