package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rote/cmd/rote/practice"
	"rote/routine/importer"
)

// A script of each language that searches the practice shop gives the same products when its
// routine runs in a browser.
func TestScriptsGiveTheSameData(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(shop.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(shop.URL, "http://"))
	want := []any{"Brass Desk Lamp", "Paper Floor Lamp", "Clip-on Reading Lamp", "Blue Glass Bedside Lamp"}
	const folder = "../../routine/importer/testdata/shop"
	for _, name := range []string{"shop.spec.ts", "shop.py", "Shop.java", "shop.cs", "shop.puppeteer.js"} {
		source, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		imported, err := importer.Import(importer.Request{Source: strings.ReplaceAll(string(source), "http://127.0.0.1:8765", shop.URL)})
		if err != nil || !imported.Valid || imported.Report.Dropped > 0 {
			t.Fatalf("%s: %+v %v", name, imported, err)
		}
		body, err := json.Marshal(map[string]any{"routine": imported.Routine})
		if err != nil {
			t.Fatal(err)
		}
		_, e := s.call("POST", "/executions", string(body))
		result, _ := e["result"].(map[string]any)
		if data, _ := result["data"].([]any); !slices.Equal(data, want) {
			t.Errorf("%s gave %v: %v", name, result["data"], e)
		}
	}
}
