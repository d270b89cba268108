package requests

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"rote/routine"
)

// field is one field of a form.
type field struct{ name, value string }

// formFields are the fields of a body that is a form, in order; nil if it is none.
func formFields(r *routine.Request) []field {
	if r.Body == "" || r.BodyTruncated {
		return nil
	}
	switch contentKind(header(r, "content-type")) {
	case "form":
		if first := routine.FirstByte([]byte(r.Body)); (first == '{' || first == '[') && parseJSON([]byte(r.Body)) != nil {
			return nil // a site that sends JSON under a type that needs no preflight
		}
		var all []field
		for _, p := range splitQuery(r.Body) {
			all = append(all, field{p.name, p.value})
		}
		return all
	case "multipart":
		all, err := multipartFields(r)
		if err != nil {
			return nil
		}
		return all
	}
	return nil
}

// maxFormFields bounds the fields of a form that are read.
const maxFormFields = 1000

var errHasFiles = errors.New("the form has files")

// multipartFields are the fields of a body of type multipart/form-data.
func multipartFields(r *routine.Request) ([]field, error) {
	_, params, err := mime.ParseMediaType(header(r, "content-type"))
	if err != nil {
		return nil, err
	}
	parts := multipart.NewReader(strings.NewReader(r.Body), params["boundary"])
	var all []field
	for len(all) < maxFormFields {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if part.FileName() != "" {
			return nil, errHasFiles
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		all = append(all, field{part.FormName(), string(value)})
	}
	return all, nil
}

// sentShape describes the body of a request without its values.
func sentShape(r *routine.Request, m *mask) string {
	if r.Body == "" {
		return ""
	}
	if g := graphQLOf(r); g != nil {
		shape := ""
		if g.name != "" {
			shape = shownName(m.text(g.name))
		}
		if g.variables != nil && len(g.variables.members) > 0 {
			shape += " " + shaper{m, true}.of([]*node{g.variables}, 0)
		}
		return strings.TrimSpace(shape)
	}
	if tree := bodyTree(r); tree != nil {
		return shaper{m, true}.of([]*node{tree}, 0)
	}
	fields := formFields(r)
	if fields == nil {
		return "(" + byteSize(int64(len(r.Body))) + " " + kindOr(contentKind(header(r, "content-type")), "text") + ")"
	}
	object := &node{kind: '{'}
	for _, f := range fields {
		kind := byte('"')
		if intForm.MatchString(f.value) {
			kind = '0'
		}
		object.members = append(object.members, member{f.name, &node{kind: kind, text: f.value}})
	}
	return "form " + shaper{m, false}.of([]*node{object}, 0)
}

func kindOr(kind, otherwise string) string {
	if kind == "" {
		return otherwise
	}
	return kind
}
