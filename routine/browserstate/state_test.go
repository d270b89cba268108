package browserstate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine"
	"rote/routine/routinetest/seeded"
)

// cookie returns a cookie of a domain, which starts with a dot, or of a host.
func cookie(name, of string, edits ...func(*Cookie)) Cookie {
	c := Cookie{Name: name, Value: "v", Domain: of, Path: "/", Secure: true}
	if !strings.HasPrefix(of, ".") {
		c.ForHost(of)
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

// storage returns the local storage of an origin with keys and values in turn.
func storage(origin string, texts ...string) Origin {
	items := [][2]string{}
	for pair := range slices.Chunk(texts, 2) {
		items = append(items, [2]string{pair[0], pair[1]})
	}
	return Origin{origin, routine.RawJSON(items)}
}

func TestEncodeAndParse(t *testing.T) {
	partitioned := func(c *Cookie) {
		c.PartitionKey, c.Expires = json.RawMessage(`{"topLevelSite":"https://x.example"}`), 1.5e9
	}
	state := &State{Cookies: []Cookie{cookie("a", "shop.example", partitioned)},
		Storage: []Origin{{"https://shop.example", json.RawMessage(`[["half \ud800","<b>&amp;"]]`)}}}
	text, err := state.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(text)
	if diff := cmp.Diff(state, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err = Parse(nil); err != nil || !got.Empty() || got.Cookies == nil || got.Storage == nil {
		t.Errorf("no text is %+v, %v", got, err)
	}
	if _, err = Parse([]byte(`{"cookies": 1}`)); err == nil {
		t.Error("a text of another shape is a state")
	}
	large := &State{Storage: []Origin{storage("https://shop.example", "k", strings.Repeat("v", MaxBytes))}}
	if _, err := large.Encode(); routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Errorf("%d bytes: %v", MaxBytes, err)
	}
}

func TestKeep(t *testing.T) {
	for _, row := range []struct {
		host string
		keep string // names of cookies, and origins
	}{
		{"shop.example", "host domain https://shop.example https://shop.example:8443"},
		{"SHOP.example.", "host domain https://shop.example https://shop.example:8443"},
		{"*.shop.example", "domain www wwwdomain https://www.shop.example"},
		{"www.shop.example", "www wwwdomain https://www.shop.example"},
		{"shop.example:8443", "host domain https://shop.example:8443"},
		{"http://shop.example", "host domain https://shop.example https://shop.example:8443 http://shop.example"},
		{"127.0.0.1:8080", "address http://127.0.0.1:8080"},
		{"[::1]", "six http://[::1]:80"},
		{"other.example", ""},
	} {
		state := &State{Cookies: []Cookie{cookie("host", "shop.example"), cookie("domain", ".shop.example"), cookie("www", "www.shop.example"),
			cookie("wwwdomain", ".www.shop.example"), cookie("evil", "evil-shop.example"), cookie("address", "127.0.0.1"), cookie("six", "[::1]"), {Name: "none"}}}
		for _, origin := range []string{"https://shop.example", "https://www.shop.example", "https://shop.example:8443", "http://shop.example",
			"http://127.0.0.1:8080", "http://127.0.0.1:80", "http://[::1]:80", "https://shop.example.evil.example", "null"} {
			state.Storage = append(state.Storage, storage(origin, "k", "v"))
		}
		kept, rest := state.Keep([]string{row.host})
		var got []string
		for _, c := range kept.Cookies {
			got = append(got, c.Name)
		}
		for _, o := range kept.Storage {
			got = append(got, o.Origin)
		}
		if strings.Join(got, " ") != row.keep {
			t.Errorf("%s keeps %q, want %q", row.host, got, row.keep)
		}
		if n := len(kept.Cookies) + len(rest.Cookies); n != len(state.Cookies) || len(kept.Storage)+len(rest.Storage) != len(state.Storage) {
			t.Errorf("%s: %d cookies of %d are somewhere", row.host, n, len(state.Cookies))
		}
	}
}

func TestWhatAStateHas(t *testing.T) {
	hidden := func(value string, expires float64) func(*Cookie) {
		return func(c *Cookie) { c.HTTPOnly, c.Value, c.Expires = true, value, expires }
	}
	state := &State{Cookies: []Cookie{cookie("seen", "shop.example", func(c *Cookie) { c.Expires = 1 }), cookie("b", ".shop.example", hidden("two", 2000.5)),
		cookie("a", "www.shop.example", hidden("one", 3000)), cookie("again", "[::1]", hidden("one", 0)), cookie("empty", "shop.example", hidden("", 0))},
		Storage: []Origin{storage("https://shop.example"), storage("https://shop.example:8443")}}
	if got := state.HiddenValues(); !slices.Equal(got, []string{"one", "two"}) {
		t.Error("hidden values", got)
	}
	if got := state.Expiry(); got == nil || !got.Equal(time.UnixMilli(2000500)) {
		t.Error("expires", got)
	}
	if got := (&State{Cookies: state.Cookies[:1]}).Expiry(); got != nil {
		t.Error("a cookie that pages read decides when the state expires:", got)
	}
	want := []Count{{"[::1]", 1, false}, {"shop.example", 3, true}, {"shop.example:8443", 0, true}, {"www.shop.example", 1, false}}
	if diff := cmp.Diff(want, state.Counts()); diff != "" {
		t.Error(diff)
	}
}

// Two runs start with the same state. Each sees what the other has done, and where both have
// changed the same, the one that is stored last wins.
func TestMerge(t *testing.T) {
	value := func(v string) func(*Cookie) { return func(c *Cookie) { c.Value = v } }
	at := func(path string) func(*Cookie) { return func(c *Cookie) { c.Path = path } }
	in := func(site string) func(*Cookie) {
		return func(c *Cookie) { c.PartitionKey = json.RawMessage(`{"topLevelSite":"` + site + `"}`) }
	}
	base := &State{Cookies: []Cookie{cookie("sid", "a.example"), cookie("sid", ".a.example"), cookie("sid", "a.example", at("/x")),
		cookie("sid", "a.example", in("https://b.example")), cookie("both", "a.example"), cookie("gone", "a.example"), cookie("lost", "a.example")},
		Storage: []Origin{storage("https://a.example", "k", "1", "gone", "1", "lost", "1"), storage("https://cleared.example", "k", "1")}}
	mine := &State{Cookies: []Cookie{cookie("sid", "a.example", value("mine")), cookie("sid", ".a.example"), cookie("sid", "a.example", at("/x"), value("mine")),
		cookie("sid", "a.example", in("https://b.example")), cookie("both", "a.example", value("mine")), cookie("lost", "a.example"), cookie("new", "a.example")},
		Storage: []Origin{storage("https://a.example", "k", "1", "lost", "1", "new", "mine"), storage("https://new.example", "k", "mine")}}
	stored := &State{Cookies: []Cookie{cookie("sid", "a.example"), cookie("sid", ".a.example", value("theirs")), cookie("sid", "a.example", at("/x")),
		cookie("sid", "a.example", in("https://b.example"), value("theirs")), cookie("both", "a.example", value("theirs")), cookie("gone", "a.example"),
		cookie("their", "a.example")},
		Storage: []Origin{storage("https://a.example", "k", "theirs", "gone", "1"), storage("https://cleared.example", "k", "1"),
			storage("https://their.example", "k", "1")}}
	want := &State{Cookies: []Cookie{cookie("sid", "a.example", value("mine")), cookie("sid", ".a.example", value("theirs")),
		cookie("sid", "a.example", at("/x"), value("mine")), cookie("sid", "a.example", in("https://b.example"), value("theirs")),
		cookie("both", "a.example", value("mine")), cookie("their", "a.example"), cookie("new", "a.example")},
		Storage: []Origin{storage("https://a.example", "k", "theirs", "new", "mine"), storage("https://their.example", "k", "1"),
			storage("https://new.example", "k", "mine")}}
	got, err := Merge(base, mine, stored)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, damaged := range []string{`[1]`, `[["k"]]`, `[["k",1]]`, `{`, ``} {
		broken := &State{Storage: []Origin{{"https://a.example", json.RawMessage(damaged)}}}
		if _, err := Merge(base, broken, stored); err == nil {
			t.Errorf("entries %s are merged", damaged)
		}
		if _, err := Same(broken, broken); err == nil {
			t.Errorf("entries %s are compared", damaged)
		}
	}
}

// A browser that restores a cookie adds fields and changes fractions of a second: that is no
// change of the run.
func TestSameCookie(t *testing.T) {
	a := &State{Cookies: []Cookie{cookie("sid", "a.example", func(c *Cookie) { c.Expires = 1000.123456 }), cookie("b", "a.example")},
		Storage: []Origin{storage("https://a.example", "k", "v")}}
	restored := func(c *Cookie) { c.Expires, c.Priority, c.SourcePort = 1000.1, "Medium", 443 }
	b := &State{Cookies: []Cookie{cookie("b", "a.example"), cookie("sid", "a.example", restored)}, Storage: a.Storage}
	if same, err := Same(a, b); !same || err != nil {
		t.Error("differ", err)
	}
	for name, edit := range map[string]func(*State){
		"a value":      func(s *State) { s.Cookies[0].Value = "other" },
		"an expiry":    func(s *State) { s.Cookies[0].Expires += 1 },
		"a cookie":     func(s *State) { s.Cookies = s.Cookies[:1] },
		"an entry":     func(s *State) { s.Storage = []Origin{storage("https://a.example", "k", "other")} },
		"more storage": func(s *State) { s.Storage = append(slices.Clone(s.Storage), storage("https://b.example", "k", "v")) },
	} {
		c := &State{slices.Clone(b.Cookies), b.Storage}
		edit(c)
		if same, err := Same(a, c); same || err != nil {
			t.Errorf("%s makes no difference: %v", name, err)
		}
	}
}

// Merge gives what a table of cells gives, each of which has one value.
func TestMergeIsThatOfCells(t *testing.T) {
	type cells map[string]string
	draw := func(t *rapid.T, label string) (cells, *State) {
		table, state := cells{}, &State{}
		items := map[string][]string{}
		for _, name := range rapid.SliceOfDistinct(rapid.IntRange(0, 11), rapid.ID).Draw(t, label) {
			key, value := fmt.Sprint(name), fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "value"))
			table[key] = value
			if name < 6 {
				state.Cookies = append(state.Cookies, cookie(key, "a.example", func(c *Cookie) { c.Value = value }))
				continue
			}
			origin := []string{"https://a.example", "https://b.example"}[name%2]
			items[origin] = append(items[origin], key, value)
		}
		for _, origin := range slices.Sorted(maps.Keys(items)) {
			state.Storage = append(state.Storage, storage(origin, items[origin]...))
		}
		return table, state
	}
	seeded.Check(t, func(t *rapid.T) {
		base, baseState := draw(t, "base")
		mine, mineState := draw(t, "mine")
		stored, storedState := draw(t, "stored")
		want := maps.Clone(stored)
		for i := range 12 {
			key := fmt.Sprint(i)
			before, had := base[key]
			after, has := mine[key]
			switch {
			case had == has && before == after:
			case has:
				want[key] = after
			default:
				delete(want, key)
			}
		}
		merged, err := Merge(baseState, mineState, storedState)
		if err != nil {
			t.Fatal(err)
		}
		got := cells{}
		for _, c := range merged.Cookies {
			got[c.Name] = c.Value
		}
		byOrigin, err := origins(merged)
		for _, items := range byOrigin {
			for _, i := range items {
				got[strings.Trim(string(i[0]), `"`)] = strings.Trim(string(i[1]), `"`)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}
