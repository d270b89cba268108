package lesson

import (
	"encoding/json"
	"testing"

	"rote/routine/lesson/candidate"
)

func TestWithOldValues(t *testing.T) {
	tests := []struct{ now, was, want string }{
		{`{"url":"/api/v2/find?q=lamp&page=1","method":"GET"}`, `{"url":"/api/find?q={{word}}&size=20"}`,
			`{"url":"/api/v2/find?q={{word}}&page=1","method":"GET"}`},
		{`{"url":"/api/find","method":"POST","body":{"q":"lamp","page":1}}`, `{"url":"/api/find","body":{"q":"{{word}}","old":true}}`,
			`{"url":"/api/find","method":"POST","body":{"q":"{{word}}","page":1}}`},
		{`{"url":"https://shop.test/api/v2/find?a=2"}`, `{"url":"/api/find?a=1"}`, `{"url":"/api/v2/find?a=1"}`},
		{`{"url":"https://api.test/find"}`, `{"url":"/api/find"}`, `{"url":"https://api.test/find"}`},
		{`{"url":"https://shop.test/find"}`, `{"url":"https://shop.test/api/find"}`, `{"url":"https://shop.test/find"}`},
		{`{"url":"/api/find"}`, `{"url":"/api/find?q={{word}}"}`, `{"url":"/api/find"}`},
		{`{"url":"/a?a%5Bb%5D=1"}`, `{"url":"/a?a[b]={{x}}"}`, `{"url":"/a?a[b]={{x}}"}`},
	}
	for _, test := range tests {
		var was candidate.Endpoint
		if err := json.Unmarshal([]byte(test.was), &was); err != nil {
			t.Fatal(err)
		}
		if got, err := withOldValues(json.RawMessage(test.now), was, "https://shop.test/list"); err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}
