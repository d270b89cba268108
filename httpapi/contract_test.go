package httpapi_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"rote/routine/routinetest/leakcheck"
	"rote/schemas"
)

// TestMain holds that the answers of the tests, each of which is checked against
// the published description, provoked every status that is described.
func TestMain(m *testing.M) {
	status := m.Run()
	if all := flag.Lookup("test.run").Value.String() == ""; all && status == 0 {
		if missing := published().missing(); len(missing) > 0 {
			fmt.Fprintf(os.Stderr, "no test provoked what openapi.yaml describes:\n%s\n", strings.Join(missing, "\n"))
			status = 1
		}
	}
	if err := leakcheck.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// contract is the published description of the interface.
type contract struct {
	paths map[string]map[string]*v3.Operation // by path, then method

	mu       sync.Mutex
	checker  validator.Validator
	provoked map[string]bool
}

var published = sync.OnceValue(func() *contract {
	doc, err := libopenapi.NewDocument(schemas.OpenAPI())
	if err != nil {
		panic(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		panic(err)
	}
	c := &contract{paths: map[string]map[string]*v3.Operation{}, provoked: map[string]bool{}}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		c.paths[path] = map[string]*v3.Operation{}
		for method, operation := range item.GetOperations().FromOldest() {
			c.paths[path][strings.ToUpper(method)] = operation
		}
	}
	var errs []error
	if c.checker, errs = validator.NewValidator(doc); errs != nil {
		panic(fmt.Sprint(errs))
	}
	return c
})

// check holds an answer against the description. What is asked of a path or with
// a method that is not described must be refused.
func (c *contract) check(method, path string, got response) error {
	path, _, _ = strings.Cut(path, "?")
	described, methods := c.find(path)
	operation := methods[method]
	if method == http.MethodHead && got.body == "" || method == http.MethodOptions {
		return nil // HTTP itself says what these answer
	}
	if operation == nil {
		if ofPage := strings.HasPrefix(path, "/docs/"); got.status < 400 && !ofPage {
			return fmt.Errorf("%s %s answers %d but is not described", method, path, got.status)
		}
		return nil
	}
	anywhere := got.status == http.StatusInternalServerError || got.status == http.StatusTooManyRequests
	if operation.Responses.Codes.GetOrZero(strconv.Itoa(got.status)) == nil && !anywhere {
		return fmt.Errorf("%s %s answers %d, which is not described", method, path, got.status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provoked[fmt.Sprint(method, " ", described, " ", got.status)] = true
	request, err := http.NewRequest(method, "http://rote.invalid"+concrete(described), nil)
	if err != nil {
		return err
	}
	answer := &http.Response{StatusCode: got.status, Header: got.header, Body: io.NopCloser(bytes.NewBufferString(got.body))}
	if ok, faults := c.checker.ValidateHttpResponse(request, answer); !ok {
		return fmt.Errorf("%s %s answers %d against its description: %v\n%s", method, path, got.status, faults, got.body)
	}
	if r := operation.Responses.Codes.GetOrZero(strconv.Itoa(got.status)); r != nil {
		return requiredHeaders(r, got)
	}
	return nil
}

// requiredHeaders is what the library does not look at.
func requiredHeaders(r *v3.Response, got response) error {
	for name, header := range r.Headers.FromOldest() {
		if header.Required && got.header.Get(name) == "" {
			return fmt.Errorf("an answer %d lacks its header %s", got.status, name)
		}
	}
	return nil
}

// find is the described path that a path belongs to.
func (c *contract) find(path string) (string, map[string]*v3.Operation) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	best := ""
	for _, described := range slices.Sorted(maps.Keys(c.paths)) {
		wanted := strings.Split(strings.Trim(described, "/"), "/")
		if described == "/schemas/{file}" && parts[0] == "schemas" && len(parts) > 1 {
			best = described
		}
		if len(parts) != len(wanted) {
			continue
		}
		fits := true
		for i, w := range wanted {
			fits = fits && (w == parts[i] || strings.HasPrefix(w, "{"))
		}
		if fits && (best == "" || strings.Count(described, "{") < strings.Count(best, "{")) {
			best = described
		}
	}
	return best, c.paths[best]
}

// concrete is a path with something in the place of its parameters.
func concrete(described string) string {
	parts := strings.Split(described, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/") + requiredQuery(described)
}

// requiredQuery returns the query without which a path answers every call with 400.
func requiredQuery(described string) string {
	if strings.HasSuffix(described, "/export") {
		return "?to=curl"
	}
	return ""
}

// each names all calls that are described to answer with a status.
func (c *contract) each(status int, call func(method, path string)) {
	for path, methods := range c.paths {
		for method, operation := range methods {
			if operation.Responses.Codes.GetOrZero(strconv.Itoa(status)) != nil {
				call(method, path)
			}
		}
	}
}

// missing are the described statuses that no test has provoked.
func (c *contract) missing() []string {
	var missing []string
	for path, methods := range c.paths {
		for method, operation := range methods {
			for status := range operation.Responses.Codes.FromOldest() {
				if key := method + " " + path + " " + status; !c.provoked[key] {
					missing = append(missing, key)
				}
			}
		}
	}
	slices.Sort(missing)
	return missing
}
