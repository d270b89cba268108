package lesson

import (
	"slices"
	"testing"
)

func TestScriptSelectors(t *testing.T) {
	tests := []struct {
		script string
		want   []string
	}{
		{`(() => document.querySelector('#a .b').textContent)()`, []string{"#a .b"}},
		{`(() => [...document.querySelectorAll("li")].map(e => e.querySelector( '.name' ).closest('tr')))()`, []string{"li", ".name", "tr"}},
		{`(() => { const s = '#a'; return document.querySelector(s) })()`, nil},
		{`(() => document.querySelector('a[href="x"]') ?? document.querySelector('a[href="x"]'))()`, []string{`a[href="x"]`}},
		{`(() => document.querySelector('#it\'s'))()`, []string{"#it's"}},
		{`(() => document.getElementById('total').title)()`, []string{"#total"}},
		{`(() => document.title)()`, nil},
		{`(() => "document.querySelector('#no')")()`, nil},
		{`(() => document.querySelector('#{{id}}'))()`, nil},
		{`(() => document.getElementById('not a name'))()`, nil},
	}
	for _, test := range tests {
		var got []string
		for _, s := range scriptSelectors(test.script) {
			got = append(got, s.selector)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.script, got, test.want)
		}
	}
}

func TestWithScriptSelector(t *testing.T) {
	tests := []struct{ script, was, now, want string }{
		{`(() => document.querySelector('#a').x + document.querySelectorAll("#a").length)()`, "#a", `b[c="d"]`,
			`(() => document.querySelector("b[c=\"d\"]").x + document.querySelectorAll("b[c=\"d\"]").length)()`},
		{`(() => document.getElementById('a').x)()`, "#a", ".b", `(() => document.querySelector(".b").x)()`},
	}
	for _, test := range tests {
		if got := withScriptSelector(test.script, test.was, test.now); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
