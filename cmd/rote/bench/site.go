package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	visitor  = "Ada"
	greeting = "Hello, Ada!"
)

// formPage requests a greeting from its server, as most forms do, and then
// changes the URL without loading another page.
const formPage = `<!doctype html><html><head><meta charset=utf-8><title>Greeting</title><link rel=icon href="data:,">
<style>body{font:16px sans-serif}</style></head><body><h1>Who are you?</h1>
<form onsubmit="return false"><label for=q>Name</label> <input id=q autocomplete=off> <button id=go type=button>Greet</button></form>
<p id=result></p><script>
document.getElementById('go').addEventListener('click', async () => {
  const answer = await fetch('/greet?name=' + encodeURIComponent(document.getElementById('q').value));
  document.getElementById('result').textContent = (await answer.json()).text;
  history.pushState(null, '', '/form?done=1');
});</script></body></html>`

// formSite is the web site of the task.
type formSite struct {
	address string
	server  *http.Server
}

func startSite() (*formSite, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, formPage)
	})
	mux.HandleFunc("/greet", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"text": "Hello, " + r.URL.Query().Get("name") + "!"})
	})
	s := &formSite{l.Addr().String(), &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (s *formSite) url() string { return "http://" + s.address + "/form" }

func (s *formSite) close() error {
	if err := s.server.Shutdown(context.Background()); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// routineDefinition returns the task as a routine.
func routineDefinition(url string) []byte {
	text, _ := json.Marshal(map[string]any{ // plain data always encodes
		"name": "greet", "description": "Types a name into a form and reads the greeting.",
		"parameters": []any{map[string]any{"name": "name", "type": "string", "description": "Who to greet. For example: Ada"}},
		"operations": []any{
			map[string]any{"type": "navigate", "url": url},
			map[string]any{"type": "input_text", "selector": "#q", "text": "{{name}}"},
			map[string]any{"type": "click", "selector": "#go"},
			map[string]any{"type": "wait_for_url", "url_regex": "done=1"},
			map[string]any{"type": "return_html", "scope": "element", "selector": "#result"},
		},
	})
	return text
}
