package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// consoleVisitor is somebody who uses the console of a server.
type consoleVisitor struct {
	t       *testing.T
	client  http.Client
	console *url.URL
}

// visit signs in to the console with the server's token.
func (s *server) visit() *consoleVisitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	console, err := url.Parse(s.url + "/console/")
	if err != nil {
		s.t.Fatal(err)
	}
	v := &consoleVisitor{t: s.t, client: http.Client{Jar: jar}, console: console}
	v.post("login", "<h1>Routines", "token", s.token)
	return v
}

// do makes a request and returns where it has led and what the page has.
func (v *consoleVisitor) do(method, path, body string) (at *url.URL, text string) {
	v.t.Helper()
	to, err := v.console.Parse(path)
	if err != nil {
		v.t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(v.t.Context(), method, to.String(), strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := v.client.Do(q)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer.Request.URL, string(read)
}

// post sends a form, whose answer must have some words, and returns where it has led.
func (v *consoleVisitor) post(path, words string, fields ...string) *url.URL {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	at, text := v.do(http.MethodPost, path, form.Encode())
	if !strings.Contains(text, words) {
		v.t.Errorf("POST %s leads to %s, which has no %q:\n%s", path, at, words, text)
	}
	return at
}

var consoleLink = regexp.MustCompile(`(?:href|src|action)="([^"#]*)`)

// walk opens all pages, results and files of the console to which links lead, and returns the
// texts of all together.
func (v *consoleVisitor) walk() (pages map[string]string) {
	v.t.Helper()
	pages = map[string]string{}
	for next := []string{v.console.String()}; len(next) > 0; next = next[1:] {
		path := next[0]
		if _, known := pages[path]; known {
			continue
		}
		at, text := v.do(http.MethodGet, path, "")
		pages[path] = text
		for _, link := range consoleLink.FindAllStringSubmatch(text, -1) {
			to, err := at.Parse(html.UnescapeString(link[1]))
			if err == nil && to.Host == v.console.Host && strings.HasPrefix(to.Path, v.console.Path) && !strings.Contains(to.Path, "/assets/") {
				next = append(next, to.String())
			}
		}
	}
	return pages
}

// useSecretsInConsole stores a secret in the console, runs the routines that use the secret shop
// there, and opens all its pages.
func useSecretsInConsole(s *server, site *echoSite) {
	t := s.t
	t.Helper()
	v := s.visit()
	values := []string{"field_name", "username", "field_value", soughtUsername, "field_name", "password", "field_value", soughtPassword}
	bank := append([]string{"name", "bank", "project", "true", "field_rule", "any", "description", "of the bank"}, values...)
	v.post("secrets", "co.uk", append(bank, "hosts", "co.uk")...)
	v.post("secrets", "of the bank", append(bank, "hosts", site.host())...)
	for _, answer := range []string{"saved as version 2", "Write the values again"} { // the second change is of a version that is gone
		v.post("secrets/bank", answer, "project", "true", "version", "1", "value.password", soughtPassword, "hosts", site.host(), "field_rule", "any")
	}
	v.post("secrets/bank/code", "the code must be", "code", soughtPassword)
	v.post("sessions/none/import", "1 problem in the state", "state", soughtPassword)
	for name, r := range secretRoutines {
		path := strings.TrimPrefix(s.pathOf(name), "/")
		run := v.post(path+"/run", "", "json", fmt.Sprintf(`{"site":%q}`, site.URL))
		if _, live := v.do(http.MethodGet, run.Path+"/live", ""); !strings.Contains(live, "event:") {
			t.Errorf("%s: the live page of %s gets %q", name, run, live)
		}
		if _, page := v.do(http.MethodGet, run.Path, ""); !strings.Contains(html.UnescapeString(page), r.words) {
			t.Errorf("the page of a run of %s has no %q:\n%s", name, r.words, page)
		}
		edited := secretRoutine(name) + "}" // the editor shows what is wrong with it
		v.post(path, "Not saved: 1 problem", "definition", edited)
		if _, problems := v.do(http.MethodPost, "check", edited); !strings.Contains(problems, "after the end of the JSON value") {
			t.Errorf("the check of %s says %s", name, problems)
		}
	}
	pages := v.walk()
	for _, want := range []string{"secrets/shop", "secrets/bank/uses", "/result", "/report.html", "/files/", "/versions/", "/edit", "/health", "/tokens",
		"/sessions", "/schedules"} {
		found := false
		for path := range pages {
			found = found || strings.Contains(path, want)
		}
		if !found {
			t.Errorf("the walk through %d pages of the console has not come to %s", len(pages), want)
		}
	}
	t.Logf("%d pages of the console", len(pages))
}
