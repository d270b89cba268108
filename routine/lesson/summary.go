package lesson

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// maxSummary bounds the summary of an operation, in characters.
const maxSummary = 60

// subject is what the operation acts on, as it was written: a selector, a URL, a key.
func (k *keptOperation) subject() string {
	text := strings.TrimSpace(strings.TrimPrefix(k.describe(), k.operation.Type()))
	return routine.Truncate(routine.OneLine(text), 150)
}

// describe is the operation in a few words, as in: click #go.
func (k *keptOperation) describe() string { return cmp.Or(k.text, operation.Describe(k.operation)) }

// givenSelector is the selector of the operation as the author wrote it, if a better one could
// be of use: the author chose none for a text form, and one with placeholders holds for other
// values, too.
func (k *keptOperation) givenSelector() string {
	var o struct{ Selector string }
	_ = json.Unmarshal(k.operation.Raw(), &o) // an operation is well-formed
	if o.Selector == operation.MarkSelector || operation.HasToken(o.Selector) {
		return ""
	}
	return o.Selector
}

// summary is one short line about the operation, as in: input_text "Customer number".
func (k *keptOperation) summary() string {
	typ := k.operation.Type()
	if operation.IsTextForm(k.operation) {
		return routine.OneLine(k.describe())
	}
	if k.element != nil && k.element.Target.Name != "" {
		return typ + " " + routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(k.element.Target.Name)), maxSummary))
	}
	subject := strings.TrimPrefix(k.describe(), typ)
	var o struct {
		URL      string `json:"url"`
		Key      string `json:"key"`
		Stored   string `json:"session_storage_key"`
		Endpoint struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"endpoint"`
	}
	if json.Unmarshal(k.operation.Raw(), &o) == nil {
		switch {
		case o.URL != "":
			subject = shortURL(o.URL)
		case o.Endpoint.URL != "":
			subject = o.Endpoint.Method + " " + shortURL(o.Endpoint.URL)
		case o.Key != "":
			subject = o.Key
		case subject == "" && o.Stored != "":
			subject = "→ " + o.Stored
		}
	}
	return strings.TrimSpace(typ + " " + routine.Truncate(routine.OneLine(strings.TrimSpace(subject)), maxSummary))
}

// shortURL is the path and the query of a URL, or all of it if it has no path.
func shortURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	_, path, ok := strings.Cut(text[strings.Index(text, "//")+2:], "/")
	if !ok {
		return text
	}
	return "/" + path
}
