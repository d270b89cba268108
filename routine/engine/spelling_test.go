package engine

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"

	"rote/routine"
)

// A secret is hidden in all spellings that can appear in records of a run.
func TestSecretsAreHidden(t *testing.T) {
	const secret = `p@ss "wörd"/<&+'(1)!`
	s := secretsOf([]routine.Parameter{{Name: "pin", Secret: true}, {Name: "open"}}, routine.Values{"pin": secret, "open": "shown"})
	asJSON, _ := json.Marshal(map[string]string{"k": secret})
	plain := routine.JSONText(map[string]string{"k": secret})
	parsed := &url.URL{Path: "/" + secret, RawQuery: url.Values{"q": {secret}}.Encode()}
	percent := url.PathEscape(secret)
	for name, text := range map[string]string{
		"as it is": "a " + secret + " b", "path": parsed.EscapedPath(), "form": parsed.RawQuery, "percent": percent,
		"small digits":       strings.NewReplacer("%C3", "%c3", "%B6", "%b6", "%2F", "%2f", "%3C", "%3c").Replace(percent),
		"encodeURIComponent": "p%40ss%20%22w%C3%B6rd%22%2F%3C%26%2B'(1)!", "a browser's query": `?q=p@ss%20%22w%C3%B6rd%22/%3C&+%27(1)!`,
		"JSON": plain, "JSON for HTML": string(asJSON), "HTML": html.EscapeString(secret),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "basic authorization": base64.StdEncoding.EncodeToString([]byte("u:" + secret)),
		"base64 in the middle": base64.URLEncoding.EncodeToString([]byte("user:" + secret + ":more")), "hexadecimal": hex.EncodeToString([]byte(secret)),
		"cut": routine.Truncate("https://a.test/"+secret, 30), "cut and escaped": routine.Truncate("https://a.test/"+percent, 30),
	} {
		got := s.text(text)
		for _, part := range []string{"ss", "w", "rd", percent[:10], base64.StdEncoding.EncodeToString([]byte(secret))[4:12], hex.EncodeToString([]byte(secret))[:8]} {
			if strings.Contains(strings.ReplaceAll(got, "shown", ""), part) && !strings.Contains("https://a.test/ user:more", part) {
				t.Errorf("%s: %q is left in %q", name, part, got)
			}
		}
		if !strings.Contains(got, routine.Masked) {
			t.Errorf("%s: nothing is masked in %q", name, got)
		}
	}
	if got := s.text("shown, and a cut… text"); got != "shown, and a cut… text" {
		t.Error(got)
	}
}
