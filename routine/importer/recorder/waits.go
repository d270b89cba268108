package recorder

import (
	"fmt"
	"slices"
	"strings"

	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
)

func (r *reader) waitForElement(s *jsontree.Value) {
	l := locate(s)
	count, operator := s.Get("count"), s.Get("operator").String()
	if !slices.Contains([]string{"==", ">=", "<="}, operator) {
		operator = ">="
	}
	n := 1
	if count.Kind == jsontree.Number {
		n = int(min(max(count.Float(), 0), 1e6))
	}
	plain := operator == ">=" && n == 1 && !s.Get("visible").IsFalse() && !s.Has("attributes") && !s.Has("properties")
	if plain {
		r.d.WaitVisible(l, s.Get("timeout").Float())
		return
	}
	filters := r.visibility(s) + members(s.Get("attributes"), func(name string) string { return "e.getAttribute(" + draft.Literal(name) + ")" }) +
		members(s.Get("properties"), func(name string) string { return "e[" + draft.Literal(name) + "]" })
	if operator == "==" {
		operator = "==="
	}
	r.d.Assert(l, draft.Check{Found: "list.filter(e=>true" + filters + ").length", Holds: fmt.Sprintf("found%s%d", operator, n),
		Expected: fmt.Sprintf("the number of elements %s %d", operator, n), Wait: s.Get("timeout").Float()})
	r.d.Change("assert_script", "a script waits for it")
	if properties := s.Get("properties"); properties.Has("textContent") || properties.Has("innerText") {
		r.d.TextChecked(l)
	}
}

// visibility is the condition of a wait on whether the element e can be seen.
func (r *reader) visibility(s *jsontree.Value) string {
	switch visible := s.Get("visible"); {
	case visible.IsTrue():
		return "&&visible(e)"
	case visible.IsFalse():
		return "&&!visible(e)"
	}
	return ""
}

// members is the condition that attributes or properties of e have certain values.
func members(values *jsontree.Value, read func(name string) string) string {
	var b strings.Builder
	for _, f := range values.Fields {
		want := draft.Literal(f.Value.String())
		switch f.Value.Kind {
		case jsontree.Object, jsontree.Array, jsontree.Null:
			fmt.Fprintf(&b, "&&JSON.stringify(%s)===%s", read(f.Name), draft.Literal(f.Value.JSON()))
		default:
			fmt.Fprintf(&b, "&&String(%s)===%s", read(f.Name), want)
		}
	}
	return b.String()
}

func (r *reader) waitForExpression(s *jsontree.Value) {
	expression := strings.TrimRight(strings.TrimSpace(s.Get("expression").String()), "; \n")
	wait := s.Get("timeout").Float()
	if wait <= 0 {
		wait = 5000
	}
	r.d.Foreign(fmt.Sprintf(`(async()=>{
for(const end=Date.now()+%d;;await new Promise(r=>setTimeout(r,50))){
if(await(%s
))return;
if(Date.now()>end)throw Error("the expression did not become true");
}
})()`, int(min(wait, 9500)), expression), "")
}
