package lesson

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/lesson/candidate"
)

func TestMendText(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	info := Info{ID: "Lesson_1", Routine: "Routine_9", Version: 3, CreatedAt: now, Remaining: []Operation{{Number: 5}, {Number: 6}, {Number: 7}}}
	failure := Failure{Operation: 5, Of: 7, Summary: `click "#buy"`, Code: routine.CodeElementNotFound, Message: `nothing matches "#buy" after 20000 ms`,
		Execution: "E1", At: now.Add(-2 * time.Hour)}
	tests := []struct {
		name string
		of   Started
		want string
	}{
		{"candidates", Started{Info: info, Failure: &failure, Candidates: []candidate.Candidate{
			{Operation: json.RawMessage(`{"type":"click","selector":"button[name=\"purchase\"]"}`), Selector: `button[name="purchase"]`, Grade: "A",
				Why: `x-target role button, name "Buy" matches once`, Points: 90},
			{Operation: json.RawMessage(`{"type":"click","selector":"#buy-now"}`), Selector: "#buy-now", Grade: "B", Why: "similar id", Points: 40},
		}}, `Operation 5 of 7 click "#buy" fails: nothing matches "#buy" after 20000 ms (element_not_found, execution E1, 2 h ago).
1. button[name="purchase"] A, 90 points: x-target role button, name "Buy" matches once
2. #buy-now B, 40 points: similar id
Try one: try_operation {"lesson":"Lesson_1","at":5,"operation":{"type":"click","selector":"button[name=\"purchase\"]"}}
If it works, the 2 operations after it are done too, up to one that may act on the site. Then save_lesson {"lesson":"Lesson_1","expected_version":3}.
`},
		{"a dialog first", Started{Info: info, Failure: &failure, Candidates: []candidate.Candidate{
			{Operation: json.RawMessage(`{"type":"click","selector":"#ok","x-optional":true}`), Selector: "#ok", Before: true, Points: 70, Why: "it covers the element"},
		}}, `Operation 5 of 7 click "#buy" fails: nothing matches "#buy" after 20000 ms (element_not_found, execution E1, 2 h ago).
1. before it: #ok, 70 points: it covers the element
Try one: try_operation {"lesson":"Lesson_1","operation":{"type":"click","selector":"#ok","x-optional":true}}
If it works, the 3 operations after it are done too, up to one that may act on the site. Then save_lesson {"lesson":"Lesson_1","expected_version":3}.
`},
		{"an earlier one, and no candidates", Started{Info: info, Failure: &Failure{Operation: 2, Of: 7, Summary: "navigate", Code: routine.CodeNavigationFailed,
			Message: "no answer", Then: 5, Execution: "E1"}},
			`Now operation 2 of 7 navigate fails (then 5): no answer (navigation_failed).
No candidate was found. Look at the page; put an operation in its place with try_operation {"lesson":"Lesson_1","at":2,"operation":{…}}.
`},
		{"a request", Started{Info: info, Failure: &failure, Candidates: []candidate.Candidate{
			{Operation: json.RawMessage(`{"type":"fetch"}`), Needs: []json.RawMessage{json.RawMessage(`{"type":"fetch","a":1}`)}, Why: "the page itself asks it",
				Points: 70}}},
			`Operation 5 of 7 click "#buy" fails: nothing matches "#buy" after 20000 ms (element_not_found, execution E1, 2 h ago).
1. {"type":"fetch"}, 70 points: the page itself asks it
Try one: try_operation {"lesson":"Lesson_1","at":5,"operations":[{"type":"fetch","a":1},{"type":"fetch"}]}
If it works, the 2 operations after it are done too, up to one that may act on the site. Then save_lesson {"lesson":"Lesson_1","expected_version":3}.
`},
		{"another version since", Started{Info: info, Newest: 4, Failure: &failure, Candidates: []candidate.Candidate{
			{Operation: json.RawMessage(`{"type":"press"}`), Selector: "#ok", Before: true, Points: 70, Why: "it covers the element"},
		}}, `Operation 5 of 7 click "#buy" fails: nothing matches "#buy" after 20000 ms (element_not_found, execution E1, 2 h ago).
The routine is at version 4 now; this is about version 3, and saving it replaces the changes since then.
1. before it: #ok, 70 points: it covers the element
Try one: try_operation {"lesson":"Lesson_1","operation":{"type":"press"}}
If it works, the 3 operations after it are done too, up to one that may act on the site. Then save_lesson {"lesson":"Lesson_1","expected_version":4}.
`},
		{"nothing likely", Started{Info: Info{ID: "Lesson_1", Version: 3, CreatedAt: now.Add(-time.Hour)}, Failure: &failure, Candidates: []candidate.Candidate{
			{Operation: json.RawMessage(`{"type":"press"}`), Selector: "#menu", Grade: "A", Points: 20, Why: "a button too"},
		}}, `Operation 5 of 7 click "#buy" fails: nothing matches "#buy" after 20000 ms (element_not_found, execution E1, 1 h ago).
1. #menu A, 20 points: a button too
None is likely. If one of them is what the routine means, try it as in: try_operation {"lesson":"Lesson_1","at":5,"operation":{"type":"press"}}
Then save_lesson {"lesson":"Lesson_1","expected_version":3}.
`},
		{"nothing failed", Started{Info: info}, `Operations 5 to 7 of the routine were not done. To add one here: try_operation {"lesson":"Lesson_1","operation":{…}}.
`},
		{"nothing failed, all done", Started{Info: Info{ID: "Lesson_1", Routine: "Routine_9"}}, ""},
	}
	for _, test := range tests {
		if got := mendText(&test.of); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "just now", 40 * time.Second: "just now", 3 * time.Minute: "3 min ago", 119 * time.Minute: "1 h ago",
		47 * time.Hour: "47 h ago", 100 * time.Hour: "4 days ago", -time.Hour: "just now"} {
		if got := ago(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// Whatever the routine and the page hold, the text has a bound.
func TestMendTextIsBounded(t *testing.T) {
	long := strings.Repeat("long ", 1<<18)
	s := &Started{Info: Info{ID: "Lesson_1"}, Failure: &Failure{Operation: 1, Of: 1, Summary: long, Message: long}}
	for range candidate.Max {
		s.Candidates = append(s.Candidates, candidate.Candidate{Operation: routine.RawJSON(long), Selector: long, Why: long, Points: 90})
	}
	if n := len(mendText(s)); n > 8000 {
		t.Errorf("%d bytes", n)
	}
}
