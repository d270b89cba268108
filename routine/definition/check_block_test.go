package definition

import (
	"slices"
	"strings"
	"testing"
)

// x-block is a list of types at the top of a routine, and nowhere else.
func TestBlockIsChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, top, operation string
		block                []string
		want                 string // "pointer code: message (hint)" of the only problem or warning; empty: none
	}{
		{"left out", ``, ``, nil, ``},
		{"all types", `"x-block":["image","font","media"],`, ``, []string{"image", "font", "media"}, ``},
		{"one", `"x-block":["font"],`, ``, []string{"font"}, ``},
		{"none", `"x-block":[],`, ``, nil, ``},
		{"a type that pages need", `"x-block":["image","stylesheet"],`, ``, nil,
			`/x-block/1 enum: must be one of image, font, media, not "stylesheet"`},
		{"a plural", `"x-block":["images"],`, ``, nil, `/x-block/0 enum: must be one of image, font, media, not "images" (did you mean "image"?)`},
		{"a text", `"x-block":"image",`, ``, nil, `/x-block type: must be an array, not "image" (write a list, as in ["image"])`},
		{"a truth value", `"x-block":true,`, ``, nil, `/x-block type: must be an array, not true`},
		{"a placeholder", `"x-block":["{{kind}}"],`, ``, nil, `/x-block/0 enum: must be one of image, font, media, not "{{kind}}"`},
		{"on an operation", ``, `,"x-block":["image"]`, nil,
			`/operations/0/x-block misplaced_field: navigate has no field "x-block" (it belongs to the routine itself)`},
		{"a misspelt name", `"x-blocks":["image"],`, ``, nil,
			`/x-blocks unknown_field: a routine has no field "x-blocks": it is ignored (did you mean "x-block"?)`},
		{"an author's own field", `"x-author":"ann",`, ``, nil, `/x-author unknown_field: a routine has no field "x-author": it is ignored ` +
			`(put it into an operation, a parameter or an endpoint, where fields that begin with x- are kept)`},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, warnings, err := Parse([]byte(`{"name":"n","description":"d",` + row.top + `
				"operations":[{"type":"navigate","url":"https://a.example"` + row.operation + `},{"type":"return_html"}]}`))
			var got []string
			for _, p := range append(errorProblems(err), warnings...) {
				text := p.Pointer + " " + p.Code + ": " + p.Message
				if p.Hint != "" {
					text += " (" + p.Hint + ")"
				}
				got = append(got, text)
			}
			if all := strings.Join(got, "\n"); all != row.want {
				t.Errorf("got  %q\nwant %q", all, row.want)
			}
			if err == nil && !slices.Equal(d.Block, row.block) {
				t.Errorf("blocked are %q, want %q", d.Block, row.block)
			}
		})
	}
}

// A patch sets, changes and removes x-block, and leaves it alone if it does not name it.
func TestBlockIsPatched(t *testing.T) {
	t.Parallel()
	const rest = `"name":"n","description":"d","operations":[{"type":"return_html"}]}`
	for _, row := range []struct {
		was, patch string
		want       []string
	}{
		{``, `{"x-block":["font"]}`, []string{"font"}},
		{`"x-block":["image"],`, `{"x-block":["font"]}`, []string{"font"}},
		{`"x-block":["image"],`, `{"description":"e"}`, []string{"image"}},
		{`"x-block":["image"],`, `{"x-block":null}`, nil},
		{`"x-block":["image"],`, `{"x-block":[]}`, nil},
		{``, `{"x-block":null}`, nil},
	} {
		was, _, err := Parse([]byte(`{` + row.was + rest))
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := Merge(was, []byte(row.patch))
		if err != nil {
			t.Fatalf("%s with %s: %v", row.was, row.patch, err)
		}
		if !slices.Equal(m.Definition.Block, row.want) {
			t.Errorf("%s with %s blocks %q, want %q", row.was, row.patch, m.Definition.Block, row.want)
		}
	}
}
