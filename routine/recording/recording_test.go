package recording

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// el is an element with a selector and a name.
func el(selector, name string) *Element {
	return &Element{Proposals: []Selector{{selector, "A"}}, Target: routine.Target{Role: "button", Name: name}}
}

// field is a form field of a kind.
func field(selector, label, kind string) *Element {
	e := el(selector, label)
	e.Field = &routine.Field{Label: label, Type: kind}
	return e
}

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// record adds events, a second apart, all of them after the page of a shop.
func record(t *testing.T, events ...Event) *Recording {
	t.Helper()
	r := &Recording{}
	for i, e := range append([]Event{{Kind: Navigate, URL: "https://shop.example/"}}, events...) {
		if e.Page == "" {
			e.Page = "1"
		}
		if e.URL == "" {
			e.URL = "https://shop.example/"
		}
		if e.Button == "" {
			e.Button = "left"
		}
		e.At = begin.Add(time.Duration(i) * time.Second)
		if _, err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// What a person does becomes the operations that do it.
func TestOperations(t *testing.T) {
	q := field("#q", "Search", "text")
	for name, c := range map[string]struct {
		events []Event
		want   []string
	}{
		"a text is one operation, without the click into its field": {
			[]Event{{Kind: Click, About: q, Count: 1, Focus: true}, {Kind: Type, About: q, Number: 1, Text: "l"}, {Kind: Type, About: q, Number: 1, Text: "lamp"},
				{Kind: Click, About: q, Count: 1, Focus: true}, {Kind: Press, Key: "Enter"}},
			[]string{`"selector":"#q","text":"lamp","clear":true`, `"type":"press","key":"Enter"`}},
		"a field that the page makes anew while one types is one": {
			[]Event{{Kind: Type, About: q, Number: 1, Text: "l"}, {Kind: Type, About: q, Number: 2, Text: "lamp"}}, []string{`"text":"lamp"`}},
		"two clicks are a double click": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Click, About: el("#a", "A"), Count: 2}}, []string{`"click_count":2`}},
		"Tab counts before a key only": {
			[]Event{{Kind: Press, Key: "Tab"}, {Kind: Press, Key: "Space"}, {Kind: Press, Key: "Tab"}, {Kind: Click, About: el("#a", "A"), Count: 1}},
			[]string{`"key":"Tab"`, `"key":"Space"`, `"selector":"#a"`}},
		"a secret is a parameter": {
			[]Event{{Kind: Type, About: field("#p", "PIN", "password"), Number: 2, Secret: true}}, []string{`"text":"{{pin}}"`}},
		"an accepted dialog is accepted": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Dialog, Asked: "confirm", Accepted: true}}, []string{`"x-dialog":"accept"`}},
		"a window is followed, and closed": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Opened, Page: "2", Opener: "1"}, {Kind: Click, Page: "2", About: el("#b", "B"), Count: 1},
				{Kind: Click, About: el("#c", "C"), Count: 1}},
			[]string{`"x-popup":"follow"`, `"selector":"#b","x-popup":"close"`, `"selector":"#c"`}},
		"a page of the person's own is opened": {
			[]Event{{Kind: Click, Page: "3", URL: "https://shop.example/other", About: el("#b", "B"), Count: 1}},
			[]string{`"url":"https://shop.example/other"`, `"selector":"#b"`}},
		"another path is waited for, without its numbers": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Moved, URL: "https://shop.example/orders/17"}, {Kind: Press, Key: "Enter"}},
			[]string{`"selector":"#a"`, `^https://shop\\.example/orders/[^/?#]+($|[?#])`, `"key":"Enter"`}},
		"a page that the click itself waits for is not waited for again": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Moved, URL: "https://shop.example/orders/17", Followed: true}, {Kind: Press, Key: "Enter"}},
			[]string{`"selector":"#a"`, `"key":"Enter"`}},
		"a page that loads itself again is no step": {
			[]Event{{Kind: Click, About: el("#a", "A"), Count: 1}, {Kind: Press, Key: "Enter"}, {Kind: Navigate, URL: "https://shop.example/"}},
			[]string{`"selector":"#a"`, `"key":"Enter"`, `"type":"navigate"`}},
		"files are a parameter": {
			[]Event{{Kind: Upload, About: field("#f", "Letter", "file")}}, []string{`"x-files":"letter"`}},
		"a drag is left out": {[]Event{{Kind: Drag}}, nil},
		"an element is a result": {
			[]Event{{Kind: Result, About: el("#total", "Total")}}, []string{`"type":"return_html","selector":"#total","scope":"element"`}},
		"a list is a result": {
			[]Event{{Kind: Result, About: el("li", ""), List: "li.product", Script: "(() => [])()", Count: 3}},
			[]string{`document.querySelector(\"li.product\")`, `"type":"return"`}},
		"a list that grew is scrolled": {[]Event{{Kind: Scroll, Way: 900}}, []string{`"delta_y":900`}},
	} {
		b := record(t, c.events...).Build("r")
		if len(b.Operations) != len(c.want)+1 || len(b.Errors) > 0 {
			t.Errorf("%s: %s %v", name, b.Operations, b.Errors)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(string(b.Operations[i+1]), want) {
				t.Errorf("%s: operation %d is %s, want %s", name, i+2, b.Operations[i+1], want)
			}
		}
	}
}

// A text becomes a parameter on its own, or by its field; what is undone is gone.
func TestParametersAndUndo(t *testing.T) {
	r := record(t, Event{Kind: Type, About: field("#q", "Product name", "search"), Number: 1, Text: "lamp"},
		Event{Kind: Type, About: field("#c", "Colour", "text"), Number: 2, Text: "blue"})
	b := r.Build("r")
	var names []string
	for _, p := range b.Proposals {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"query", "colour"}, names); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	if text, err := r.Parameter(""); err != nil || text != "blue" {
		t.Errorf("%q %v", text, err)
	}
	r.Give("lamp", "word")
	b = r.Build("r")
	if diff := cmp.Diff(map[string]string{"colour": "blue", "word": "lamp"}, b.Values); diff != "" || len(b.Proposals) > 0 || len(b.Errors) > 0 {
		t.Errorf("%v %v (-want +got):\n%s", b.Proposals, b.Errors, diff)
	}
	for range 2 {
		if err := r.Undo(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Undo(); !errors.Is(err, ErrNothing) || len(r.Build("r").Operations) != 1 {
		t.Errorf("%v %s", err, r.Build("r").Operations)
	}
	if _, err := r.Parameter("x"); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// A routine of a saved session has nothing of its cookies, in no spelling.
func TestSession(t *testing.T) {
	r := &Recording{}
	r.StartFrom("shop", []string{"the cookie/1", "short"})
	about := el("#a", "Show the cookie/1")
	about.Proposals = append(about.Proposals, Selector{`[title="the cookie/1"]`, "A"})
	for _, e := range []Event{{Kind: Navigate, URL: "https://shop.example/?id=the%20cookie%2F1"}, {Kind: Click, About: about, Button: "left", Count: 1},
		{Kind: Type, About: field("#q", "Search", "text"), Text: "short"}} {
		e.Page, e.At = "1", begin
		if _, err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	b := r.Build("r")
	if text := string(b.Definition); !strings.Contains(text, `"session":"shop"`) || strings.Contains(text, "cookie") ||
		!strings.Contains(text, `"text":"short"`) || !strings.Contains(text, "Show ***") || !strings.Contains(text, "?id=***") || len(b.Errors) > 0 {
		t.Errorf("%v %s", b.Errors, text)
	}
}

// A recording is bounded, and what may have changed the site is noted.
func TestBounds(t *testing.T) {
	r := record(t, Event{Kind: Click, About: el("#a", "A"), Count: 1}, Event{Kind: Sent, Text: "POST /orders"})
	if b := r.Build("r"); len(b.Sent) != 1 || b.Sent[0] != "POST /orders" {
		t.Errorf("sent: %v", b.Sent)
	}
	var err error
	n := 0
	for ; err == nil && n < 2*MaxOperations; n++ {
		_, err = r.Add(Event{Kind: Press, Key: "Enter", Page: "1", At: begin})
	}
	if !errors.Is(err, ErrFull) || n != MaxOperations-1 {
		t.Errorf("%d: %v", n, err)
	}
}
