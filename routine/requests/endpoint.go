package requests

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
)

// endpoint is the request of a fetch operation, with its fields in the order in which
// people read them.
type endpoint struct {
	URL         string            `json:"url"`
	Method      string            `json:"method"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        any               `json:"body,omitempty"`
	Credentials string            `json:"credentials,omitempty"`
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// refused is the error for a request that cannot be a fetch operation.
func refused(r *routine.Request, why string) error {
	return routine.Errorf(routine.CodeInvalid, "request %d cannot be a fetch operation: %s", r.Number, why)
}

// endpoint makes the request of a fetch operation, with each value replaced by what put
// returns for it.
func (t *tracer) endpoint(r *routine.Request, put func(leaf) template) (*endpoint, error) {
	switch {
	case r.BodyTruncated:
		return nil, refused(r, "its body was too large to be kept. Use the controls of the page")
	case !slices.Contains(methods, r.Method):
		return nil, refused(r, "its method is none of "+strings.Join(methods, ", "))
	case r.Kind == "eventsource" || contentKind(r.ContentType) == "events":
		return nil, refused(r, "it is an event stream, which does not end. Use the controls of the page")
	}
	address, err := t.address(r.URL, put)
	if err != nil {
		return nil, refused(r, err.Error())
	}
	e := &endpoint{URL: address, Method: r.Method, Headers: map[string]string{}}
	if !sameOrigin(r.URL, r.PageURL) && header(r, "cookie") != "" {
		e.Credentials = "include"
	}
	for _, name := range t.keptHeaders(r) {
		value := template{{text: r.Headers[name]}}
		if !strings.EqualFold(name, "accept") {
			value = put(leaf{inHeader, name, r.Headers[name], '"'})
		}
		if err := t.checkName(name); err != nil {
			return nil, refused(r, err.Error())
		}
		e.Headers[name] = value.write(nil)
	}
	if err := t.body(r, e, put); err != nil {
		return nil, refused(r, err.Error())
	}
	return e, nil
}

// address is a URL with its values replaced. Its fragment is left out.
func (t *tracer) address(from string, put func(leaf) template) (string, error) {
	u, err := url.Parse(from)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("its URL is none of http or https")
	}
	if t.mask.holds(u.Host) {
		return "", errors.New("its host contains a secret")
	}
	var b strings.Builder
	b.WriteString(u.Scheme + "://" + u.Host)
	for i, part := range strings.Split(u.EscapedPath(), "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		if part != "" {
			b.WriteString(inURL(part, put(leaf{inPath, "path", unescapePath(part), '"'}), url.PathEscape))
		}
	}
	for i, p := range splitQuery(u.RawQuery) {
		b.WriteByte("?&"[min(i, 1)])
		if t.mask.text(p.name) != p.name {
			return "", errSecretName
		}
		name, value, has := strings.Cut(p.raw, "=")
		b.WriteString(withoutBraces(name))
		if has {
			b.WriteString("=" + inURL(value, put(leaf{inQuery, p.name, p.value, '"'}), url.QueryEscape))
		}
	}
	return b.String(), nil
}

// inURL is a value as the URL has it: raw if it is still the same.
func inURL(raw string, value template, encoded func(string) string) string {
	if value == nil || value.isLiteral() {
		return withoutBraces(raw)
	}
	return value.write(encoded)
}

// withoutBraces encodes braces, which would be read as placeholders.
func withoutBraces(raw string) string {
	if !strings.Contains(raw, "{{") {
		return raw
	}
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(raw)
}

// browserHeaders are request headers that the browser sets itself, or that depend on what
// it has in its cache.
var browserHeaders = []string{"accept-charset", "accept-encoding", "accept-language", "access-control-request-headers",
	"access-control-request-method", "cache-control", "connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect",
	"host", "if-modified-since", "if-none-match", "keep-alive", "origin", "pragma", "priority", "purpose", "range", "referer", "te", "trailer",
	"transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent", "via", "x-client-data"}

// keptHeaders are the names of the headers that an operation needs, sorted.
func (t *tracer) keptHeaders(r *routine.Request) []string {
	var names []string
	for name, value := range r.Headers {
		low := strings.ToLower(name)
		switch {
		case slices.Contains(browserHeaders, low), strings.HasPrefix(low, "sec-"), strings.HasPrefix(low, "proxy-"), strings.HasPrefix(low, ":"):
		case low == "content-type": // comes with the body
		case low == "accept" && (value == "*/*" || value == "" || r.Kind == "document" || r.Kind == "form"):
		case r == t.out.Request && slices.ContainsFunc(t.from.WithoutHeaders, func(n string) bool { return strings.EqualFold(n, name) }):
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if r == t.out.Request {
		t.out.Optional = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.EqualFold(n, "accept") })
		t.out.Credentials = slices.DeleteFunc(slices.Clone(t.out.Optional), func(n string) bool { return !secretName(n) })
	}
	return names
}

const formBoundary = "----RoteFormBoundary7MA4YWxkTrZu0gW"

// body sets the body and the Content-Type of e.
func (t *tracer) body(r *routine.Request, e *endpoint, put func(leaf) template) error {
	contentType := header(r, "content-type")
	if r.Body == "" || r.Method == "GET" || r.Method == "HEAD" {
		return nil
	}
	if contentType != "" {
		e.Headers["Content-Type"] = contentType
	}
	if tree := bodyTree(r); tree != nil {
		return t.jsonBody(r, e, tree, put)
	}
	fields := formFields(r)
	switch kind := contentKind(contentType); {
	case kind == "form" && fields != nil:
		return t.formBody(e, fields, put)
	case kind == "multipart":
		fields, err := multipartFields(r)
		if errors.Is(err, errHasFiles) {
			return errors.New("it sends files. Use input_text with x-files, and click")
		}
		if err != nil {
			return errors.New("its form cannot be read. Use the controls of the page")
		}
		e.Headers["Content-Type"] = "multipart/form-data; boundary=" + formBoundary
		return t.multipartBody(e, fields, put)
	}
	e.Body = put(leaf{inText, "body", r.Body, '"'}).write(nil)
	return nil
}

// maxBodyDepth bounds the nesting of a body, because the text of a definition may not be
// nested deeper than 64 levels.
const maxBodyDepth = 50

// jsonBody sets a JSON body.
func (t *tracer) jsonBody(r *routine.Request, e *endpoint, tree *node, put func(leaf) template) error {
	if err := t.checkNames(tree, 0); err != nil {
		return err
	}
	numbers, texts := false, false // placeholders whose values have no quotes, and others
	body := tree.value("", func(name string, n *node) any {
		l := leaf{inJSON, name, n.text, n.kind}
		value := put(l)
		if !value.isLiteral() {
			numbers, texts = numbers || value[0].number, texts || !value[0].number && !value[0].typed
		}
		return value.jsonValue(l)
	})
	if len(tree.members) == 0 && len(tree.items) == 0 {
		e.Body = strings.TrimSpace(r.Body) // an empty object would mean no body
		return nil
	}
	e.Body = body
	if numbers && !texts {
		e.Body = bareNumbers(body)
	}
	return nil
}

// bareNumbers is a JSON body as a text in which placeholders have no quotes, so that their
// values are sent as numbers.
func bareNumbers(body any) string {
	text := string(encode(body))
	var b strings.Builder
	for {
		i := strings.Index(text, `"{{`)
		if i < 0 {
			return b.String() + text
		}
		end := i + strings.Index(text[i:], `}}"`)
		b.WriteString(text[:i] + text[i+1:end+2])
		text = text[end+3:]
	}
}

// checkNames returns an error if the names of members cannot be part of an operation.
func (t *tracer) checkNames(n *node, depth int) error {
	if depth > maxBodyDepth {
		return errors.New("its body is nested too deeply. Use the controls of the page")
	}
	for _, m := range n.members {
		if err := t.checkName(m.name); err != nil {
			return err
		}
		if err := t.checkNames(m.value, depth+1); err != nil {
			return err
		}
	}
	for _, item := range n.items {
		if err := t.checkNames(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

var errSecretName = errors.New("the name of a field contains a secret. Use the controls of the page")

func (t *tracer) checkName(name string) error {
	if t.mask.text(name) != name {
		return errSecretName
	}
	if hasBraces(name) {
		return errors.New("the name of a field has braces, which would be read as a placeholder. Use the controls of the page")
	}
	return nil
}

// formBody sets a body that is encoded as a URL's query. Fields of the same name become an
// array.
func (t *tracer) formBody(e *endpoint, fields []field, put func(leaf) template) error {
	body := map[string]any{}
	for _, f := range fields {
		if err := t.checkName(f.name); err != nil {
			return err
		}
		value := put(leaf{inForm, f.name, f.value, '"'}).write(nil)
		switch before := body[f.name].(type) {
		case nil:
			body[f.name] = value
		case []any:
			body[f.name] = append(before, value)
		default:
			body[f.name] = []any{before, value}
		}
	}
	e.Body = body
	return nil
}

// multipartBody sets a body of type multipart/form-data.
func (t *tracer) multipartBody(e *endpoint, fields []field, put func(leaf) template) error {
	var b strings.Builder
	for _, f := range fields {
		if err := t.checkName(f.name); err != nil {
			return err
		}
		name := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(f.name)
		b.WriteString("--" + formBoundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n")
		b.WriteString(put(leaf{inForm, f.name, f.value, '"'}).write(nil) + "\r\n")
	}
	b.WriteString("--" + formBoundary + "--\r\n")
	e.Body = b.String()
	return nil
}
