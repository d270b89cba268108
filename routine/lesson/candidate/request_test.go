package candidate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func TestRequestCandidates(t *testing.T) {
	const page = "https://shop.example/c/lamps"
	request := func(number int, method, url, body string, headers map[string]string) routine.Request {
		return routine.Request{Number: number, Kind: "fetch", Method: method, URL: "https://shop.example" + url, PageURL: page, Body: body, Headers: headers,
			Status: 200, ContentType: "application/json"}
	}
	tests := []struct {
		name, endpoint string
		log            []routine.Request
		want           string // numbers and points
		why            string // of the first
	}{
		{"the endpoint has another version", `{"url":"/api/v1/search?q={{word}}"}`,
			[]routine.Request{request(1, "GET", "/api/session", "", nil), request(2, "GET", "/api/v2/search?q=lamp", "", nil)},
			"2 90", `the page itself asks GET /api/v2/search (200), not /api/v1/search`},
		{"the same path with another field and header", `{"url":"https://shop.example/api/search","method":"POST","headers":{"X-Old":"1"},"body":{"q":"{{word}}"}}`,
			[]routine.Request{request(4, "POST", "/api/search", `{"q":"lamp","page":1}`,
				map[string]string{"X-CSRF-Token": "t0k3n", "Content-Type": "application/json", "accept": "*/*"})},
			"4 83", `the page itself asks POST /api/search (200); header X-CSRF-Token is new; header X-Old is gone; page is new in the body`},
		{"another method", `{"url":"/api/search?q={{word}}"}`,
			[]routine.Request{request(1, "POST", "/api/search", `{"q":"lamp"}`, nil)},
			"1 85", `the page itself asks POST /api/search (200), not GET`},
		{"a failed request is no example", `{"url":"/api/search"}`,
			[]routine.Request{{Number: 1, Kind: "fetch", Method: "GET", URL: "https://shop.example/api/search", Status: 404}}, "", ""},
		{"something else is none either", `{"url":"/api/search?q={{word}}"}`,
			[]routine.Request{request(1, "GET", "/assets/menu.json", "", nil), request(2, "GET", "/telemetry?e=1", "", nil)}, "", ""},
		{"the last one of the same kind counts", `{"url":"/api/search?q={{word}}"}`,
			[]routine.Request{request(1, "GET", "/api/find/search?q=lamp", "", nil), request(7, "GET", "/api/find/search?q=lamp", "", nil)}, "7 78", ""},
		{"no endpoint", `{}`, []routine.Request{request(1, "GET", "/api/search", "", nil)}, "", ""},
		{"one that cannot be read", `{"url":5}`, []routine.Request{request(1, "GET", "/api/search", "", nil)}, "", ""},
		{"what would do something is not repeated", `{"url":"/api/accounts/search?q={{word}}"}`,
			[]routine.Request{request(1, "DELETE", "/api/accounts/search?q=lamp", "", nil)}, "1 35 destructive", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := operationOf(t, `{"type":"fetch","endpoint":`+test.endpoint+`,"session_storage_key":"k"}`)
			number := 0
			got := ForRequest(o, page, routine.RequestLog{Requests: test.log}, func(r routine.Request) (json.RawMessage, []json.RawMessage, error) {
				number = r.Number
				return routine.RawJSON(map[string]any{"url": r.URL, "description": fmt.Sprint(r.Number)}), nil, nil
			})
			var all []string
			for _, c := range got {
				text := fmt.Sprintf("%d %d", number, c.Points)
				if c.Destructive {
					text += " destructive"
				}
				all = append(all, text)
				if !strings.HasSuffix(string(c.Operation), `,"session_storage_key":"k"}`) ||
					!strings.Contains(string(c.Operation), fmt.Sprintf(`"description":"%d"`, number)) {
					t.Errorf("operation %s", c.Operation)
				}
			}
			if text := strings.Join(all, " | "); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
			if test.why != "" && (len(got) == 0 || got[0].Why != test.why) {
				t.Errorf("got  %+v\nwant %s", got, test.why)
			}
		})
	}
}
