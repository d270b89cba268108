package requests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

const (
	// maxSample bounds the sample of an answer, in bytes.
	maxSample = 1500
	// sampleItems is how many items of an array a sample has, sampleText how many
	// characters of a text.
	sampleItems = 2
	sampleText  = 100
)

// maxSampled bounds the texts of which [Sample] shows the beginning, in bytes. Longer ones
// take too long to examine.
const maxSampled = 8 << 20

// Sample is the beginning of a text that an operation returned or stored, in at most most
// bytes. It is like that of an answer: what has a secret name, what looks like a token and
// the given secrets are masked. It is empty for a text of more than 8 MiB.
func Sample(text []byte, secrets []string, most int) string {
	var inner string
	switch {
	case len(text) > maxSampled:
		return ""
	case routine.FirstByte(text) == '"' && json.Unmarshal(text, &inner) == nil:
		text = []byte(inner)
	}
	return truncateBytes(sample(&routine.Request{Answer: text}, newMask(secrets)), most)
}

// sample is the beginning of an answer with secrets masked: JSON with the first items of
// its arrays, or another text in quotes.
func sample(r *routine.Request, m *mask) string {
	if len(r.Answer) == 0 {
		return ""
	}
	tree := answerTree(r)
	if tree == nil {
		text := maskMarkup(m.text(string(r.Answer[:min(len(r.Answer), 64<<10)])))
		return truncateBytes(routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(text)), maxSample/2)), maxSample)
	}
	var b strings.Builder
	writeSample(&b, tree, false, m)
	return truncateBytes(b.String(), maxSample)
}

// writeSample writes a value. secret reports whether a member that holds it has a secret
// name.
func writeSample(b *strings.Builder, n *node, secret bool, m *mask) {
	if b.Len() > maxSample {
		return
	}
	switch n.kind {
	case '{':
		b.WriteByte('{')
		for i, x := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteName(m.text(x.name)) + ":")
			writeSample(b, x.value, secret || secretName(x.name), m)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if i == sampleItems {
				fmt.Fprintf(b, "… +%d", len(n.items)-i)
				break
			}
			writeSample(b, item, secret, m)
		}
		b.WriteByte(']')
	case '"':
		text := m.text(n.text)
		if secret && n.text != "" {
			text = routine.Masked
		}
		b.WriteString(routine.JSONText(routine.Truncate(routine.PlainText(text), sampleText)))
	case '0':
		if secret || m.text(n.text) != n.text {
			b.WriteString(routine.JSONText(routine.Masked))
			return
		}
		b.WriteString(n.text)
	default:
		b.WriteString(n.text)
	}
}

var (
	markupTag   = regexp.MustCompile(`<[^>]*>`)
	markupValue = regexp.MustCompile(`(?i)\b(value|content)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)`)
	markupName  = regexp.MustCompile(`(?i)\b(?:name|id|property)\s*=\s*["']?([^"'\s>]+)`)
)

// maskMarkup masks the values of the fields and meta elements of HTML that have a secret
// name.
func maskMarkup(text string) string {
	return markupTag.ReplaceAllStringFunc(text, func(tag string) string {
		for _, name := range markupName.FindAllStringSubmatch(tag, -1) {
			if secretName(name[1]) {
				return markupValue.ReplaceAllString(tag, `$1="`+routine.Masked+`"`)
			}
		}
		return tag
	})
}

// truncateBytes returns the beginning of s in at most most bytes.
func truncateBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
