package httpapi_test

import (
	"context"
	"fmt"
	"testing"

	"rote/routine"
)

// longStore reports lists that are longer than routine.MaxTotal. Its pages are full.
type longStore struct{ routine.Store }

func (s longStore) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	short := f
	short.Limit, short.Offset = 1, 0
	list, _, err := s.Store.Routines(ctx, short)
	if err != nil || len(list) == 0 || f.Limit == 0 || f.Offset > 2*routine.MaxTotal {
		return nil, routine.MaxTotal + 1, err
	}
	for len(list) < f.Limit {
		list = append(list, list[0])
	}
	return list, routine.MaxTotal + 1, nil
}

func (s longStore) Executions(ctx context.Context, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	list, _, err := s.Store.Executions(ctx, f)
	return list, routine.MaxTotal + 1, err
}

// Of a list with more than 10,000 matches the total is not exact, and its pages have no end
// until one is not full.
func TestTotalsThatAreNotExact(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.service.Store = longStore{c.service.Store} })
	const inexact = `"total":10000,"total_exact":false,`
	runAll(t, e, []scenario{
		{"routines", "GET", "/routines/?limit=3", "$admin", nil, "", 200, []string{inexact + `"limit":3,"offset":0}`}, nil},
		{"executions", "GET", "/executions/", "$admin", nil, "", 200, []string{inexact}, nil},
		{"executions of a routine", "GET", "/routines/$private/executions", "$admin", nil, "", 200, []string{inexact}, nil},
	})
	link := func(offset int) string { return fmt.Sprintf("</routines/?limit=3&offset=%d>; rel=", offset) }
	for offset, want := range map[int]string{
		0:      link(3) + `"next"`,
		9_999:  link(0) + `"first", ` + link(9_996) + `"prev", ` + link(10_002) + `"next"`,
		15_000: link(0) + `"first", ` + link(14_997) + `"prev", ` + link(15_003) + `"next"`,
		30_000: link(0) + `"first", ` + link(9_999) + `"prev"`,
	} {
		if got := e.must(t, "GET", fmt.Sprintf("/routines/?limit=3&offset=%d", offset), asAdmin, ""); got.header.Get("Link") != want {
			t.Errorf("from %d: %s, want %s", offset, got.header.Get("Link"), want)
		}
	}
}
