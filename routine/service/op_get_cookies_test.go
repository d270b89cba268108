package service_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
)

var someCookies = []routine.Cookie{{Name: "top", Domain: "shop.example"}, {Name: "dot", Domain: ".shop.example"}, {Name: "sub", Domain: "www.shop.example"},
	{Name: "like", Domain: "myshop.example"}, {Name: "other", Domain: "other.example"}, {Name: "four", Domain: "127.0.0.1"}, {Name: "six", Domain: "[::1]"},
	{Name: "local", Domain: "localhost"}, {Name: "idn", Domain: "xn--gre-6ka8i.example"}}

// A filter keeps the cookies of its domain and its subdomains in all spellings
// of the domain. A filter that keeps none gets a warning.
func TestDomainFilter(t *testing.T) {
	for filter, want := range map[string]string{
		"*":            "top dot sub like other four six local idn",
		"shop.example": "top dot sub", "*.shop.example": "top dot sub", ".shop.example": "top dot sub", "SHOP.Example": "top dot sub", "*.SHOP.example": "top dot sub",
		"shop.example.": "top dot sub", "www.shop.example": "sub", "example": "top dot sub like other idn", "127.0.0.1": "four", "[::1]": "six", "::1": "six",
		"0:0:0:0:0:0:0:1": "six", "localhost": "local", "größe.example": "idn", "GRÖSSE.example": "", "xn--gre-6ka8i.example": "idn", "absent.example": "", "p.example": "",
	} {
		operations := fmt.Sprintf(`{"type":"get_cookies","session_storage_key":"k","domain_filter":%q},{"type":"return","session_storage_key":"k"}`, filter)
		e, err := runOnce(t, routinetest.Page{Cookies: someCookies}, operations, "", `{}`)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		var kept []routine.Cookie
		if err := json.Unmarshal(e.Result.Data, &kept); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range kept {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s keeps %q, want %q", filter, got, want)
		}
		warned := slices.ContainsFunc(e.Result.Warnings, func(w string) bool {
			return strings.Contains(w, "matches no cookie: there are cookies of 127.0.0.1, [::1], localhost, myshop.example, other.example, 3 more")
		})
		if warned != (want == "") {
			t.Errorf("%s: warnings %q", filter, e.Result.Warnings)
		}
	}
}

// A filter that can match nothing is warned of in the definition, and in a value
// of a call by the run.
func TestDomainFilterThatMatchesNothing(t *testing.T) {
	for filter, words := range map[string]string{
		"https://shop.example": "is a URL", "https://shop.example/cart": "is a URL", "*://shop.example": "*", "shop.example/cart": "parts of a URL", "shop.example:8080": "port",
		"user@shop.example": "parts of a URL", "shop.example?x": "parts of a URL", "shop.example#x": "parts of a URL", "shop .example": "white space", " shop.example": "white space",
		"shop.example\n": "white space", "a.example,b.example": "more than one", "a.example;b.example": "more than one", "*shop.example": "*", "shop.*": "*", "*.*": "*", "**": "*",
		"*.*.shop.example": "*", "*.": "no domain", ".": "no domain", "..shop.example": "no domain", "shop..example": "no domain", "-shop.example": "no domain", "[::1]:80": "port",
	} {
		operation := fmt.Sprintf(`{"type":"navigate","url":"https://a.test/"},{"type":"get_cookies","session_storage_key":"k","domain_filter":%q}`, filter)
		problems, err := filterWarnings(operation, "")
		if err != nil || len(problems) != 1 || problems[0].Pointer != "/operations/1/domain_filter" || !strings.Contains(problems[0].Message, words) ||
			!strings.Contains(problems[0].Hint, `"shop.example"`) {
			t.Errorf("%q: %+v, %v", filter, problems, err)
		}
		value, _ := json.Marshal(map[string]string{"site": filter})
		e, err := runOnce(t, routinetest.Page{Cookies: someCookies},
			`{"type":"get_cookies","session_storage_key":"k","domain_filter":"{{site}}"}`, `{"name":"site"}`, string(value))
		if err != nil || !strings.Contains(strings.Join(e.Result.Warnings, "\n"), words) || !strings.Contains(strings.Join(e.Result.Warnings, "\n"), "matches no cookie") {
			t.Errorf("%q as a value: %v, %v", filter, e, err)
		}
	}
	for filter, ok := range map[string]bool{"{{site}}": true, "*.{{site}}": true, ".{{site}}": true, "{{site}}.example": true, "www.{{site}}": true, "{{site}}{{site}}": true,
		`"{{site}}"`: true, "{{sessionStorage:a.b||c d}}": true, "https://{{site}}": false, "{{site}}:80": false, "{{site}}/": false, "{{site}} x": false} {
		operation := fmt.Sprintf(`{"type":"get_cookies","session_storage_key":"k","domain_filter":%q}`, filter)
		if problems, err := filterWarnings(operation, `{"name":"site"}`); err != nil || (len(problems) == 0) != ok {
			t.Errorf("%s: %v, %v", filter, problems, err)
		}
	}
	e, err := runOnce(t, routinetest.Page{}, `{"type":"get_cookies","session_storage_key":"k","domain_filter":"shop.example"}`, "", `{}`)
	if err != nil || !slices.ContainsFunc(e.Result.Warnings, func(w string) bool { return strings.Contains(w, "there are no cookies") }) {
		t.Errorf("%v, %v", e, err)
	}
}

// filterWarnings are the warnings of a definition's domain_filter.
func filterWarnings(operations, parameters string) ([]routine.Problem, error) {
	_, warnings, err := definition.Parse([]byte(definitionOf(operations, parameters)))
	return slices.DeleteFunc(warnings, func(p routine.Problem) bool { return p.Code != "domain_filter" }), err
}
