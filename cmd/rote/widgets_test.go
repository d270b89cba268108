//go:build widgets

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// widgetTask is a task that a person would do in a widget of a known library,
// and what the page shows in #said once it is done.
type widgetTask struct {
	page, task string
	operations string // JSON, without the brackets, navigate and return_html
	said       string
}

// TestWidgets does the tasks of widgetTasks by routines. ROTE_WIDGETS is the
// folder of pages that .ci/widgets/build.mjs made; ROTE_BROWSER chooses the
// browser, as everywhere.
func TestWidgets(t *testing.T) {
	pages := os.Getenv("ROTE_WIDGETS")
	if _, err := os.Stat(pages + "/mui.html"); err != nil {
		t.Fatalf("ROTE_WIDGETS has no pages: .ci/npm builds them: %v", err)
	}
	site := httptest.NewServer(http.FileServer(http.Dir(pages)))
	t.Cleanup(site.Close)
	r := newRote(t)
	r.life = 10 * time.Minute
	s := r.serve("--allow-host", "127.0.0.0/8")
	for _, task := range widgetTasks {
		t.Run(task.page+"/"+task.task, func(t *testing.T) {
			id := s.made(fmt.Sprintf(`{"name": "task", "description": %q, "operations": [{"type": "navigate", "url": "%s/%s.html"}, %s,
				{"type": "return_html", "scope": "element", "selector": "#said"}]}`, task.task, site.URL, task.page, task.operations))
			status, answer := s.call("POST", "/routines/"+id+"/execute", `{"parameters": {}, "timeout_seconds": 30}`)
			if status != 201 {
				t.Fatalf("%d %v", status, answer["detail"])
			}
			result, _ := json.Marshal(answer["result"])
			var ended struct {
				Data     string
				Warnings []string
			}
			if err := json.Unmarshal(result, &ended); err != nil || !strings.Contains(ended.Data, task.said) || slices.ContainsFunc(ended.Warnings, unexpected) {
				t.Errorf("want %q in\n%s", task.said, result)
			}
		})
	}
}

// unexpected reports whether a warning is about something else than a mask that
// added to the text, or several matches: some tasks choose the first of a list.
func unexpected(warning string) bool {
	return !strings.Contains(warning, "as an input mask does") && !strings.Contains(warning, " elements: ")
}

func clickOn(selector string) string {
	return fmt.Sprintf(`{"type": "click", "selector": %q, "timeout_ms": 5000}`, selector)
}

func typeInto(selector, text string) string {
	return fmt.Sprintf(`{"type": "input_text", "selector": %q, "text": %q, "timeout_ms": 5000}`, selector, text)
}

func replaceIn(selector, text string) string {
	return fmt.Sprintf(`{"type": "input_text", "selector": %q, "text": %q, "clear": true, "timeout_ms": 5000}`, selector, text)
}

func pressKey(key string) string { return fmt.Sprintf(`{"type": "press", "key": %q}`, key) }

func then(operations ...string) string { return strings.Join(operations, ", ") }
