package practice

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// definition is the part of a routine that has to fit the site.
type definition struct {
	Name        string
	Description string
	Parameters  []struct {
		Name, Description string
		Required          bool
		Default           any
		Secret            bool `json:"x-secret"`
	}
	Operations []struct {
		Type, URL, Selector string
		Endpoint            struct{ URL string }
	}
}

func decodeExamples(t *testing.T) map[string]definition {
	t.Helper()
	byFile := map[string]definition{}
	for _, r := range Routines() {
		var d definition
		if err := json.Unmarshal(r.JSON, &d); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		byFile[r.Name] = d
	}
	return byFile
}

func TestRoutinesAreTheFilesSorted(t *testing.T) {
	want := []string{"download_invoice.json", "list_orders.json", "page_text.json", "search_products.json"}
	var got []string
	for _, r := range Routines() {
		got = append(got, r.Name)
		file, err := os.ReadFile(filepath.Join("routines", r.Name))
		if err != nil || !bytes.Equal(file, r.JSON) {
			t.Errorf("%s is not its file (%v)", r.Name, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRoutinesAreDocumented(t *testing.T) {
	for file, d := range decodeExamples(t) {
		if d.Name+".json" != file || d.Description == "" {
			t.Errorf("%s is named %q and described as %q", file, d.Name, d.Description)
		}
		for _, p := range d.Parameters {
			if p.Description == "" {
				t.Errorf("%s: parameter %s has no description", file, p.Name)
			}
			if p.Name == "password" && !p.Secret {
				t.Errorf("%s: the password is not secret", file)
			}
			if p.Name == "site" && p.Default != "http://"+Address {
				t.Errorf("%s: site is %v by default", file, p.Default)
			}
		}
	}
}

// A parameter name in a token that is not declared would stay in the text.
func TestRoutineTokensAndParametersMatch(t *testing.T) {
	token := regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
	for _, r := range Routines() {
		used := map[string]bool{}
		for _, found := range token.FindAllSubmatch(r.JSON, -1) {
			used[string(found[1])] = true
		}
		for _, p := range decodeExamples(t)[r.Name].Parameters {
			if !used[p.Name] {
				t.Errorf("%s: parameter %s is never used", r.Name, p.Name)
			}
			delete(used, p.Name)
		}
		for name := range used {
			t.Errorf("%s: nothing declares %s", r.Name, name)
		}
	}
}

// Each selector has to be on the page that the routine has opened, and each
// request has to find its path.
func TestRoutinesFitTheSite(t *testing.T) {
	v := signedIn(t)
	values := strings.NewReplacer("{{site}}", "", "{{sku}}", "LAMP-01", "{{order_id}}", "A-1001")
	for file, d := range decodeExamples(t) {
		var page string
		for i, op := range d.Operations {
			if op.URL != "" {
				got := v.get(values.Replace(op.URL))
				if got.status != 200 {
					t.Errorf("%s: operation %d opens a page with status %d", file, i, got.status)
				}
				page = got.body
			}
			if op.Selector != "" && !strings.Contains(page, markOf(op.Selector)) {
				t.Errorf("%s: operation %d selects %s, which is not on\n%s", file, i, op.Selector, page)
			}
			if path := op.Endpoint.URL; path != "" {
				// The token of the orders is not sent, so 403 shows that the path exists.
				if got := v.get(values.Replace(path)); got.status != 200 && got.status != 403 {
					t.Errorf("%s: operation %d requests %s: status %d", file, i, path, got.status)
				}
			}
		}
	}
}

// markOf turns the few kinds of selector that the examples use into the text
// that such an element has in the page.
func markOf(selector string) string {
	if id, ok := strings.CutPrefix(selector, "#"); ok {
		return `id="` + id + `"`
	}
	if tag, class, ok := strings.Cut(selector, "."); ok {
		return "<" + tag + ` class="` + class + `"`
	}
	return "<" + selector + ">"
}
