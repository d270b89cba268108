package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hrefs returns where the links of a document lead.
func hrefs(document []byte) (to []string) {
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllSubmatch(document, -1) {
		to = append(to, string(m[1]))
	}
	return to
}

// documents returns everything that the package serves as HTML, by the path below /docs.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	served := map[string][]byte{"": Index("")}
	for name := range all() {
		if name+".md" == index {
			continue
		}
		document, ok := Page(name)
		if !ok {
			t.Errorf("there is no page %s", name)
		}
		served[name] = document
	}
	return served
}

// Each link between pages leads to a page and a heading that are there, and the index names
// every page.
func TestLinks(t *testing.T) {
	served := documents(t)
	checked := 0
	for name, document := range served {
		for _, to := range hrefs(document) {
			if strings.Contains(to, "://") || strings.HasSuffix(to, "docs/style.css") || strings.HasSuffix(to, "docs/api") {
				continue
			}
			root := "../"
			if name == "" {
				root = ""
			}
			if strings.HasPrefix(to, root+"schemas/") || to == root+"openapi.yaml" {
				if _, err := os.Stat(filepath.Join("../../schemas", strings.TrimPrefix(strings.TrimPrefix(to, root), "schemas/"))); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			target, fragment, _ := strings.Cut(to, "#")
			other := document
			if target != "" {
				other = served[strings.TrimPrefix(strings.TrimPrefix(target, root+"docs"), "/")]
			}
			if checked++; other == nil || fragment != "" && !strings.Contains(string(other), ` id="`+fragment+`"`) {
				t.Errorf("%s: a dead link to %s", name, to)
			}
		}
		if !strings.Contains(string(served[""]), `"docs/`+name+`"`) && name != "" {
			t.Errorf("the index does not name %s", name)
		}
	}
	if checked < 90 {
		t.Errorf("only %d links", checked)
	}
}

// The files that pages name are there, also those that the program does not serve.
func TestFilesOfTheRepository(t *testing.T) {
	for name := range all() {
		text, err := os.ReadFile(name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s.md: %v", name, err)
			}
		}
	}
}

// A search finds the sections that have all words, the one with the word in its heading first.
// What was searched for is shown as text.
func TestSearch(t *testing.T) {
	for query, first := range map[string]string{"log in yourself": "Log in yourself", "Schedules": "Schedules", "KEEP-AGE": "", "rote backup": "", "PgBouncer": "",
		"element_not_found": "element_not_found"} {
		found := search(query)
		if len(found) == 0 || first != "" && found[0].Heading != first {
			t.Errorf("%q: %+v", query, found)
		}
		for _, r := range found {
			name, anchor, _ := strings.Cut(r.At, "#")
			if p, _ := Page(name); name != "../docs" && !strings.Contains(string(p), ` id="`+anchor+`"`) {
				t.Errorf("%q: no %s", query, r.At)
			}
		}
	}
	if document := string(Index(`<b>"nowheretobefound`)); !strings.Contains(document, "No page has all of these words") || strings.Contains(document, "<b>") {
		t.Error(document)
	}
	if _, ok := Page("nothing"); ok {
		t.Error("a page that is not there")
	}
	if _, ok := Page("README"); ok {
		t.Error("the index has two addresses")
	}
	long := excerpt(strings.Repeat("äöü ", 200)+"needle"+strings.Repeat(" äöü", 200), []string{"needle"})
	if !strings.Contains(long, "needle") || len(long) > 300 {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
