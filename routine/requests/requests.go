// Package requests describes the requests that a page has made and turns one of them into
// fetch operations. It knows neither a browser nor a store: it works on a
// [routine.RequestLog] and on what the page held when the requests were made.
//
// The texts of a log contain secrets. What this package returns does not, except
// [Traced.Values], which only a run may see.
package requests

import (
	"encoding/json"
	"mime"
	"regexp"
	"strings"

	"rote/routine"
)

// Safe reports whether sending the request again changes nothing on the site, as far as
// the request tells: its method is GET, HEAD or OPTIONS, or its body is a GraphQL query.
func Safe(r *routine.Request) bool {
	switch r.Method {
	case "GET", "HEAD", "OPTIONS":
		return true
	}
	g := graphQLOf(r)
	return g != nil && g.query
}

// contentKind is the kind of a body, by its content type: json, html, csv, xml, form,
// multipart, events or text; empty if there is no content type.
func contentKind(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	switch {
	case kind == "":
		return ""
	case strings.HasSuffix(kind, "json"):
		return "json"
	case kind == "application/x-www-form-urlencoded":
		return "form"
	case kind == "multipart/form-data":
		return "multipart"
	case kind == "text/event-stream":
		return "events"
	case strings.Contains(kind, "html"):
		return "html"
	case strings.HasSuffix(kind, "csv"):
		return "csv"
	case strings.HasSuffix(kind, "xml"):
		return "xml"
	}
	return "text"
}

// header returns the value of a request header, whatever the case of its name.
func header(r *routine.Request, name string) string {
	for n, value := range r.Headers {
		if strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// answerTree is the answer of a request as JSON; nil if it is not JSON or not kept.
func answerTree(r *routine.Request) *node {
	if len(r.Answer) == 0 || r.AnswerLost {
		return nil
	}
	if first := routine.FirstByte(r.Answer); first != '{' && first != '[' && contentKind(r.ContentType) != "json" {
		return nil
	}
	return parseJSON(r.Answer)
}

// bodyTree is the body that was sent as JSON; nil if it is not JSON.
func bodyTree(r *routine.Request) *node {
	if r.Body == "" || r.BodyTruncated {
		return nil
	}
	switch kind := contentKind(header(r, "content-type")); kind {
	case "form", "multipart":
		return nil
	}
	if first := routine.FirstByte([]byte(r.Body)); first != '{' && first != '[' {
		return nil
	}
	return parseJSON([]byte(r.Body))
}

// graphQL is what is known of a GraphQL request.
type graphQL struct {
	// name is the operationName; empty if there is none.
	name      string
	variables *node
	// query reports whether it only queries. persisted reports whether only the hash of
	// its text was sent.
	query, persisted bool
}

var (
	graphQLComment = regexp.MustCompile(`#[^\n]*`)
	graphQLText    = regexp.MustCompile(`"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"`)
	graphQLStart   = regexp.MustCompile(`^\s*(?:query\b|fragment\b|\{)`)
	graphQLChange  = regexp.MustCompile(`\b(?:mutation|subscription)\b`)
	graphQLName    = regexp.MustCompile(`\b(?:query|mutation|subscription)\s+([A-Za-z_][A-Za-z0-9_]*)`)
)

// graphQLOf describes a GraphQL request with a JSON body; nil if it is none.
func graphQLOf(r *routine.Request) *graphQL {
	if !strings.Contains(r.Body, `"query"`) && !strings.Contains(r.Body, `"persistedQuery"`) {
		return nil
	}
	body := bodyTree(r)
	if body == nil {
		return nil
	}
	if body.kind != '[' {
		return graphQLIn(body)
	}
	var all *graphQL // of a batch: a query if all are
	for _, item := range body.items {
		g := graphQLIn(item)
		if g == nil {
			return nil
		}
		if all != nil {
			g.query = g.query && all.query
			g.name, g.variables = all.name, all.variables
		}
		all = g
	}
	return all
}

func graphQLIn(body *node) *graphQL {
	text, persisted := body.member("query"), body.member("extensions").member("persistedQuery")
	if body.kind != '{' || (text == nil || text.kind != '"') && persisted == nil {
		return nil
	}
	g := &graphQL{variables: body.member("variables"), persisted: text == nil}
	if name := body.member("operationName"); name != nil && name.kind == '"' {
		g.name = name.text
	}
	if text == nil {
		return g
	}
	plain := graphQLText.ReplaceAllString(graphQLComment.ReplaceAllString(text.text, ""), `""`)
	if !graphQLStart.MatchString(plain) && !graphQLChange.MatchString(plain) {
		return nil // a field of the site's own that is named query
	}
	g.query = graphQLStart.MatchString(plain) && !graphQLChange.MatchString(plain)
	if named := graphQLName.FindStringSubmatch(plain); g.name == "" && named != nil {
		g.name = named[1]
	}
	return g
}

// encode returns v as JSON with <, > and & as they are. v has a JSON.
func encode(v any) json.RawMessage { return routine.RawJSON(v) }
