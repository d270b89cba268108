package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A test that CI names in -run or -skip and that was renamed would silently no
// longer be selected.
func TestCINamesTestsThatThereAre(t *testing.T) {
	var declared strings.Builder
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
			declared.WriteString("\n" + found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, script := range []string{"run", "npm"} {
		text, err := os.ReadFile("../../.ci/" + script)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`[^.\w](Test[A-Z]\w*)`).FindAllStringSubmatch(string(text), -1) {
			if named++; !strings.Contains(declared.String(), "\n"+found[1]) {
				t.Errorf(".ci/%s names %s, which is not the beginning of the name of a test", script, found[1])
			}
		}
	}
	if named < 10 {
		t.Errorf("CI names %d tests only", named)
	}
}
