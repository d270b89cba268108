package candidate

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"rote/routine"
)

func TestURLCandidate(t *testing.T) {
	tests := []struct {
		name, regex, before, now string
		values                   []Value
		want                     string
		points                   int
	}{
		{"another path", `/thanks$`, "https://shop.example/cart", "https://shop.example/order/done?id=7", nil,
			`(?:/thanks$)|^https://shop\.example/order/done(?:[?#]|$)`, 70},
		{"parts that differ each time", `/done`, "https://shop.example/cart", "https://shop.example/orders/4711/0b6f1d3e-9f5c-4a57-8f0e-2f1f7b6f3f11/ok", nil,
			`(?:/done)|^https://shop\.example/orders/[^/?#]+/[^/?#]+/ok(?:[?#]|$)`, 70},
		{"a parameter's value", `/item/{{id}}$`, "https://shop.example/", "https://shop.example/products/l-100", []Value{{"id", "l-100"}},
			`(?:/item/{{id}}$)|^https://shop\.example/products/{{id}}(?:[?#]|$)`, 70},
		{"the page did not move", `/thanks$`, "https://shop.example/login", "https://shop.example/login?failed=1", nil,
			`(?:/thanks$)|^https://shop\.example/login(?:[?#]|$)`, 20},
		{"the user name is not shown", `/thanks$`, "https://shop.example/", "https://u:p@shop.example/ok", nil,
			`(?:/thanks$)|^https://shop\.example/ok(?:[?#]|$)`, 70},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := operationOf(t, `{"type":"wait_for_url","url_regex":`+routine.JSONText(test.regex)+`,"timeout_ms":900}`)
			got := ForURL(o, test.before, test.now, test.values)
			if len(got) != 1 || got[0].Points != test.points || got[0].Grade != "" || got[0].Why == "" {
				t.Fatalf("got %+v", got)
			}
			var fields struct {
				Regex   string `json:"url_regex"`
				Timeout int    `json:"timeout_ms"`
			}
			if err := json.Unmarshal(got[0].Operation, &fields); err != nil || fields.Regex != test.want || fields.Timeout != 900 {
				t.Errorf("got  %s\nwant %s", got[0].Operation, test.want)
			}
			filled := fields.Regex
			for _, v := range test.values {
				filled = strings.ReplaceAll(filled, "{{"+v.Name+"}}", regexp.QuoteMeta(v.Text))
			}
			if !regexp.MustCompile(filled).MatchString(routine.WithoutUser(test.now)) {
				t.Errorf("%s does not match %s", filled, test.now)
			}
		})
	}
	if got := ForURL(operationOf(t, `{"type":"wait_for_url","url_regex":"x"}`), "", "about:blank", nil); got != nil {
		t.Errorf("a blank page: %+v", got)
	}
}
