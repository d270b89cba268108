package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/definition"
)

const (
	// fieldPrefix begins the names of the fields with values of parameters.
	fieldPrefix = "p."
	// maxRadios is up to how many choices are shown as radio buttons.
	maxRadios = 5
	// longText is the max_length from which a text gets several lines.
	longText = 200
)

// control is the field of the form for one parameter.
type control struct {
	*routine.Parameter
	// ID is that of the element; the ids of its hint and of its problems begin with it.
	ID string
	// Kind is text, textarea, select, radios, password, file or date.
	Kind string
	// InputMode is the keyboard that a phone shows.
	InputMode string
	Value     string
	// NotGiven says what an empty field means; empty: a value is needed.
	NotGiven string
	// Placeholder is the default value, which is not sent.
	Placeholder string
	Choices     []formChoice
	Examples    []string
	Hints       []string
	Problems    []string
}

// formChoice is a value of a select or of radio buttons.
type formChoice struct{ Value, Text string }

// Hint says what the field is for, which rules its value has, and what an empty field means.
func (c *control) Hint() string {
	var parts []string
	if c.Description != "" {
		parts = append(parts, routine.PlainText(c.Description))
	}
	parts = append(parts, c.Hints...)
	if c.NotGiven != "" {
		parts = append(parts, "if empty: "+c.NotGiven)
	}
	return strings.Join(parts, " · ")
}

// FieldName returns the name under which the value is sent.
func (c *control) FieldName() string { return fieldPrefix + c.Name }

// newControls returns the fields for the parameters of a routine, without values.
func newControls(parameters []routine.Parameter) ([]*control, error) {
	var controls []*control
	_, err := definition.ParametersSchema(parameters, func(p *routine.Parameter, s *definition.Schema) {
		c := &control{Parameter: p, ID: "p" + strconv.Itoa(len(controls)), Hints: hintsOf(p, s)}
		if len(s.Default) > 0 {
			c.Placeholder = valueText(s.Default)
		}
		c.NotGiven = c.meaningOfNothing()
		for _, e := range s.Examples {
			c.Examples = append(c.Examples, valueText(e))
		}
		c.choose(s)
		controls = append(controls, c)
	})
	if err != nil {
		return nil, routine.Internal("form of the parameters", err)
	}
	return controls, nil
}

// hintsOf returns the rules of a value in words.
func hintsOf(p *routine.Parameter, s *definition.Schema) []string {
	var hints []string
	bounds := func(low, high, unit string) {
		switch {
		case low != "" && high != "":
			hints = append(hints, low+"–"+high+unit)
		case low != "":
			hints = append(hints, "at least "+low+unit)
		case high != "":
			hints = append(hints, "at most "+high+unit)
		}
	}
	length := func(n *int) string {
		if n == nil {
			return ""
		}
		return strconv.Itoa(*n)
	}
	bounds(length(s.MinLength), length(s.MaxLength), " characters")
	bounds(s.Minimum.String(), s.Maximum.String(), "")
	if s.Pattern != "" {
		hints = append(hints, "matches "+s.Pattern)
	}
	if p.Type == routine.TypeInteger {
		hints = append(hints, "a whole number")
	}
	return append(hints, s.Notes...)
}

// meaningOfNothing says what a run does if the field stays empty.
func (c *control) meaningOfNothing() string {
	switch {
	case c.Needed():
		return ""
	case c.FromSecret != "":
		return "the stored secret " + c.FromSecret
	case c.Placeholder != "":
		return "default: " + c.Placeholder
	case c.Default != nil:
		return "the default"
	}
	return "not given"
}

// choose sets the kind of the field and its choices.
func (c *control) choose(s *definition.Schema) {
	enum := c.Enum()
	c.Kind = "text"
	switch {
	case c.Type == routine.TypeFiles:
		c.Kind = "file"
	case c.Secret:
		c.Kind = "password"
	case c.Type == routine.TypeBoolean:
		c.Kind, c.Choices = "select", []formChoice{{"true", "yes"}, {"false", "no"}}
	case len(enum) > 0:
		c.Kind = "select"
		if len(enum) <= maxRadios {
			c.Kind = "radios"
		}
		for _, value := range enum {
			c.Choices = append(c.Choices, formChoice{value, value})
		}
	case s.Format == "date":
		c.Kind = "date"
	case c.Type == routine.TypeString && s.MaxLength != nil && *s.MaxLength >= longText, strings.Contains(c.Placeholder, "\n"):
		c.Kind = "textarea"
	case c.Type == routine.TypeInteger, c.Type == routine.TypeNumber:
		c.InputMode = "decimal" // an input of type number would change digits
	case c.Type == routine.TypeEmail:
		c.InputMode = "email"
	case c.Type == routine.TypeURL:
		c.InputMode = "url"
	}
}

// fill sets the value that the field shows. A secret is never shown. A text that the kind of
// field cannot hold makes it a field that can.
func (c *control) fill(value string) {
	switch {
	case c.Kind == "password" || c.Kind == "file":
		return
	case c.Kind == "date" && len(value) != len("2006-01-02"):
		c.Kind = "text"
	case c.Kind == "text" && strings.Contains(value, "\n"):
		c.Kind = "textarea"
	case len(c.Choices) > 0 && value != "" && !slices.ContainsFunc(c.Choices, func(o formChoice) bool { return o.Value == value }):
		c.Choices = append(c.Choices, formChoice{value, value + " (not a choice)"})
	}
	c.Value = value
}

// encode returns the JSON of a text from the field; nil if it is empty, which means not given.
func (c *control) encode(text string) json.RawMessage {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if text == "" {
		return nil
	}
	if at := slices.Index(c.Enum(), text); at >= 0 {
		return c.Rules().EnumValues[at]
	}
	switch c.Type {
	case routine.TypeBoolean:
		if text == "true" || text == "false" {
			return json.RawMessage(text)
		}
	case routine.TypeInteger, routine.TypeNumber:
		if text = strings.TrimSpace(text); routine.IsNumber(text) {
			return json.RawMessage(text)
		}
	}
	return routine.RawJSON(text)
}

// encodeFiles returns uploaded files as the JSON of a value; nil if there are none.
func encodeFiles(uploads []*multipart.FileHeader) (json.RawMessage, error) {
	type file struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Base64 string `json:"base64"`
	}
	var files []file
	for _, upload := range uploads {
		content, err := upload.Open()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", upload.Filename, err)
		}
		data, err := io.ReadAll(content)
		_ = content.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", upload.Filename, err)
		}
		kind := upload.Header.Get("Content-Type")
		if kind == "" {
			kind = "application/octet-stream"
		}
		files = append(files, file{upload.Filename, kind, base64.StdEncoding.EncodeToString(data)})
	}
	if len(files) == 0 {
		return nil, nil
	}
	return routine.RawJSON(files), nil
}

// valueText returns a JSON value as the text of a field: a string without its quotes, and
// anything else as it is written, so that numbers keep their digits.
func valueText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && routine.FirstByte(raw) == '"' {
		return text
	}
	return string(raw)
}

// prefill sets the fields from the query of a link, as in ?query=lamp. The name can have the
// prefix of the field, which one needs for parameters that are named like other parts of the
// query.
func prefill(controls []*control, query url.Values) {
	for _, c := range controls {
		switch {
		case query.Has(c.FieldName()):
			c.fill(query.Get(c.FieldName()))
		case query.Has(c.Name) && !slices.Contains(ownQuery, c.Name):
			c.fill(query.Get(c.Name))
		}
	}
}

// ownQuery are the parts of a routine page's query that have another meaning.
var ownQuery = []string{"from", "done", "to"}
