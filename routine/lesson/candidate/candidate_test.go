package candidate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/lesson/textform"
)

func operationOf(t *testing.T, text string) routine.Operation {
	t.Helper()
	var o routine.Operation
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// show writes candidates as a table is written: selector, points and marks.
func show(cs []Candidate) string {
	var all []string
	for _, c := range cs {
		all = append(all, c.String())
	}
	return strings.Join(all, " | ")
}

func TestElementCandidates(t *testing.T) {
	buy := routine.Target{Role: "button", Name: "Buy"}
	none := -1
	tests := []struct {
		name         string
		operation    string
		target       routine.Target
		alternatives []string
		around       []string
		found        []routine.FoundElement
		want         string
	}{
		{"the same role and name", `{"type":"click","selector":"#buy"}`, buy, nil, nil,
			[]routine.FoundElement{{Selector: "#b2", Grade: "A", Role: "button", Name: "Buy", Alternative: none, SameTarget: true}}, "#b2 90"},
		{"the same form as another operation adds points", `{"type":"click","selector":"#buy"}`, buy, nil, []string{"#cart"},
			[]routine.FoundElement{
				{Selector: "#b2", Grade: "A", Role: "button", Name: "Buy", Alternative: none, SameTarget: true, Form: "#cart"},
				{Selector: "#b3", Grade: "A", Role: "button", Name: "Buy now", Alternative: none, Resemblance: 4, Form: "#other"},
			}, "#b2 105 | #b3 40"},
		{"the form in the old selector is known too", `{"type":"click","selector":"#cart button.buy"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{{Selector: "#cart button.pay2", Grade: "B", Role: "button", Alternative: none, Resemblance: 5, Form: "#cart"}},
			"#cart button.pay2 65"},
		{"an alternative by name is worth more than one by place", `{"type":"click","selector":"#buy"}`, routine.Target{},
			[]string{`button[name="purchase"]`, "#cart > button:nth-of-type(2)"}, nil,
			[]routine.FoundElement{
				{Selector: "#x", Grade: "A", Role: "button", Alternative: 1},
				{Selector: "#y", Grade: "A", Role: "button", Alternative: 0},
			}, "#y 96 | #x 25"},
		{"another role costs points", `{"type":"click","selector":"#buy"}`, buy, []string{`[name="purchase"]`}, nil,
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Role: "link", Name: "Buy", Alternative: 0}}, "#x 66"},
		{"a button that deletes is not what was meant", `{"type":"click","selector":"#buy"}`, buy, []string{`[name="purchase"]`}, []string{"#cart"},
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Role: "button", Name: "Delete account", Alternative: 0, Form: "#cart"}}, "#x 61 destructive"},
		{"a button that always deleted still does", `{"type":"click","selector":"#del"}`, routine.Target{Role: "button", Name: "Remove item"}, nil, nil,
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Role: "button", Name: "Delete item", Alternative: none, Resemblance: 5}}, "#x 50"},
		{"the old selector tells that it deletes", `{"type":"click","selector":"button.delete-row"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Role: "button", Name: "Delete", Alternative: none, Resemblance: 5}}, "#x 50"},
		{"resemblance alone is never worth as much as a name", `{"type":"click","selector":"#buy"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{{Selector: "#buy-now", Grade: "A", Role: "button", Alternative: none, Resemblance: 30}}, "#buy-now 80"},
		{"of equal points the better grade is first", `{"type":"click","selector":"#buy"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{
				{Selector: "div > button:nth-of-type(2)", Grade: "D", Alternative: none, Resemblance: 4},
				{Selector: "#buy2", Grade: "A", Alternative: none, Resemblance: 4},
			}, "#buy2 40 | div > button:nth-of-type(2) 40"},
		{"what resembles nothing is left out", `{"type":"click","selector":"#buy"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Alternative: none}}, ""},
		{"the same name at another text", `{"type":"click","selector":"#buy"}`, buy, nil, nil,
			[]routine.FoundElement{{Selector: "#x", Grade: "A", Role: "button", Name: "Buy", Alternative: none, Why: "without the text near it"}}, "#x 40"},
		{"the old selector is no candidate for itself", `{"type":"click","selector":"#buy"}`, routine.Target{}, nil, nil,
			[]routine.FoundElement{{Selector: "#buy", Grade: "A", Alternative: none, Resemblance: 9}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := operationOf(t, test.operation)
			selector := ""
			for _, f := range []string{"selector"} {
				var fields map[string]any
				_ = json.Unmarshal(o.Raw(), &fields)
				selector, _ = fields[f].(string)
			}
			lost := LostElement{Operation: o, Selector: selector, Target: test.target, Alternatives: test.alternatives, Around: test.around}
			got := ForElement(lost, test.found)
			if show(got) != test.want {
				t.Errorf("got  %s\nwant %s", show(got), test.want)
			}
			for _, c := range got {
				if c.Why == "" || !json.Valid(c.Operation) || !strings.Contains(string(c.Operation), routine.JSONText(c.Selector)) {
					t.Errorf("candidate %+v of %s", c, c.Operation)
				}
			}
		})
	}
}

func TestAtMostFiveCandidates(t *testing.T) {
	var found []routine.FoundElement
	for i := range 20 {
		found = append(found, routine.FoundElement{Selector: fmt.Sprintf("#b%d", i), Grade: "A", Alternative: -1, Resemblance: 1 + i%4})
	}
	got := ForElement(LostElement{Operation: operationOf(t, `{"type":"click","selector":"#gone"}`), Selector: "#gone"}, found)
	if want := "#b3 40 | #b7 40 | #b11 40 | #b15 40 | #b19 40"; show(got) != want {
		t.Errorf("got  %s\nwant %s", show(got), want)
	}
}

// A candidate changes the selector and nothing else: order, notes and numbers stay as they
// were written, and a value that came from a parameter is a placeholder again.
func TestCandidateKeepsTheOperation(t *testing.T) {
	o := operationOf(t, `{"x-note":{"b":1.50,"a":[]},"type":"click","selector":"a.card[href=\"/p/{{id}}\"]","timeout_ms":4000,"x-optional":true}`)
	lost := LostElement{Operation: o, Selector: `a.card[href="/p/l-100"]`, Values: []Value{{"id", "l-100"}}}
	got := ForElement(lost, []routine.FoundElement{{Selector: `a[href="/items/l-100"]`, Grade: "A", Alternative: -1, Resemblance: 5, Why: "similar href"}})
	if len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	want := `{"x-note":{"b":1.50,"a":[]},"type":"click","selector":"a[href=\"/items/{{id}}\"]","timeout_ms":4000,"x-optional":true}`
	if string(got[0].Operation) != want {
		t.Errorf("got  %s\nwant %s", got[0].Operation, want)
	}
	if got[0].Selector != `a[href="/items/{{id}}"]` || got[0].Why != "similar href" {
		t.Errorf("got %+v", got[0])
	}
}

// A text form is replaced by an operation that names another element by its texts.
func TestCandidateForTextForm(t *testing.T) {
	click := json.RawMessage(`{"type":"click","x-acting":["POST /a"],"timeout_ms":9}`)
	form, err := textform.Operations(textform.Target{Role: "button", Name: "Subscribe", Near: "{{item}}"}, click, "b1")
	if err != nil {
		t.Fatal(err)
	}
	lost := LostElement{Operation: operationOf(t, string(form[0])), Action: form[1], Target: routine.Target{Role: "button", Name: "Subscribe", Near: "Lamp"},
		Near: "{{item}}"}
	got := ForElement(lost, []routine.FoundElement{
		{Selector: "#join", Grade: "A", Role: "button", Name: "Sign me up", Alternative: -1, Resemblance: 2, Why: "a button too"},
		{Selector: "#nameless", Grade: "A", Role: "button", Alternative: -1, Resemblance: 2, Why: "a button too"},
	})
	want := `{"type":"click","timeout_ms":9,"x-target":{"role":"button","name":"Sign me up","near":"{{item}}"}}`
	if len(got) != 1 || string(got[0].Operation) != want || got[0].Points != 20 {
		t.Errorf("got  %+v\nwant %s", got, want)
	}
}

func TestWhyOfCandidates(t *testing.T) {
	lost := LostElement{Operation: operationOf(t, `{"type":"click","selector":"#buy"}`), Selector: "#buy",
		Target:       routine.Target{Role: "button", Name: "Buy", Near: "Lamp"},
		Alternatives: []string{`[name="purchase"]`}, Around: []string{"#cart"}}
	got := ForElement(lost, []routine.FoundElement{
		{Selector: "#a", Grade: "A", Role: "button", Name: "Buy", Alternative: -1, SameTarget: true, Form: "#cart"},
		{Selector: "#b", Grade: "B", Role: "link", Name: "Löschen\nnow", Alternative: 0},
	})
	want := []string{
		`x-target role button, name "Buy", near "Lamp" matches once; in #cart, as before`,
		`saved alternative [name="purchase"] matches once; named "Löschen now"; a link, not a button; ` +
			`its name says that it deletes or removes something: never chosen by itself`,
	}
	for i, w := range want {
		if i >= len(got) || got[i].Why != w {
			t.Errorf("candidate %d: got %+v\nwant %s", i, got, w)
		}
	}
}

func TestDestructiveWords(t *testing.T) {
	tests := []struct {
		old, new string
		want     bool
	}{
		{"Buy", "Delete account", true},
		{"Buy", "Buy now", false},
		{"Buy", "Order now", false},
		{"Continue", "Pay 19.00 €", true},
		{"Continue", "Place order", true},
		{"Subscribe", "Unsubscribe", true},
		{"Save", "Cancel subscription", true},
		{"Delete", "Remove", false},
		{"Weiter", "Konto löschen", true},
		{"Weiter", "KÜNDIGEN", true},
		{"Suivant", "Supprimer le compte", true},
		{"Siguiente", "Página siguiente", false},
		{"Siguiente", "Pagar", true},
		{"Avanti", "Elimina", true},
		{"Далее", "Удалить", true},
		{"次へ", "アカウントを削除", true},
		{"继续", "支付", true},
		{"다음", "결제하기", true},
		{"Orders", "My orders", false},
		{"Next", "Display options", false},
		{"Next", "Border", false},
		{"", "", false},
	}
	for _, test := range tests {
		if got := Destructive(test.old, test.new) != ""; got != test.want {
			t.Errorf("%q → %q: %v, want %v", test.old, test.new, got, test.want)
		}
	}
}

// Whatever the page calls its elements, a candidate with a destructive word that is new has
// too few points to be chosen by itself.
func TestDestructiveIsNeverClear(t *testing.T) {
	for _, word := range []string{"delete", "Remove all", "PAY", "Cancel order", "Abbestellen"} {
		lost := LostElement{Operation: operationOf(t, `{"type":"click","selector":"#go"}`), Selector: "#go", Target: routine.Target{Role: "button", Name: "Go"},
			Alternatives: []string{"#go2"}, Around: []string{"#f"}}
		found := routine.FoundElement{Selector: "#z", Grade: "A", Role: "button", Name: word, Alternative: 0, SameTarget: true, Resemblance: 99, Form: "#f"}
		got := ForElement(lost, []routine.FoundElement{found})
		if len(got) != 1 || !got[0].Destructive || got[0].Points >= clearPoints {
			t.Errorf("%s: %+v", word, got)
		}
		if c := Clear(got); c != nil {
			t.Errorf("%s is chosen: %+v", word, c)
		}
	}
}

func TestClearCandidate(t *testing.T) {
	a := Candidate{Selector: "#a", Grade: "A", Points: 90}
	tests := []struct {
		name string
		of   []Candidate
		want string
	}{
		{"one", []Candidate{a}, "#a"},
		{"one and a weaker one", []Candidate{a, {Selector: "#b", Grade: "A", Points: 84}}, "#a"},
		{"two", []Candidate{a, {Selector: "#b", Grade: "B", Points: 85}}, ""},
		{"two, one of which has a bad selector", []Candidate{a, {Selector: "#b", Grade: "D", Points: 85}}, ""},
		{"grade B is enough", []Candidate{{Selector: "#b", Grade: "B", Points: 85}}, "#b"},
		{"grade C is not", []Candidate{{Selector: "#b", Grade: "C", Points: 100}}, ""},
		{"no grade is not", []Candidate{{Selector: "#b", Points: 100}}, ""},
		{"too few points", []Candidate{{Selector: "#b", Grade: "A", Points: 84}}, ""},
		{"destructive", []Candidate{{Selector: "#b", Grade: "A", Points: 100, Destructive: true}}, ""},
		{"nothing", nil, ""},
	}
	for _, test := range tests {
		got := ""
		if c := Clear(test.of); c != nil {
			got = c.Selector
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if !slices.IsSortedFunc([]Candidate{a, {Points: 3}}, byPoints) {
		t.Error("more points come first")
	}
}

// What a control does by its name is told in many languages, however its letters are written.
func TestCommits(t *testing.T) {
	for _, name := range []string{"Send", "lo\u0308schen", "Book now", "Yes", "Ja, weiter", "Donate", "Veröffentlichen", "🗑️", "Xóa",
		"ยืนยันการสั่งซื้อ", "Satın al", "Megrendelés"} {
		if Commits(name) == "" {
			t.Errorf("%q does nothing", name)
		}
	}
	for _, name := range []string{"", "Books", "Yesterday", "January", "Believe", "Next", "Silver", "Transfers"} {
		if does := Commits(name); does != "" {
			t.Errorf("%q %s", name, does)
		}
	}
}
