package docs

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"testing"
)

// The page of the dependencies has each module that go.mod requires directly, and no other.
func TestDependenciesPage(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	page, err := files.ReadFile("dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		if listed[row[1]] {
			t.Errorf("httpapi/docs/dependencies.md has %s twice", row[1])
		}
		listed[row[1]] = true
	}
	direct := 0
	for _, module := range file.Require {
		if module.Indirect {
			continue
		}
		direct++
		if !listed[module.Path] {
			t.Errorf("httpapi/docs/dependencies.md has no line for %s: add \"| `%s` | what for |\" to the table of the program or of tests", module.Path, module.Path)
		}
		delete(listed, module.Path)
	}
	for path := range listed {
		t.Errorf("httpapi/docs/dependencies.md has %s, which go.mod no longer requires directly: remove its line", path)
	}
	if direct < 30 {
		t.Errorf("go.mod requires %d modules directly: they were not read", direct)
	}
}
