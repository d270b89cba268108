package browser

import (
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skipUnsampled skips the tests of which the default run leaves nothing out.
func skipUnsampled() error {
	skip := flag.Lookup("test.skip").Value
	if !*whole || skip.String() != "" {
		return errors.New("-rest goes with -whole and without -skip")
	}
	_, unsampled, err := testsBySampling()
	if err != nil {
		return err
	}
	return skip.Set("^(" + strings.Join(unsampled, "|") + ")$")
}

// testsBySampling divides the tests of this package into those that do more with
// -whole and those that do not. The first are found in the source: they mention
// the variable whole, or a function or variable of the tests that does, or one
// that mentions these, and so on. A name that only looks the same makes a test
// one of the first, so that it runs twice at worst.
func testsBySampling() (sampled, unsampled []string, err error) {
	mentions := map[string]map[string]bool{} // names by the declaration that mentions them
	note := func(declared string, in ast.Node) {
		if mentions[declared] == nil {
			mentions[declared] = map[string]bool{}
		}
		ast.Inspect(in, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				mentions[declared][name.Name] = true
			}
			return true
		})
	}
	files, err := filepath.Glob("*_test.go")
	for _, file := range files {
		parsed, failure := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err = errors.Join(err, failure); err != nil {
			return nil, nil, err
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				note(d.Name.Name, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							note(name.Name, v)
						}
					}
				}
			}
		}
	}
	reaches := map[string]bool{"whole": true}
	for more := true; more; {
		more = false
		for declared, names := range mentions {
			if reaches[declared] || declared == "skipUnsampled" || declared == "testMain" {
				continue
			}
			for name := range names {
				if reaches[name] {
					reaches[declared], more = true, true
					break
				}
			}
		}
	}
	for declared := range mentions {
		switch {
		case !regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(declared) || declared == "TestMain":
		case reaches[declared]:
			sampled = append(sampled, declared)
		default:
			unsampled = append(unsampled, declared)
		}
	}
	slices.Sort(sampled)
	slices.Sort(unsampled)
	return sampled, unsampled, err
}

// The default run and -whole -rest together try each row once on each browser,
// and each test that depends on -whole runs again with -rest.
func TestRestIsWhatTheDefaultRunLeavesOut(t *testing.T) {
	for _, oneOf := range []int{sampleOf, 2 * sampleOf} {
		for i := range 100 {
			for _, full := range []bool{false, true} {
				tried := 0
				for _, s := range []scope{{}, {whole: true, rest: true}} {
					if !s.leavesOut(full, i, oneOf) {
						tried++
					}
				}
				if tried != 1 || (scope{whole: true}).leavesOut(full, i, oneOf) {
					t.Errorf("row %d, one of %d, full Chromium %v: tried %d times, want once, and once with -whole alone", i, oneOf, full, tried)
				}
			}
			if !(scope{}).leavesOut(false, i, oneOf) && (scope{selected: true}).leavesOut(false, i, oneOf) {
				t.Errorf("row %d, one of %d, is left out with -run, and not without it", i, oneOf)
			}
		}
	}
	sampled, unsampled, err := testsBySampling()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"TestClickReaches", "TestSoak", "TestSlowBrowserEndsItsRuns", "TestWaysOutOfAScript", "TestSpellingsOfAnAddress", "TestLongHTML",
	} {
		if !slices.Contains(sampled, name) || slices.Contains(unsampled, name) {
			t.Errorf("-rest skips %s", name)
		}
	}
	for _, name := range []string{"TestFormTask", "TestOpenIsBounded", "TestReplacedBrowser"} {
		if !slices.Contains(unsampled, name) || slices.Contains(sampled, name) {
			t.Errorf("-rest does not skip %s, of which the default run leaves nothing out", name)
		}
	}
}
