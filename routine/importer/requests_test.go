package importer

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// harOf is a HAR file with one request and an answer of JSON.
func harOf(method, url, contentType, body string) string {
	return fmt.Sprintf(`{"log": {"entries": [{"request": {"method": %q, "url": %q, "headers": [{"name": "Content-Type", "value": %q}],
		"postData": {"mimeType": %q, "text": %s}}, "response": {"status": 200, "content": {"mimeType": "application/json", "text": "{\"a\": [1, 2]}"}}}]}}`,
		method, url, contentType, contentType, routine.JSONText(body))
}

// Numbers of pages and other short values are proposed where their names say what they are, and only
// there.
func TestProposalsOfRequests(t *testing.T) {
	for _, row := range []struct{ source, want string }{
		{harOf("GET", "https://x.test/list?page=2&size=2&q=tv&lang=de", "", ""), "page=2 in [/operations/0/endpoint/url]; q=tv in [/operations/0/endpoint/url]; " +
			"lang=de in [/operations/0/endpoint/url]"},
		{harOf("POST", "https://x.test/graphql", "application/json", `{"query": "query Find { a }", "variables": {"page": 1, "size": 1, "term": "lamp"}}`),
			"page=1 in [/operations/0/endpoint/body/variables/page]; term=lamp in [/operations/0/endpoint/body/variables/term]"},
		{"curl 'https://x.test/list?page=1&id=1'", "page=1 in [/operations/0/endpoint/url]; id=1 in [/operations/0/endpoint/url]"},
	} {
		r, err := Import(Request{Source: row.source})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range r.Parameters {
			got = append(got, fmt.Sprintf("%s=%s in %v", p.Name, p.From, p.In))
		}
		if text := strings.Join(got, "; "); text != row.want {
			t.Errorf("%s\nis %s\nwant %s", row.source, text, row.want)
		}
	}
}

// JSON that is sent as the type of a form stays JSON, and its secrets are not kept.
func TestJSONAsForm(t *testing.T) {
	for body, want := range map[string]string{
		`{"requests": [{"params": "query=phone&page=0"}]}`: `"body":"{\"requests\": [{\"params\": \"query=phone&page=0\"}]}"`,
		`{"user": "ada", "password": "planted-Secret"}`:    `"body":"{{body}}"`,
	} {
		r, err := Import(Request{Source: harOf("POST", "https://x.test/search", "application/x-www-form-urlencoded", body)})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(routine.RawJSON(r)); !strings.Contains(string(r.Routine), want) || strings.Contains(text, "planted-Secret") || !r.Valid {
			t.Errorf("%s: %s", body, text)
		}
	}
}

// The name of a host in a path is no secret.
func TestHostInPath(t *testing.T) {
	r, err := Import(Request{Source: harOf("GET", "https://x.test/proxy/api.vcd.pod0000b.sys00005.portal.x.com/list", "", "")})
	if err != nil || !strings.Contains(string(r.Routine), "/proxy/api.vcd.pod0000b.sys00005.portal.x.com/list") {
		t.Errorf("%v %+v", err, r)
	}
}
