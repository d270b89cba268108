package browserstate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/seeded"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestImportOfPlaywright(t *testing.T) {
	const text = `{"cookies": [
		{"name": "sid", "value": "s1", "domain": "shop.example", "path": "/", "expires": -1, "httpOnly": true, "secure": true, "sameSite": "Lax"},
		{"name": "id", "value": "", "domain": ".shop.example", "path": "/deep", "expires": 1774000000.5, "httpOnly": false, "secure": false, "sameSite": "Strict"},
		{"name": "__Host-p", "value": "v", "domain": "pay.example", "path": "/", "expires": 99999999999, "httpOnly": true, "secure": true, "sameSite": "None",
			"partitionKey": "https://shop.example", "_crHasCrossSiteAncestor": true, "priority": "High"},
		{"name": "old", "value": "v", "domain": "shop.example", "path": "/", "expires": 1000, "httpOnly": false, "secure": true, "sameSite": "Lax"}],
		"origins": [{"origin": "https://Shop.example:443", "localStorage": [{"name": "k", "value": "a\u0022\u003cb\uD83D \ud83d\ude00"}, {"name": "", "value": ""}],
			"indexedDB": [{"name": "db"}]}, {"origin": "http://127.0.0.1:8080", "localStorage": []}],
		"hosts": ["shop.example"], "user_agent": "Agent/1 (X11; Linux)"}`
	got, err := Import([]byte(text), now)
	if err != nil {
		t.Fatal(err)
	}
	want := &Imported{Hosts: []string{"shop.example"}, UserAgent: "Agent/1 (X11; Linux)", State: &State{
		Cookies: []Cookie{
			{Name: "sid", Value: "s1", URL: "https://shop.example/", Path: "/", Secure: true, HTTPOnly: true, SameSite: "Lax"},
			{Name: "id", Domain: ".shop.example", Path: "/deep", Expires: 1774000000.5, SameSite: "Strict"},
			{Name: "__Host-p", Value: "v", URL: "https://pay.example/", Path: "/", Expires: float64(now.Add(longestCookie).Unix()), Secure: true, HTTPOnly: true,
				SameSite: "None", PartitionKey: json.RawMessage(`{"topLevelSite":"https://shop.example","hasCrossSiteAncestor":true}`)}},
		Storage: []Origin{{"https://shop.example", json.RawMessage(`[["k","a\"<b\ud83d 😀"],["",""]]`)}}},
		Warnings: []routine.Problem{
			{Pointer: "/cookies/2/priority", Code: "not_kept", Message: `"priority" is not kept: a session has cookies and local storage`},
			{Pointer: "/origins/0/indexedDB", Code: "not_kept", Message: `"indexedDB" is not kept: a session has cookies and local storage`},
			{Code: "expired", Message: "1 cookies have expired and were left out"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):\n", diff)
	}
}

func TestImportOfNetscape(t *testing.T) {
	const text = "\ufeff# Netscape HTTP Cookie File\r\n# a comment\r\n\r\n" +
		"#HttpOnly_shop.example\tFALSE\t/\tTRUE\t0\tsid\ts=1\r\n.shop.example\tTRUE\t/deep\tFALSE\t1774000000\tid\t\r\n" +
		"shop.example\tTRUE\t/\tFALSE\t1000\told\tv\r\n" +
		"wide.example\tTRUE\t/\tFALSE\t0\tw\tv"
	got, err := Import([]byte(text), now)
	if err != nil {
		t.Fatal(err)
	}
	want := &Imported{State: &State{Storage: []Origin{}, Cookies: []Cookie{
		{Name: "sid", Value: "s=1", URL: "https://shop.example/", Path: "/", Secure: true, HTTPOnly: true},
		{Name: "id", Domain: ".shop.example", Path: "/deep", Expires: 1774000000},
		{Name: "w", Value: "v", Domain: ".wide.example", Path: "/"}}},
		Warnings: []routine.Problem{{Code: "expired", Message: "1 cookies have expired and were left out"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):\n", diff)
	}
}

func TestImportRefuses(t *testing.T) {
	cookieOf := func(fields string) string {
		m := map[string]any{"name": "n", "value": "v", "domain": "shop.example", "path": "/", "secure": true}
		if err := json.Unmarshal([]byte("{"+fields+"}"), &m); err != nil {
			t.Fatal(err)
		}
		return `{"cookies": [` + routine.JSONText(m) + `]}`
	}
	line := func(fields ...string) string { return "# Netscape\n" + strings.Join(fields, "\t") + "\n" }
	origin := func(name, items string) string {
		return `{"origins": [{"origin": "` + name + `", "localStorage": [` + items + `]}]}`
	}
	var many, origins []string
	for i := range MaxOrigins + 60 {
		many = append(many, fmt.Sprintf(`{"name": "n%d", "domain": "w%d.shop.example", "path": "/"}`, i, i))
		origins = append(origins, fmt.Sprintf(`{"origin": "https://w%d.example", "localStorage": []}`, i))
	}
	const item = `{"name": "k", "value": "v"}`
	for name, row := range map[string]struct{ text, pointer, code, message string }{
		"nothing":                     {"", "", "required", "export it after logging in"},
		"nothing in it":               {`{"cookies": []}`, "", "required", "export it after logging in"},
		"another text":                {"hello", "", "type", "line 1: a line has seven fields"},
		"another object":              {`{"a": 1}`, "", "type", "neither cookies nor origins"},
		"an array of an extension":    {`[{"name": "a"}]`, "", "type", "let the extension export cookies.txt"},
		"half an object":              {`{"cookies": [`, "/cookies", "json_syntax", "not JSON from byte 13"},
		"more than an object":         {`{"cookies": []} x`, "", "json_syntax", "not JSON"},
		"a key twice":                 {`{"cookies": [], "cookies": []}`, "/cookies", "duplicate", "give it once"},
		"a key of a cookie twice":     {`{"cookies": [{"name": "a", "name": "b"}]}`, "/cookies/0/name", "duplicate", "give it once"},
		"another type":                {`{"cookies": {"a": 1}}`, "/cookies", "type", "another type"},
		"a number as name":            {`{"cookies": [{"name": 1}]}`, "/cookies/0/name", "type", "another type"},
		"depth":                       {`{"a": ` + strings.Repeat("[", 20_000), "/a" + strings.Repeat("/0", 9), "json_syntax", "not JSON"},
		"a long list":                 {`{"cookies": [` + strings.Repeat("{},", maxListed) + `{}]}`, "/cookies", "too_large", "more than 20000 values"},
		"bytes":                       {strings.Repeat(" ", MaxBytes+1), "", "too_large", "at most 4194304"},
		"no UTF-8":                    {"\xff{}", "", "value", "not UTF-8"},
		"no host":                     {cookieOf(`"domain": "a/b"`), "/cookies/0/domain", "value", "must be a host"},
		"a port":                      {cookieOf(`"domain": "shop.example:80"`), "/cookies/0/domain", "value", "must be a host"},
		"a public suffix":             {cookieOf(`"domain": ".co.uk"`), "/cookies/0/domain", "value", "leave out the dot"},
		"hosts below an address":      {cookieOf(`"domain": ".127.0.0.1"`), "/cookies/0/domain", "value", "leave out the dot"},
		"no name":                     {cookieOf(`"name": ""`), "/cookies/0/name", "value", "has no name"},
		"a control character":         {cookieOf(`"name": "a\u0001"`), "/cookies/0/name", "value", "control character"},
		"half a surrogate pair":       {cookieOf(`"value": "a\ud800"`), "/cookies/0/value", "value", "control character"},
		"a long value":                {cookieOf(`"value": "` + strings.Repeat("v", 4096) + `"`), "/cookies/0/value", "value", "more than 4096 bytes"},
		"no path":                     {cookieOf(`"path": "x"`), "/cookies/0/path", "value", "as browsers keep it"},
		"a path with dots":            {cookieOf(`"path": "/a/../b"`), "/cookies/0/path", "value", "as browsers keep it"},
		"another sameSite":            {cookieOf(`"sameSite": "lax"`), "/cookies/0/sameSite", "value", "Strict, Lax or None"},
		"sameSite None":               {cookieOf(`"sameSite": "None", "secure": false`), "/cookies/0/sameSite", "value", "only if it is secure"},
		"a partition that is no site": {cookieOf(`"partitionKey": "https://www.shop.example"`), "/cookies/0/partitionKey", "value", "site of a page"},
		"a partition of http": {cookieOf(`"partitionKey": "https://shop.example", "secure": false`),
			"/cookies/0/partitionKey", "value", "only if it is secure"},
		"__Secure- over http":         {cookieOf(`"name": "__SECURE-a", "secure": false`), "/cookies/0/name", "value", "only if it is secure"},
		"__Host- of a domain":         {cookieOf(`"name": "__Host-a", "domain": ".shop.example"`), "/cookies/0/name", "value", "for one host"},
		"__Http- that pages can read": {cookieOf(`"name": "__Http-a"`), "/cookies/0/name", "value", "httpOnly"},
		"two of one identity": {`{"cookies": [{"name": "n", "domain": "shop.example", "path": "/"}, {"name": "n", "domain": "Shop.Example", "path": "/"}]}`,
			"/cookies/1", "duplicate", "leave one out"},
		"many of one site":      {`{"cookies": [` + strings.Join(many, ",") + `]}`, "/cookies/150", "too_large", "shop.example has more than 150"},
		"many origins":          {`{"origins": [` + strings.Join(origins, ",") + `]}`, "/origins", "too_large", "at most 100"},
		"an origin with a path": {origin("https://shop.example/", item), "/origins/0/origin", "value", "a scheme and a host"},
		"an origin with a dot":  {origin("https://shop.example.:80", item), "/origins/0/origin", "value", "a scheme and a host"},
		"an origin of a file":   {origin("file://", item), "/origins/0/origin", "value", "a scheme and a host"},
		"an origin twice": {`{"origins": [{"origin": "https://a.example", "localStorage": [` + item + `]}, {"origin": "https://A.example", "localStorage": []}]}`,
			"/origins/1/origin", "duplicate", "together"},
		"an entry twice": {origin("https://shop.example", item+`,{"name": "\u006b", "value": ""}`),
			"/origins/0/localStorage/1/name", "duplicate", "leave one out"},
		"an entry with a number":       {origin("https://shop.example", `{"name": "k", "value": 1}`), "/origins/0/localStorage/0", "type", "which are texts"},
		"an entry without a value":     {origin("https://shop.example", `{"name": "k"}`), "/origins/0/localStorage/0", "type", "which are texts"},
		"a user agent of two lines":    {`{"cookies": [], "user_agent": "a\nb"}`, "/user_agent", "value", "without control characters"},
		"a line with six fields":       {line("shop.example", "FALSE", "/", "TRUE", "0", "n"), "", "type", "line 2: a line has seven fields"},
		"a line with another flag":     {line("shop.example", "FALSE", "/", "yes", "0", "n", "v"), "", "value", "line 2: the second and fourth field"},
		"a line with a date":           {line("shop.example", "FALSE", "/", "TRUE", "tomorrow", "n", "v"), "", "value", "line 2: the fifth field"},
		"a line with NUL":              {line("shop.example", "FALSE", "/", "TRUE", "0", "n\x00", "v"), "", "value", "line 2: the name"},
		"a line of spaces in between":  {"shop.example FALSE / TRUE 0 n v", "", "type", "seven fields"},
		"a line that ends at infinity": {line("shop.example", "FALSE", "/", "TRUE", "inf", "n", "v"), "", "value", "line 2: the fifth field"},
	} {
		_, err := Import([]byte(row.text), now)
		problems := routine.AsError(err).Problems
		if routine.CodeOf(err) != routine.CodeInvalid || len(problems) == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := problems[0]
		if !strings.HasPrefix(p.Pointer, row.pointer) || p.Code != row.code || !strings.Contains(p.Message, row.message) || len(problems) > maxProblems {
			t.Errorf("%s: %+v, want %s at %s: %s", name, p, row.code, row.pointer, row.message)
		}
	}
}

// A text is refused with a place, or gives a state that a second export and import does not
// change.
func TestImportRefusesOrKeeps(t *testing.T) {
	refused := 0
	seeded.CheckFew(t, 200, func(t *rapid.T) {
		if !checkImport(t, routinetest.ExportedState(t, now.Unix())) {
			refused++
		}
	})
	t.Log(refused, "inputs were refused")
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"cookies": [{"name": "sid", "value": "s1", "domain": ".shop.example", "path": "/", "expires": -1, "secure": true, "sameSite": "Lax",
		"partitionKey": "https://shop.example"}], "origins": [{"origin": "https://shop.example", "localStorage": [{"name": "k", "value": "\ud83d"}]}]}`))
	f.Add([]byte("# Netscape\n#HttpOnly_.shop.example\tTRUE\t/\tTRUE\t1774000000\tsid\ts1\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkImport(t, text) })
}

// checkImport imports a text and reports whether it is a state.
func checkImport(t rapid.TB, text []byte) bool {
	t.Helper()
	got, err := Import(text, now)
	if err != nil {
		problems := routine.AsError(err).Problems
		if routine.CodeOf(err) != routine.CodeInvalid || len(problems) == 0 || len(problems) > maxProblems {
			t.Fatalf("%q: %v", text, err)
		}
		return false
	}
	if got.State.Empty() {
		return true
	}
	exported, err := got.State.Export(got.Hosts, got.UserAgent)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	again, err := Import(exported, now)
	if err != nil {
		t.Fatalf("%q is refused after an export: %v", text, err)
	}
	if diff := cmp.Diff(got.State, again.State); diff != "" || again.UserAgent != got.UserAgent {
		t.Fatalf("%q (-first +second import):\n%s", text, diff)
	}
	return true
}
