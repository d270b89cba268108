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
	"time"

	"rote/routine"
)

// maxShownName limits the bytes of a parameter name in an error message.
const maxShownName = 64

// listPage is one page of a list.
type listPage[T any] struct {
	Items []T `json:"items"`
	routine.Total
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// pageResponse returns one page of a list and sets links to the neighboring
// pages. total is that of a [routine.Store].
func pageResponse[T any](q *request, items []T, total, limit, offset int) response {
	counted := routine.NewTotal(total)
	setPageLinks(q, len(items), counted, limit, offset)
	return response{status: http.StatusOK, body: listPage[T]{nonNil(items), counted, limit, offset}}
}

// setPageLinks sets links to the neighbors of a page with a number of items (RFC 8288).
func setPageLinks(q *request, items int, counted routine.Total, limit, offset int) {
	var links []string
	link := func(rel string, offset int) {
		u := url.URL{Path: q.URL.Path}
		values := q.URL.Query()
		values.Set("limit", strconv.Itoa(limit))
		values.Set("offset", strconv.Itoa(offset))
		u.RawQuery = values.Encode()
		links = append(links, fmt.Sprintf("<%s>; rel=%q", u.RequestURI(), rel))
	}
	exact := counted.TotalExact == nil
	if offset > 0 {
		link("first", 0)
		before := offset - limit
		if exact || items == 0 { // from beyond the end to the last page that is known
			before = min(before, (counted.Total-1)/limit*limit)
		}
		link("prev", max(0, before))
	}
	if exact && offset < counted.Total-limit || !exact && items == limit {
		link("next", offset+limit)
	}
	if len(links) > 0 {
		q.w.Header().Set("Link", strings.Join(links, ", "))
	}
}

// query reads the parameters of a URL and collects all their problems.
type query struct {
	values     url.Values
	knownNames []string // the parameters that were read
	problems   []routine.Problem
}

func parseQuery(u *url.URL) (*query, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the query of the URL cannot be read: percent-encode its values")
	}
	return &query{values: values}, nil
}

// get returns the value of a parameter and adds its name to the known ones.
func (q *query) get(name string) (value string, given bool) {
	q.knownNames = append(q.knownNames, name)
	return q.values.Get(name), q.values.Has(name)
}

// err returns all problems as one error, or nil. It must be called after all
// parameters have been read, because it reports those that were not as unknown.
func (q *query) err() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !slices.Contains(q.knownNames, name) {
			shown := name
			if len(name) > maxShownName {
				shown = strings.ToValidUTF8(name[:maxShownName], "") + "…"
			}
			q.problems = append(q.problems, routine.Problem{Pointer: "/" + shown, Code: "unknown_field",
				Message: fmt.Sprintf("there is no query parameter %q here", shown), Hint: routine.DidYouMean(name, q.knownNames)})
		}
	}
	if len(q.problems) > 0 {
		return invalidRequest(q.problems)
	}
	return nil
}

func (q *query) addProblem(name, format string, args ...any) {
	q.problems = append(q.problems, routine.Problem{Pointer: "/" + name, Code: "range", Message: name + fmt.Sprintf(format, args...)})
}

// limitAndOffset returns which page of a list is requested.
func (q *query) limitAndOffset() (limit, offset int) {
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
		q.addProblem(name, " must be one integer %s", bounds)
	}
	return n
}

// text returns the value of a parameter, or "" if it is not given.
func (q *query) text(name string) string {
	if len(q.values[name]) > 1 {
		q.addProblem(name, " must be given once")
	}
	value, _ := q.get(name)
	return value
}

// time returns a time in RFC 3339, or the zero time if the parameter is not given.
func (q *query) time(name string) time.Time {
	text := q.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.addProblem(name, " must be a time such as 2031-02-03T04:05:06Z")
	}
	return at
}

// oneOf returns a value of a fixed set, or "" if the parameter is not given.
func (q *query) oneOf(name string, set ...string) string {
	value, given := q.get(name)
	if !given {
		return ""
	}
	if !slices.Contains(set, value) || len(q.values[name]) > 1 {
		q.addProblem(name, " must be one of %s", strings.Join(set, ", "))
	}
	return value
}

// boolean returns a parameter that is true or false, or nil if it is not given.
func (q *query) boolean(name string) *bool {
	if value := q.oneOf(name, "true", "false"); value != "" {
		return new(value == "true")
	}
	return nil
}
