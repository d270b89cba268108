package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// endpoint is the request of fetch and download.
type endpoint struct {
	URL         string         `json:"url" fill:"url"`
	Method      string         `json:"method"`
	Headers     map[string]any `json:"headers" fill:"header"`
	Body        any            `json:"body" fill:"value"`
	Credentials string         `json:"credentials"`
	Description string         `json:"description"`
}

func newEndpoint() endpoint { return endpoint{Method: "GET", Credentials: "same-origin"} }

// UnmarshalJSON keeps the digits of numbers.
func (e *endpoint) UnmarshalJSON(text []byte) error {
	type plain endpoint
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*plain)(e))
}

func (e *endpoint) checkCost() int { return headerEffort * len(e.Headers) }

func (e *endpoint) check() []routine.Problem {
	var problems []routine.Problem
	if _, has := e.body(); has && (e.Method == "GET" || e.Method == "HEAD") {
		problems = append(problems, routine.Problem{Pointer: "/endpoint/body", Code: "body_not_allowed",
			Message: fmt.Sprintf("a %s request has no body: use another method or remove body", e.Method)})
	}
	written := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		p := routine.Problem{Pointer: "/endpoint/headers/" + routine.EscapePointer(name), Code: "header_name"}
		lower := strings.ToLower(name)
		if first, twice := written[lower]; twice {
			p.Message = fmt.Sprintf("the header stands here twice, as %q too: keep one", first)
			problems = append(problems, p)
		}
		written[lower] = name
		if !validHeaderName(name) {
			p.Message = fmt.Sprintf("%q is no header name: use letters, digits and !#$%%&'*+-.^_`|~", routine.Truncate(name, 60))
			problems = append(problems, p)
		}
	}
	return problems
}

// validHeaderName reports whether name is a token of RFC 9110, section 5.6.2.
func validHeaderName(name string) bool {
	for _, c := range []byte(name) {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// body returns the body to send; false if there is none. Null and an empty object mean
// no body.
func (e *endpoint) body() (any, bool) {
	if object, ok := e.Body.(map[string]any); ok && len(object) == 0 {
		return nil, false
	}
	return e.Body, e.Body != nil
}

// fetch returns the request to make. The user name and password of the URL become an
// Authorization header, because browsers refuse to fetch a URL that has them.
func (e *endpoint) fetch() routine.Fetch {
	f := routine.Fetch{URL: routine.WithoutUser(e.URL), Method: e.Method, Credentials: e.Credentials, Headers: map[string]string{}}
	contentType, authorized := "", false
	for name, v := range e.Headers {
		if v == nil {
			continue
		}
		f.Headers[name] = placeholder.Format(v)
		if strings.EqualFold(name, "content-type") {
			contentType = strings.ToLower(f.Headers[name])
		}
		authorized = authorized || strings.EqualFold(name, "authorization")
	}
	if basic := routine.BasicCredentials(e.URL); basic != "" && !authorized {
		f.Headers["authorization"] = basic
	}
	body, has := e.body()
	if !has {
		return f
	}
	object, isObject := body.(map[string]any)
	text, isText := body.(string)
	switch {
	case isText:
	case isObject && strings.HasPrefix(contentType, "application/x-www-form-urlencoded"):
		text = formEncode(object)
	default:
		text = routine.JSONText(body)
		if contentType == "" {
			f.Headers["content-type"] = "application/json"
		}
	}
	f.Body = &text
	return f
}

// formEncode encodes an object as a form. An array becomes one field for each item, so
// that {"a":["x","y"]} becomes a=x&a=y.
func formEncode(body map[string]any) string {
	form := url.Values{}
	for k, v := range body {
		if list, ok := v.([]any); ok {
			for _, e := range list {
				form.Add(k, placeholder.Format(e))
			}
			continue
		}
		form.Set(k, placeholder.Format(v))
	}
	return form.Encode()
}

func (e *endpoint) warnings() []routine.Problem {
	var problems []routine.Problem
	if message, hint := doubtfulRequestURL(e.URL); message != "" {
		problems = append(problems, routine.Problem{Pointer: "/endpoint/url", Code: "url", Message: message, Hint: hint})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if text, ok := e.Headers[name].(string); ok && !placeholder.FitsHeader(text) {
			problems = append(problems, routine.Problem{Pointer: "/endpoint/headers/" + routine.EscapePointer(name), Code: "header_value",
				Message: "a browser sends no header with characters beyond U+00FF: the run will fail here", Hint: "encode them"})
		}
	}
	return problems
}
