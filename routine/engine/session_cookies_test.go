package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/engine"
	"rote/routine/routinetest"
)

const (
	sessionValue = "0a1b2c3d4e5f-session"
	rotatedValue = "99887766-rotated"
)

// cookiePage is a page of shop.test with cookies of the session, and of another site.
func cookiePage() routinetest.Page {
	cookies := []routine.Cookie{
		{Name: "sid", Value: rotatedValue, Domain: "shop.test", Path: "/", HTTPOnly: true},
		{Name: "short", Value: "abc", Domain: "shop.test", Path: "/", HTTPOnly: true},
		{Name: "theme", Value: "light-and-bright", Domain: "shop.test", Path: "/"},
		{Name: "ad", Value: "tracker-0123456789", Domain: ".ads.test", Path: "/", HTTPOnly: true},
	}
	return routinetest.Page{URL: "https://shop.test/", Cookies: cookies, SentCookies: cookies[:3],
		HTML: "<p>" + sessionValue + " " + rotatedValue + " light-and-bright tracker-0123456789"}
}

func runInSession(t *testing.T, page routinetest.Page, session *engine.SessionCookies, operations string) (*engine.Outcome, []routine.Release, error) {
	t.Helper()
	d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","session":"shop","operations":[` + operations + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	var releases []routine.Release
	page.Releases = &releases
	opened, err := (&routinetest.Browser{Page: page}).Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	outcome, err := engine.Run(t.Context(), d, routine.Values{}, opened, engine.Options{Now: time.Now, Session: session})
	return outcome, releases, err
}

func shopCookies() *engine.SessionCookies {
	return &engine.SessionCookies{Name: "shop", Hosts: []string{"shop.test"}, Values: []string{sessionValue}}
}

// What a run gives has no value of an HttpOnly cookie of its session, neither of the start nor of
// those that were set meanwhile. Others stay as they are.
func TestSessionCookiesAreMasked(t *testing.T) {
	const reads = `{"type":"get_cookies","session_storage_key":"c"},{"type":"return","session_storage_key":"c"}`
	outcome, _, err := runInSession(t, cookiePage(), shopCookies(), reads)
	if err != nil {
		t.Fatal(err)
	}
	var cookies []routine.Cookie
	if err := json.Unmarshal(outcome.Result.Data, &cookies); err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, c := range cookies {
		values = append(values, c.Name+"="+c.Value)
	}
	if got := strings.Join(values, " "); got != "sid=*** short=*** theme=light-and-bright ad=tracker-0123456789" {
		t.Error("get_cookies gives", got)
	}
	outcome, _, err = runInSession(t, cookiePage(), shopCookies(), `{"type":"return_html"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(outcome.Result.Data); got != `"<p>*** *** light-and-bright tracker-0123456789"` {
		t.Error("return_html gives", got)
	}
	outcome, _, err = runInSession(t, cookiePage(), nil, reads)
	if err != nil || !strings.Contains(string(outcome.Result.Data), rotatedValue) {
		t.Errorf("a readable session gives %s, %v", outcome.Result.Data, err)
	}
}

// A placeholder still fills in such a cookie where a secret may be, for the hosts of the session
// only. Elsewhere it is refused.
func TestSessionCookiesAreFilledIn(t *testing.T) {
	const sends = `{"type":"fetch","endpoint":{"url":"/a","headers":{"x-sid":"{{cookie:sid}}"}},"session_storage_key":"r"}`
	outcome, releases, err := runInSession(t, cookiePage(), shopCookies(), sends)
	if err != nil {
		t.Fatal(err)
	}
	if len(releases) != 1 || string(releases[0].Texts[0]) != rotatedValue || releases[0].Rules == nil || releases[0].Rules.Hosts[0] != "shop.test" ||
		releases[0].Secret != "cookie sid of session shop" {
		t.Errorf("permissions %+v", releases)
	}
	if shown := outcome.Result.PlaceholderResolution["cookie:sid"]; shown == nil || *shown != routine.Masked {
		t.Error("placeholder_resolution does not mask the cookie")
	}
	for _, operation := range []string{
		`{"type":"navigate","url":"https://shop.test/?s={{cookie:sid}}"}`,
		`{"type":"click","selector":"#a{{cookie:sid}}"}`,
		`{"type":"fetch","endpoint":{"url":"/{{cookie:sid}}"}}`,
	} {
		_, _, err := runInSession(t, cookiePage(), shopCookies(), operation)
		if routine.CodeOf(err) != routine.CodeSecretDenied || strings.Contains(err.Error(), rotatedValue) || !strings.Contains(err.Error(), "of session shop") {
			t.Errorf("%s: %v", operation, err)
		}
		if _, releases, err := runInSession(t, cookiePage(), nil, operation); err != nil || len(releases) > 0 {
			t.Errorf("%s of a readable session: %v", operation, err)
		}
	}
	outcome, releases, err = runInSession(t, cookiePage(), shopCookies(),
		`{"type":"navigate","url":"https://shop.test/?t={{cookie:theme}}&n={{cookie:none||x}}"}`)
	if err != nil || len(releases) > 0 || *outcome.Result.PlaceholderResolution["cookie:theme"] != "light-and-bright" {
		t.Errorf("a cookie that pages can read: %v", err)
	}
}
