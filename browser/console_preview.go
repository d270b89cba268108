package browser

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

const (
	// maxPreviewed bounds the text of one value, in characters.
	maxPreviewed = 300
	// maxThrown bounds the text of one exception, in characters.
	maxThrown = 2000
)

// exceptionText returns a text for the thrown value, without its stack.
func exceptionText(x cdp.ExceptionDetails) string {
	text := cmp.Or(previewed(x.Exception.Preview), x.Exception.Description)
	if text == "" {
		text = strings.TrimSpace(x.Text + " " + string(x.Exception.Value))
	}
	return withoutStack(text)
}

// withoutStack is the description of an exception on one line, without its stack. The
// message is not shortened, because masking would not recognise half of a secret.
func withoutStack(description string) string {
	message, _, _ := strings.Cut(description, "\n    at ")
	return routine.Truncate(strings.Join(strings.Fields(message), " "), maxThrown)
}

// previewed formats an object like a console, such as {code: 5}. V8 has read its first
// properties without calling any code of the page. It is empty for objects whose
// description is better: errors, elements, functions, dates.
func previewed(p *proto.RuntimeObjectPreview) string {
	if p == nil {
		return ""
	}
	var parts []string
	for _, e := range p.Entries {
		text := nested(e.Value)
		if e.Key != nil {
			text = nested(e.Key) + " => " + text
		}
		parts = append(parts, text)
	}
	list := p.Subtype == proto.RuntimeObjectPreviewSubtypeArray || p.Subtype == proto.RuntimeObjectPreviewSubtypeTypedarray
	switch {
	case list, p.Subtype == "" && p.Type == proto.RuntimeObjectPreviewTypeObject:
		for _, x := range p.Properties {
			text := valueOf(x)
			if _, err := strconv.Atoi(x.Name); err != nil || !list {
				text = x.Name + ": " + text
			}
			parts = append(parts, text)
		}
	case p.Entries == nil:
		return ""
	}
	if p.Overflow {
		parts = append(parts, "…")
	}
	text := "{" + strings.Join(parts, ", ") + "}"
	if list {
		text = "[" + strings.Join(parts, ", ") + "]"
	} else if p.Description != "Object" {
		text = p.Description + " " + text
	}
	return routine.Truncate(text, maxPreviewed)
}

// nested formats a value that is inside another one.
func nested(p *proto.RuntimeObjectPreview) string {
	if p == nil {
		return ""
	}
	if p.Type == proto.RuntimeObjectPreviewTypeString {
		return strconv.Quote(p.Description)
	}
	return p.Description
}

// valueOf formats the value of a property; of an object only its kind.
func valueOf(x *proto.RuntimePropertyPreview) string {
	switch {
	case x.Type == proto.RuntimePropertyPreviewTypeString:
		return strconv.Quote(x.Value)
	case x.Value == "":
		return string(x.Type)
	}
	return x.Value
}
