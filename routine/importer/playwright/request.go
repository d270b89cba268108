package playwright

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// methods are the calls that send a request, and their methods.
var methods = map[string]string{"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "head": "HEAD"}

// request sends a request of the script's own.
func (r *reader) request(m chain.Member) (object, bool) {
	method := methods[m.Name]
	if m.Name == "fetch" {
		method, _ = r.text(option(m, "method"))
		method = cmp.Or(method, "GET")
	}
	if method == "" || !m.Called {
		return object{}, false
	}
	if !r.begin(m) {
		return object{}, true
	}
	raw, _ := r.text(argument(m, 0))
	if base := strings.TrimRight(r.base, "/"); base != "" && !strings.Contains(raw, ":") {
		raw = base + "/" + strings.TrimLeft(raw, "/")
	}
	address, ok := r.d.URL(raw)
	if !ok {
		r.d.Drop("url", "the script does not say the URL")
		return object{}, true
	}
	e := &draft.Endpoint{URL: address, Method: method, Credentials: "same-origin"}
	if v := option(m, "params"); v != nil {
		for _, f := range v.Fields {
			joint := "?"
			if strings.Contains(e.URL, "?") {
				joint = "&"
			}
			e.URL += joint + url.QueryEscape(f.Name) + "=" + r.member(f, url.QueryEscape)
		}
	}
	if v := option(m, "headers"); v != nil {
		e.Headers = map[string]string{}
		for _, f := range v.Fields {
			e.Headers[f.Name] = r.member(f, func(s string) string { return s })
		}
	}
	if v := option(m, "data"); v != nil {
		e.Body = r.body(v, 0)
	}
	if v := option(m, "form"); v != nil && v.Kind == chain.Object {
		e.Body = r.body(v, 0)
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		if e.Headers["Content-Type"] == "" {
			e.Headers["Content-Type"] = "application/x-www-form-urlencoded"
		}
	} else if v != nil || option(m, "multipart") != nil {
		r.d.Drop("multipart", "the form that is sent is not carried")
		return object{}, true
	}
	key := r.newKey()
	r.d.Add(draft.Operation{Type: "fetch", Endpoint: e, StorageKey: key})
	r.key = key
	return object{kind: kept, key: key}, true
}

// member returns the value of a header or of a field of a query.
func (r *reader) member(f chain.Field, escape func(string) string) string {
	s, literal := r.text(&f.Value)
	switch {
	case literal && draft.IsSecret(f.Name, s):
		r.d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", draft.Shown(f.Name))
		return r.d.Parameter(f.Name, s, true)
	case literal:
		return escape(r.d.Literal(f.Name, s))
	}
	return s
}

// body returns the body of a request as JSON.
func (r *reader) body(v *chain.Value, depth int) json.RawMessage {
	switch {
	case depth > 20:
	case v.Kind == chain.Object:
		object := map[string]json.RawMessage{}
		for _, f := range v.Fields {
			if f.Value.Kind == chain.Object || f.Value.Kind == chain.List || f.Value.Kind == chain.Number ||
				f.Value.Is("true") || f.Value.Is("false") || f.Value.Is("null") {
				object[f.Name] = r.body(&f.Value, depth+1)
				continue
			}
			object[f.Name] = routine.RawJSON(r.member(f, func(s string) string { return s }))
		}
		return routine.RawJSON(object)
	case v.Kind == chain.List:
		list := []json.RawMessage{}
		for i := range v.Parts {
			list = append(list, r.body(&v.Parts[i], depth+1))
		}
		return routine.RawJSON(list)
	case v.Kind == chain.Number && json.Valid([]byte(v.Text)):
		return json.RawMessage(v.Text)
	case v.Is("true"), v.Is("false"), v.Is("null"):
		return json.RawMessage(strings.ToLower(v.Calls.Base))
	}
	s, literal := r.text(v)
	if literal {
		s = r.d.Literal("body", s)
	}
	return routine.RawJSON(s)
}
