package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The table of attacks names tests that exist.
func TestSecurityNamesItsTests(t *testing.T) {
	root := os.DirFS("../..")
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../httpapi/docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 50 {
		t.Fatalf("the table names %d tests only", len(named))
	}
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("security.md names %s, which is no test", m[1])
		}
	}
}
