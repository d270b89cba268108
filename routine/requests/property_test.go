package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/routinetest/seeded"
)

const tokenRunes = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

func drawToken(t *rapid.T, label string, length int) string {
	return "7" + rapid.StringOfN(rapid.RuneFrom([]rune(tokenRunes)), length, length, -1).Draw(t, label) + "x4"
}

// drawText draws a text with the characters that are special somewhere.
func drawText(t *rapid.T, label string) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune(`abc xyzäß1 "'&=?#/\:+,;<>[]()é日`)), 4, 20, -1).
		Filter(func(s string) bool { return strings.TrimSpace(s) == s && !strings.Contains(s, "..") }).Draw(t, label)
}

func wordRune(r rune) rune {
	if r < 0x80 && isWordByte(byte(r)) {
		return r
	}
	return -1
}

// TestSecretsAreNeverShown plants a secret anywhere in a request or an answer.
func TestSecretsAreNeverShown(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom([]string{
			drawToken(t, "token", 12), // known to the lesson
			"hunter" + drawToken(t, "password", 3), "correcthorsebattery", "pa ss+wörd&=" + drawToken(t, "odd", 2), "47110815",
		}).Draw(t, "secret")
		known := []string{secret}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // not known, but a JWT
			secret = "eyJ" + drawToken(t, "head", 12) + "." + drawToken(t, "claims", 20) + "." + drawToken(t, "sig", 20)
			known = nil
		case 1: // not known, but random
			secret, known = drawToken(t, "random", 10)+"aB3dE5gH7kL9mN2pQ4rS6tU8"+drawToken(t, "more", 3), nil
		}
		name := rapid.SampledFrom([]string{"q", "name", "csrf", "X-Api-Key", "password", "data", "next"}).Draw(t, "name")
		r := get(2, "/api/items", `{"a":1}`)
		earlier := get(1, "/api/first", `{"b":1}`)
		held := routine.PageValues{URL: page}
		object := func(name, value string) string {
			return `{"list":[{` + routine.JSONText(name) + `:` + routine.JSONText(value) + `}],"n":1}`
		}
		switch place := rapid.IntRange(0, 14).Draw(t, "place"); place {
		case 0:
			r.URL = absolute("/api/items?" + url.QueryEscape(name) + "=" + url.QueryEscape(secret))
		case 1:
			r.URL = absolute("/api/" + url.PathEscape(secret) + "/items")
		case 2:
			r.Headers[strings.ReplaceAll(name, " ", "-")] = strings.ReplaceAll(secret, "ö", "o")
			known = append(known, strings.ReplaceAll(secret, "ö", "o"))
		case 3:
			r = post(2, "/api/items", object(name, secret), `{"a":1}`)
		case 4:
			r = post(2, "/api/items", url.QueryEscape(name)+"="+url.QueryEscape(secret), `{"a":1}`)
			r.Headers["Content-Type"] = "application/x-www-form-urlencoded"
		case 5:
			r.Answer = []byte(object(name, secret))
		case 6:
			r.Answer = []byte(object(secret, name))
		case 7:
			r.Answer, r.ContentType = []byte("<input name=\""+name+"\" value=\""+secret+"\">"), "text/html"
		case 8:
			earlier.Answer = []byte(object(name, secret))
			r.Headers["X-Echo"] = strings.ReplaceAll(secret, "ö", "o")
			known = append(known, strings.ReplaceAll(secret, "ö", "o"))
		case 9:
			r = post(2, "/api/items", "text "+secret+" more", `{"a":1}`)
			r.Headers["Content-Type"] = "text/plain"
		case 11:
			r.URL = absolute("/api/" + url.PathEscape(secret))
		case 12:
			r = post(2, "/graphql", `{"operationName":`+routine.JSONText(secret)+`,"query":"query `+strings.Map(wordRune, secret)+` { a }"}`, `{"a":1}`)
			known = append(known, strings.Map(wordRune, secret))
		case 13: // the name of a value that a token is traced to
			earlier.Answer = []byte(`{` + routine.JSONText(secret) + `:{"a":"tok1234567x"}}`)
			r.Headers["X-Token"] = "tok1234567x"
		case 14:
			held.Metas, held.LocalStorage = map[string]string{secret: "tok1234567x"}, map[string]string{secret: "tok1234567x"}
			held.HiddenFields = map[string]string{"input[name=" + secret + "]": "tok1234567x"}
			r.Headers["X-Token"] = "tok1234567x"
		case 10:
			r = post(2, "/api/items", object(secret, name), `{"a":1}`)
		}
		log := log(earlier, r)
		shown := []string{List(log, Query{Secrets: known}).Text(), strings.Join(Lines(log.Requests, known, 8), "\n"),
			List(log, Query{Secrets: known, Find: "items"}).Text()}
		if traced, err := Trace(log, 2, Origins{Secrets: known, Pages: []routine.PageValues{held}}); err != nil {
			shown = append(shown, err.Error())
		} else {
			checkRoutine(t, traced, Origins{})
			shown = append(shown, operationTexts(traced), traced.Shape, traced.Sample, string(traced.Return), routine.JSONText(traced.Parameters))
		}
		for _, text := range shown {
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(routine.JSONText(secret), `"`)} {
				if strings.Contains(text, form) {
					t.Fatalf("%q is shown:\n%s", secret, text)
				}
			}
		}
	})
}

// replay fills the operations of a traced request with the values that the page had, by the
// real placeholders.
type replay struct {
	values routine.Values
	stored map[string]string
	page   routine.PageValues
}

func (p *replay) resolve(t placeholder.Token) (any, bool) {
	switch t.Source {
	case placeholder.Parameter:
		v, ok := p.values[t.Name]
		return v, ok
	case placeholder.SessionStorage:
		text, ok, _ := placeholder.Lookup(context.Background(), t.Name, func(key string) (string, bool, error) {
			text, ok := p.stored[key]
			return text, ok, nil
		})
		return text, ok
	case placeholder.Meta:
		v, ok := p.page.Metas[t.Name]
		return v, ok
	case placeholder.LocalStorage:
		text, ok, _ := placeholder.Lookup(context.Background(), t.Name, func(key string) (string, bool, error) {
			text, ok := p.page.LocalStorage[key]
			return text, ok, nil
		})
		return text, ok
	}
	return nil, false
}

// run fills one operation and returns its fields.
func (p *replay) run(t *rapid.T, raw json.RawMessage) map[string]any {
	var o routine.Operation
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	action, err := operation.Decode(o)
	if err != nil {
		t.Fatal(err)
	}
	err = operation.ReplaceTemplates(action, func(s operation.Site) (any, error) {
		parsed, faults := placeholder.Parse(s.Text, s.Place)
		if len(faults) > 0 {
			return nil, fmt.Errorf("%+v", faults)
		}
		return (&placeholder.Filling{Resolve: p.resolve}).Fill(parsed)
	})
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	text, err := json.Marshal(action)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// TestTracedRequestIsReproduced fills the operations of a chain with the values that the page
// had: the request must be the same as the page's.
func TestTracedRequestIsReproduced(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		typed, csrf, cursor, stored := drawText(t, "typed"), drawToken(t, "csrf", 9), drawToken(t, "cursor", 8), drawToken(t, "stored", 8)
		page := routine.PageValues{URL: page, Metas: map[string]string{"csrf": csrf}, LocalStorage: map[string]string{"app": `{"a":[{"t":"` + stored + `"}]}`}}
		first := with(get(1, "/api/list?q="+url.QueryEscape(typed), `{"data":[{"next":`+routine.JSONText(cursor)+`}]}`), "X-Csrf", csrf)
		pick := func(label string) string {
			return rapid.SampledFrom([]string{typed, csrf, cursor, stored, "plain", "a b&c", "", `say "` + typed + `"`, "x=" + cursor + ";y"}).Draw(t, label)
		}
		second := get(2, "/api/"+url.PathEscape(rapid.SampledFrom([]string{cursor, stored, "items"}).Draw(t, "path"))+
			"/x?a="+url.QueryEscape(pick("a"))+"&b="+url.QueryEscape(pick("b")), `{}`)
		second = with(second, "X-Csrf", csrf, "X-Plain", rapid.SampledFrom([]string{"Bearer " + stored, "Bearer " + cursor, "plain"}).Draw(t, "header"))
		form := rapid.Bool().Draw(t, "form")
		wantBody := map[string]any{"one": pick("one"), "two": pick("two"), "n": pick("n")}
		if rapid.Bool().Draw(t, "post") {
			second.Method, second.Body = "POST", routine.JSONText(wantBody)
			second.Headers["Content-Type"] = "application/json"
			if form {
				values := url.Values{}
				for name, v := range wantBody {
					values.Set(name, v.(string))
				}
				second.Body, second.Headers["Content-Type"] = values.Encode(), "application/x-www-form-urlencoded"
			}
		}
		from := Origins{Typed: []Typed{{Name: "query", Value: typed, Operation: 2}}, Pages: []routine.PageValues{page}}
		traced, err := Trace(log(first, second), 2, from)
		if err != nil {
			t.Fatal(err)
		}
		checkRoutine(t, traced, from)
		p := &replay{values: routine.Values{"query": typed}, stored: map[string]string{}, page: page}
		for name, v := range traced.Values {
			p.values[name] = v
		}
		for _, raw := range traced.Before {
			if fields := p.run(t, raw); fields["endpoint"] != nil {
				p.stored[fields["session_storage_key"].(string)] = string(first.Answer)
				sameURL(t, fields["endpoint"].(map[string]any)["url"].(string), first.URL)
			}
		}
		got := p.run(t, traced.Operation)["endpoint"].(map[string]any)
		sameURL(t, got["url"].(string), second.URL)
		headers := got["headers"].(map[string]any)
		if headers["X-Csrf"] != csrf || headers["X-Plain"] != second.Headers["X-Plain"] {
			t.Fatalf("headers %v of %s", headers, traced.Operation)
		}
		if second.Body != "" && !reflect.DeepEqual(got["body"], any(wantBody)) {
			t.Fatalf("body %v, want %v, of %s", got["body"], wantBody, traced.Operation)
		}
	})
}

// sameURL compares two URLs with their encodings removed.
func sameURL(t *rapid.T, got, want string) {
	a, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := url.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if a.Host != b.Host || a.Path != b.Path || !reflect.DeepEqual(a.Query(), b.Query()) {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// TestAnyRequestMakesARoutine traces requests with odd texts everywhere: each becomes a
// valid routine or is refused.
func TestAnyRequestMakesARoutine(t *testing.T) {
	odd := rapid.StringOfN(rapid.RuneFrom([]rune("ab1{}|:\"'\\/%&=+ .,~*$[]<>#?@;é日\u202e\n\t")), 0, 14, -1)
	refusals := 0
	seeded.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(odd, rapid.SampledFrom([]string{"{{cookie:sid}}", "{{query}}", `"{{x}}"`, "{{", "}}", "%7B%7Bx%7D%7D", "tok1234567x", "%zz", ""}))
		object := func(label string) string {
			o := map[string]any{}
			for i := range rapid.IntRange(0, 3).Draw(t, label) {
				o[odd.Draw(t, label)+fmt.Sprint(i)] = rapid.SampledFrom([]any{value.Draw(t, label), 7, 1234567, nil, true, []any{value.Draw(t, label)}}).Draw(t, label)
			}
			return routine.JSONText(o)
		}
		first := get(1, "/api/first?x="+url.QueryEscape(value.Draw(t, "first")), object("answer"))
		r := get(2, "/"+url.PathEscape(value.Draw(t, "path"))+"/"+rapid.SampledFrom([]string{"x", "{{y}}", "a;b"}).Draw(t, "part")+"?"+
			strings.NewReplacer("#", "", "\n", "", "\t", "").Replace(value.Draw(t, "query")), object("own"))
		if rapid.Bool().Draw(t, "body") {
			r.Method, r.Body = "POST", rapid.OneOf(value, rapid.Just(object("json"))).Draw(t, "text")
			r.Headers["Content-Type"] = rapid.SampledFrom([]string{"application/json", "application/x-www-form-urlencoded", "text/plain", "x"}).Draw(t, "type")
		}
		r.Headers["X-Odd"] = strings.Map(func(c rune) rune {
			if c < ' ' || c > 0xff {
				return -1
			}
			return c
		}, value.Draw(t, "header"))
		from := Origins{Typed: []Typed{{Name: "query", Value: value.Draw(t, "typed"), Operation: 2}},
			Pages: []routine.PageValues{{URL: page + "?" + url.QueryEscape(value.Draw(t, "page")),
				Metas:        map[string]string{value.Draw(t, "meta"): value.Draw(t, "content")},
				LocalStorage: map[string]string{value.Draw(t, "key"): object("stored")}}}}
		traced, err := Trace(log(first, r), 2, from)
		if err != nil {
			if routine.CodeOf(err) != routine.CodeInvalid {
				t.Fatal(err)
			}
			refusals++
			return
		}
		checkRoutine(t, traced, from)
		if strings.ContainsAny(List(log(first, r), Query{}).Text(), "\u202e\t") {
			t.Fatal("a line has an invisible character")
		}
	})
	t.Logf("%d were refused", refusals)
}
