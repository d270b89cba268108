package browser

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine/browserstate"
	"rote/routine/routinetest"
	"rote/routine/routinetest/seeded"
)

// A state that another program has exported is refused, or the browser takes it and gives it
// back as it was.
func TestImportedStatesGoThroughTheBrowser(t *testing.T) {
	now, taken := time.Now(), 0
	seeded.CheckFew(t, 200, func(r *rapid.T) {
		text := routinetest.ExportedState(r, now.Unix())
		got, err := browserstate.Import(text, now)
		if err != nil || got.State.Empty() {
			return
		}
		taken++
		encoded, err := got.State.Encode()
		if err != nil {
			r.Fatal(err)
		}
		p := keeping(t, encoded)
		p.mu.Lock()
		for _, o := range got.State.Storage {
			p.storage.visited[o.Origin] = true // so that it is read from the browser
		}
		p.mu.Unlock()
		back, err := browserstate.Parse(stateOf(t, p))
		if err != nil {
			r.Fatal(err)
		}
		if same, err := browserstate.Same(got.State, back); !same || err != nil {
			sortState(got.State)
			sortState(back)
			r.Fatalf("%q comes back changed, %v (-given +read):\n%s", text, err, cmp.Diff(got.State, back))
		}
	})
	if taken == 0 {
		t.Error("no state was imported")
	}
}

func sortState(s *browserstate.State) {
	slices.SortFunc(s.Cookies, func(a, b browserstate.Cookie) int {
		return slices.Compare([]string{a.Name, a.Domain, a.URL, a.Path}, []string{b.Name, b.Domain, b.URL, b.Path})
	})
}
