package service_test

import (
	"context"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// A warning shows what a field holds instead of what was typed, and how the two
// differ; a secret is not shown, also not as the page has formatted it.
func TestTypedDifferenceIsShown(t *testing.T) {
	operations := `{"type":"input_text","selector":"#q","text":"{{x}}"},{"type":"return_html"}`
	public, secret := `{"name":"x"},{"name":"k","x-secret":true,"required":false}`, `{"name":"x","x-secret":true}`
	for _, row := range []struct {
		name, parameters, values string
		found                    routine.Match
		want                     string
	}{
		{"as typed", public, `{"x":"41111111"}`, routine.Match{Matches: 1}, ""},
		{"nothing in an empty field", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedNothing},
			"nothing of the text arrived in #q, which is empty"},
		{"nothing", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedNothing, Value: "old"},
			`nothing of the text arrived in #q, which still holds "old"`},
		{"a mask", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedAdded, Value: "4111 1111"},
			`#q holds "4111 1111": the whole text arrived and the page added to it`},
		{"another", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedChanged, Value: "4111"}, `#q holds another text than was typed, "4111"`},
		{"a long one", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedChanged, Value: strings.Repeat("x", 900)}, strings.Repeat("x", 100)},
		{"a password", public, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedChanged, Value: "4111", Secret: true},
			"#q holds another text than was typed, ***"},
		{"a secret that was cut off", secret, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedChanged, Value: "4111"},
			"#q holds another text than was typed, ***"},
		{"a secret with spaces", secret, `{"x":"41111111"}`, routine.Match{Arrived: routine.ArrivedAdded, Value: "41-11/11 11"}, "#q holds ***"},
		{"a secret of before", public, `{"x":"1","k":"41111111"}`, routine.Match{Arrived: routine.ArrivedAdded, Value: "41-11-11-11 1"}, "#q holds ***"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.found.Differs = row.found.Arrived != ""
			typed := func(context.Context, routine.Typing) (routine.Match, error) { return row.found, nil }
			e, err := runOnce(t, routinetest.Page{Type: typed}, operations, row.parameters, row.values)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(e.Result.Warnings, "|")
			if row.want == "" && strings.Contains(got, "#q") || !strings.Contains(got, row.want) || len(got) > 500 {
				t.Errorf("warnings %q, want %q", got, row.want)
			}
			if strings.Contains(row.want, "***") && strings.Contains(got, "4111") {
				t.Errorf("the secret is shown: %q", got)
			}
		})
	}
}

// An error that waiting would not have changed does not name the limit, as any
// other does.
func TestTypingFailsAtOnce(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		fails := func(context.Context, routine.Typing) (routine.Match, error) {
			return routine.Match{Final: atOnce}, routine.Errorf(routine.CodeElementNotActionable, `"#q" is no field`)
		}
		_, err := runOnce(t, routinetest.Page{Type: fails}, `{"type":"input_text","selector":"#q","text":"x","timeout_ms":3000},{"type":"return_html"}`, "", `{}`)
		if routine.CodeOf(err) != routine.CodeElementNotActionable || strings.Contains(err.Error(), "3000 ms") == atOnce {
			t.Errorf("%v, at once %v", err, atOnce)
		}
	}
}
