package httpapi

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// maxShownName bounds the name of a parameter in an error, in bytes.
const maxShownName = 64

// page is one part of a list.
type page[T any] struct {
	Items  []T `json:"items"`
	Total  int `json:"total"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// answerPage answers with a part of a list, and with links to the parts around
// it (RFC 8288).
func answerPage[T any](q *request, items []T, total, limit, offset int) answer {
	var links []string
	link := func(rel string, offset int) {
		u := url.URL{Path: q.URL.Path}
		values := q.URL.Query()
		values.Set("limit", strconv.Itoa(limit))
		values.Set("offset", strconv.Itoa(offset))
		u.RawQuery = values.Encode()
		links = append(links, fmt.Sprintf("<%s>; rel=%q", u.RequestURI(), rel))
	}
	if offset > 0 {
		link("first", 0)
		link("prev", max(0, min(offset-limit, (total-1)/limit*limit))) // from beyond the end to the last part
	}
	if offset < total-limit {
		link("next", offset+limit)
	}
	if len(links) > 0 {
		q.w.Header().Set("Link", strings.Join(links, ", "))
	}
	return answer{status: http.StatusOK, body: page[T]{orNone(items), total, limit, offset}}
}

// query reads the parameters of a URL, with all their faults at once.
type query struct {
	values   url.Values
	known    []string // the parameters that were asked for
	problems []routine.Problem
}

func queryOf(u *url.URL) (*query, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the query of the URL cannot be read: percent-encode its values")
	}
	return &query{values: values}, nil
}

// get is the value of a parameter, which is known from then on.
func (q *query) get(name string) (value string, given bool) {
	q.known = append(q.known, name)
	return q.values.Get(name), q.values.Has(name)
}

// err tells of all that is wrong, once all parameters have been read; nil:
// nothing. One that is misspelt would else be as if it were not there.
func (q *query) err() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !slices.Contains(q.known, name) {
			shown := name
			if len(name) > maxShownName {
				shown = strings.ToValidUTF8(name[:maxShownName], "") + "…"
			}
			q.problems = append(q.problems, routine.Problem{Pointer: "/" + shown, Code: "unknown_field",
				Message: fmt.Sprintf("there is no query parameter %q here", shown), Hint: routine.DidYouMean(name, q.known)})
		}
	}
	if len(q.problems) > 0 {
		return badRequest(q.problems)
	}
	return nil
}

func (q *query) fault(name, format string, args ...any) {
	q.problems = append(q.problems, routine.Problem{Pointer: "/" + name, Code: "range", Message: name + fmt.Sprintf(format, args...)})
}

// page is which part of a list is asked for.
func (q *query) page() (limit, offset int) {
	limit = q.integer("limit", routine.DefaultPageLimit, 1, routine.MaxPageLimit, fmt.Sprintf("from 1 to %d", routine.MaxPageLimit))
	return limit, q.integer("offset", 0, 0, math.MaxInt, "of at least 0")
}

func (q *query) integer(name string, or, low, high int, bounds string) int {
	value, given := q.get(name)
	if !given {
		return or
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high || len(q.values[name]) > 1 {
		q.fault(name, " must be one integer %s", bounds)
	}
	return n
}

// text is any value; empty: none was given.
func (q *query) text(name string) string {
	if len(q.values[name]) > 1 {
		q.fault(name, " must be given once")
	}
	value, _ := q.get(name)
	return value
}

// oneOf is a value of a fixed set; empty: none was given.
func (q *query) oneOf(name string, set ...string) string {
	value, given := q.get(name)
	if !given {
		return ""
	}
	if !slices.Contains(set, value) || len(q.values[name]) > 1 {
		q.fault(name, " must be one of %s", strings.Join(set, ", "))
	}
	return value
}

// flag is true or false; nil: none was given.
func (q *query) flag(name string) *bool {
	if value := q.oneOf(name, "true", "false"); value != "" {
		return new(value == "true")
	}
	return nil
}
