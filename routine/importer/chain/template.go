package chain

import "strings"

// template reads a string with expressions in it.
func (p *parser) template(t token, v Value) Value {
	opening := "${"
	if p.language != JavaScript {
		opening = "{"
	}
	v.Kind, v.Text = Template, t.text
	rest := t.text
	literal := func(part string) {
		if part != "" {
			v.Parts = append(v.Parts, Value{Kind: Text, Text: strings.ReplaceAll(part, "\x00", "")})
		}
	}
	for len(v.Parts) < 100 {
		before, after, found := strings.Cut(rest, opening)
		if strings.HasSuffix(before, "\x00") && found { // escaped
			literal(before + opening)
			rest = after
			continue
		}
		inner, following, closed := strings.Cut(after, "}")
		if !found || !closed {
			break
		}
		literal(before)
		sub := &parser{src: inner, tokens: lex(inner, p.language), language: p.language, depth: p.depth + 10}
		part := sub.whole(0, len(sub.tokens))
		part.Text = inner
		v.Parts = append(v.Parts, part)
		rest = following
	}
	literal(rest)
	return v
}
