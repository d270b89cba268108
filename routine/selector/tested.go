package selector

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// Tested is what a selector compares with texts of its own.
type Tested struct {
	// Attributes are the names of the attributes, in lower case. "*" stands for any: a name that
	// is written with escapes is not resolved.
	Attributes []string `json:"attributes"`
	// Values reports whether it depends on what fields hold, as :valid does.
	Values bool `json:"values"`
}

// valueClasses are the pseudo-classes that depend on what a field holds.
var valueClasses = []string{"valid", "invalid", "user-valid", "user-invalid", "in-range", "out-of-range"}

// TestedBy returns what a selector compares with texts of its own, also inside :not() and the
// like. For a text that is no selector it returns what can be recognized.
func TestedBy(text string) Tested {
	p := &parser{text: text}
	p.split()
	t := Tested{Attributes: []string{}}
	name := ""
	for i, token := range p.tokens {
		switch {
		case token.TokenType == css.LeftBracketToken, token.TokenType == css.RightBracketToken:
			name = ""
		case token.TokenType == css.IdentToken && i > 0 && p.tokens[i-1].TokenType == css.ColonToken:
			t.Values = t.Values || strings.Contains(token.text, `\`) || slices.Contains(valueClasses, strings.ToLower(token.text))
		case token.TokenType == css.IdentToken, token.TokenType == css.CustomPropertyNameToken:
			name = token.text
		case name != "" && isMatcher(token):
			if name = strings.ToLower(name); strings.Contains(name, `\`) {
				name = "*"
			}
			if !slices.Contains(t.Attributes, name) {
				t.Attributes = append(t.Attributes, name)
			}
			name = ""
		}
	}
	return t
}
