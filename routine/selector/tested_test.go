package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTestedBy(t *testing.T) {
	for text, want := range map[string]Tested{
		"#a .b > c:first-child":                               {},
		"[hidden] a[ data-x ]":                                {},
		`input[value^="a"]`:                                   {Attributes: []string{"value"}},
		`a:not([ DATA-V $= b i ], [x|=y]):has(> [|Title*=z])`: {Attributes: []string{"data-v", "x", "title"}},
		`[*|href="a"][href='b'][svg|href~="c"][--x=d]`:        {Attributes: []string{"href", "--x"}},
		`[v\61lue^=a]`:                                        {Attributes: []string{"*"}},
		"#p:Valid":                                            {Values: true},
		"p::before, :is(x, :user-invalid)":                    {Values: true},
		`#p:val\69 d`:                                         {Values: true},
		`[title=":valid"]`:                                    {Attributes: []string{"title"}},
		`a[b`:                                                 {},
		`[b="a`:                                               {Attributes: []string{"b"}},
	} {
		if want.Attributes == nil {
			want.Attributes = []string{}
		}
		if diff := cmp.Diff(want, TestedBy(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
