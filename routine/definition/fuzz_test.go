package definition

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/seeded"
	"rote/routine/routinetest/stopwatch"
)

// seeds are definitions of all kinds: the practice site's, the schemas'
// examples, routines with mistakes.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	var all [][]byte
	for _, pattern := range []string{"../../cmd/rote/practice/routines/*.json", "testdata/mistakes/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 3 {
			f.Fatalf("%s: %q, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			all = append(all, text)
		}
	}
	for name, examples := range publishedExamples(f) {
		for _, e := range examples {
			switch name {
			case "routine":
				all = append(all, []byte(e))
			case "parameter":
				all = append(all, []byte(declaring(e)))
			case "endpoint":
				all = append(all, []byte(around(`{"type": "fetch", "endpoint": `+e+`}`)))
			case "data_sanitizer":
				all = append(all, []byte(around(`{"type": "fetch", "endpoint": {"url": "/"}, "data_sanitizer": `+e+`}`)))
			default:
				all = append(all, []byte(around(e)))
			}
		}
	}
	for _, extra := range []string{"", "\ufeff{}", `{"routine_json": "{}"}`, `{"routine_json": {"name": "\ud800"}}`, "{\"a\": 1,}",
		"[1, // x\n]", around(`{"type": "clik", "css": "a>>b"}`), around(`{"type": "press", "key": "\u007b{a\u007d}"}`)} {
		all = append(all, []byte(extra))
	}
	return all
}

// Every text is answered soon and with the same result each time, and each
// problem has a position in the text. An accepted definition is accepted again
// in its stored form, and calls of it are answered too.
func FuzzParse(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d *routine.Definition
		var warnings []routine.Problem
		var err error
		if took := stopwatch.Time(func() { d, warnings, err = ParseBody(text) }); took > 3*time.Second {
			t.Fatalf("took %v", took)
		}
		if again, w, e := ParseBody(text); !cmp.Equal(listed(warnings), listed(w)) || (err == nil) != (e == nil) || err != nil && err.Error() != e.Error() || (again == nil) != (d == nil) {
			t.Fatalf("another answer: %v, then %v", err, e)
		}
		wellPlaced(t, text, warnings)
		if err != nil {
			problems := routine.AsError(err).Problems
			if len(problems) == 0 && routine.CodeOf(err) != routine.CodeTooLarge || d != nil {
				t.Fatalf("refused without a problem: %v", err)
			}
			wellPlaced(t, text, problems)
			return
		}
		comesBack(t, d)
		_, _ = Bind(d, json.RawMessage(`{}`))
		_, _ = Bind(d, text)
	})
}

func wellPlaced(t *testing.T, text []byte, ps []routine.Problem) {
	t.Helper()
	if !slices.IsSortedFunc(ps, func(a, b routine.Problem) int { return 1000_000*(a.Line-b.Line) + a.Column - b.Column }) {
		t.Errorf("not sorted by place: %q", listed(ps))
	}
	for _, p := range ps {
		if p.Line < 1 || p.Column < 1 || p.Code == "" || p.Message == "" || p.Pointer != "" && p.Pointer[0] != '/' || strings.Contains(p.Message, "%!") {
			t.Errorf("bad problem: %+v", p)
		}
		if strings.Count(string(text), "\n")+1 < p.Line && !strings.Contains(string(text), "routine_json") && !strings.Contains(string(text), `\u`) {
			t.Errorf("line %d of a text of fewer: %+v", p.Line, p)
		}
	}
}

func comesBack(t *testing.T, d *routine.Definition) {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Parse(text)
	if err != nil {
		t.Fatalf("what was accepted is refused as given back: %v\n%s", err, text)
	}
	twice, _ := json.Marshal(again)
	if string(twice) != string(text) {
		t.Fatalf("another definition:\n%s\n%s", text, twice)
	}
	stored, err := routine.DecodeDefinition(text)
	if err != nil {
		t.Fatalf("cannot be read from the store: %v", err)
	}
	if thrice, _ := json.Marshal(stored); string(thrice) != string(text) {
		t.Fatalf("the store gives another definition:\n%s\n%s", text, thrice)
	}
}

// Bytes that a fuzzer changes seldom stay JSON: here values and names change.
func TestDamagedRoutinesAreAnswered(t *testing.T) {
	optional.OneGoroutine(t)
	random := seeded.Rand(t)
	texts := slices.Clone(publishedExamples(t)["routine"])
	files, err := filepath.Glob("../../cmd/rote/practice/routines/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	accepted := 0
	for i := range 4000 {
		text := texts[i%len(texts)]
		for range 1 + random.IntN(4) {
			text = damage(random, text)
		}
		d, warnings, err := Parse([]byte(text))
		wellPlaced(t, []byte(text), warnings)
		if err != nil {
			wellPlaced(t, []byte(text), routine.AsError(err).Problems)
			readable(t, routine.AsError(err).Problems)
		} else {
			accepted++
			comesBack(t, d)
		}
		if t.Failed() {
			t.Fatalf("of %s", text)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d were accepted", accepted)
	}
}
