package sanitize

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

// A path that leads nowhere says where it ends and what is there instead. One
// that selects nothing of what there is none of is well.
func TestPathsThatMatchNothing(t *testing.T) {
	for path, want := range map[string]string{
		`$.totl`:                    `json_path $.totl matches nothing; the response has total, items, a.b, z, a`,
		`$.itms[*].id`:              `json_path $.itms[*].id matches nothing; the response has total, items, a.b, z, a`,
		`$.items[*].id`:             `json_path $.items[*].id matches nothing; $.items[*] has name, price, sku, thumbnail, tags`,
		`$.items[0].tags[5]`:        `json_path $.items[0].tags[5] matches nothing; $.items[0].tags is a list of 2`,
		`$.items.name`:              `json_path $.items.name matches nothing; $.items is a list of 2`,
		`$.total.more`:              `json_path $.total.more matches nothing; $.total is 2`,
		`$.total[*]`:                `json_path $.total[*] matches nothing; $.total is 2`,
		`$['a.b'].x`:                `json_path $['a.b'].x matches nothing; $['a.b'] has c d`,
		`$..nosuch`:                 `json_path $..nosuch matches nothing; the response has total, items, a.b, z, a`,
		`$.items[?(@.price > 100)]`: "",
		`$['a.b']['c d']`:           "", // null, and there
		`$.items[5:]`:               "",
		`$.items[*].name`:           "",
	} {
		var warned []string
		steps, problems := Parse(json.RawMessage(`{"type":"json_path","path":` + routine.JSONText(path) + `}`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if _, err := steps[0].Apply(t.Context(), []byte(catalogue), 0, func(w string) { warned = append(warned, w) }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(warned, "\n"); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

func TestPathsOfListsThatAreEmpty(t *testing.T) {
	var warned []string
	warn := func(w string) { warned = append(warned, w) }
	for response, sanitizer := range map[string]string{
		`{"items":[]}`:                              `{"type":"json_path","path":"$.items[*].id"}`,
		`{"items":[],"more":{}}`:                    `{"type":"json_path","paths":["$.items[*].id","$.more.x"]}`,
		`{"` + strings.Repeat("n", 99) + `":[[1]]}`: `{"type":"json_path","path":"$.x"}`,
	} {
		steps, _ := Parse(json.RawMessage(sanitizer))
		if _, err := steps[0].Apply(t.Context(), []byte(response), 0, warn); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(warned)
	want := []string{"json_path $.more.x matches nothing; $.more is {}", "json_path $.x matches nothing; the response has " + strings.Repeat("n", 40) + "…"}
	if diff := cmp.Diff(want, warned); diff != "" {
		t.Error(diff)
	}
}

// Saying why costs nothing of what the answer itself may cost.
func TestTheReasonHasABudgetOfItsOwn(t *testing.T) {
	response := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"a":1},`, 200_000), ",") + `]}`
	steps, _ := Parse(json.RawMessage(`{"type":"json_path","paths":["$..nosuch","$..b","$..c","$..d","$.items[*].a"]}`))
	out, err := steps[0].Apply(t.Context(), []byte(response), 0, func(string) {})
	if err != nil || !strings.HasPrefix(string(out), `{"$..nosuch":[],`) {
		t.Errorf("%.80s %v", out, err)
	}
}
