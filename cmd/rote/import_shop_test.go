package main

import (
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"rote/cmd/rote/practice"
)

// productNames matches the names of products in the answer of the shop and in its page.
var productNames = regexp.MustCompile(`"name":\s*"([^"]+)"|class=\\?"name\\?"[^>]*>([^<]+)<`)

// The same search of the shop, recorded in the format of each tool, gives the same products.
func TestRecordingsOfAllToolsGiveTheSameData(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(shop.Close)
	r := newRote(t)
	const first = `"operations": [`
	want := ""
	for _, file := range []string{"shop.txt", "shop.har", "shop.json", "shop.side"} {
		text, err := os.ReadFile("testdata/shop/" + file)
		if err != nil {
			t.Fatal(err)
		}
		made, errs, code := r.run("import", r.file(file, strings.ReplaceAll(string(text), "http://127.0.0.1:8765", shop.URL)))
		if code != 0 || !strings.Contains(made, first) {
			t.Fatalf("%s: exit %d: %s", file, code, errs)
		}
		if !strings.Contains(made, `"type": "return"`) { // a recording of a person does not say what the data is
			end := strings.LastIndex(made, "}\n  ]")
			made = made[:end+1] + `, {"type": "return_html", "scope": "element", "selector": "#results"}` + made[end+1:]
		}
		out, errs, code := r.run("run", r.file("made_"+file+".json", made), "--allow-host", strings.TrimPrefix(shop.URL, "http://"))
		var names []string
		for _, m := range productNames.FindAllStringSubmatch(out, -1) {
			names = append(names, m[1]+m[2])
		}
		got := strings.Join(names, ", ")
		if want == "" {
			want = got
		}
		if code != 0 || len(names) < 2 || got != want {
			t.Errorf("%s: exit %d: %q, want %q\n%s\n%s", file, code, got, want, out, errs)
		}
	}
}
