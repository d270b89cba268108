package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/engine"
	"rote/routine/routinetest"
)

var errEnded = routine.Errorf(routine.CodeSessionExpired, "the site has ended the login")

// loginRun is what a run did whose login the site has ended.
type loginRun struct {
	outcome  *engine.Outcome
	err      error
	actions  []string
	asked    int
	recorded []int
}

// runSignedOut runs operations. The login is there for the first asks of its test.
func runSignedOut(t *testing.T, page routinetest.Page, asks int, repeatable bool, operations string) (r loginRun) {
	t.Helper()
	d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","operations":[` + operations + `]}`))
	if err != nil {
		t.Fatal(err, routine.AsError(err).Problems)
	}
	page.Actions = &r.actions
	p, err := (&routinetest.Browser{Page: page}).Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r.outcome, r.err = engine.Run(t.Context(), d, nil, p, engine.Options{Now: time.Now, Repeatable: repeatable,
		Recorded: func(o routine.OperationRecord) { r.recorded = append(r.recorded, o.Index) },
		SignedOut: func(context.Context, routine.Page) error {
			if r.asked++; r.asked > asks {
				return errEnded
			}
			return nil
		}})
	return r
}

const (
	visit = `{"type":"navigate","url":"https://shop.test/"}`
	press = `{"type":"click","selector":"#buy"}`
	read  = `{"type":"return_html"}`
)

// A run that has not acted may be repeated, and leaves no record of what noticed the end of the
// login.
func TestEndOfLoginBeforeAnythingActed(t *testing.T) {
	waits := routinetest.Page{OuterHTML: func(context.Context, string) (string, int, error) {
		return "", 0, routine.Errorf(routine.CodeElementNotFound, "no orders")
	}}
	for _, c := range []struct {
		name, operations string
		page             routinetest.Page
		asks             int
		recorded         []int
		actions          string
	}{
		{"after a navigation", visit + `,` + press, routinetest.Page{}, 0, nil, "navigate https://shop.test/"},
		{"after a later one", visit + `,` + visit + `,` + press, routinetest.Page{}, 1, []int{0}, "navigate https://shop.test/ navigate https://shop.test/"},
		{"before the first click", visit + `,` + press, routinetest.Page{}, 1, []int{0}, "navigate https://shop.test/"},
		{"when an operation fails", visit + `,` + read, waits, 1, []int{0}, "navigate https://shop.test/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runSignedOut(t, c.page, c.asks, true, c.operations)
			if !errors.Is(r.err, errEnded) || !r.outcome.Repeat || r.outcome.Evidence != nil {
				t.Errorf("error %v, repeat %v, evidence %v", r.err, r.outcome.Repeat, r.outcome.Evidence)
			}
			if !slices.Equal(r.recorded, c.recorded) || strings.Join(r.actions, " ") != c.actions {
				t.Errorf("recorded %v, want %v; the page did %q", r.recorded, c.recorded, r.actions)
			}
			again := runSignedOut(t, c.page, c.asks, false, c.operations)
			if routine.CodeOf(again.err) != routine.CodeSessionExpired || again.outcome.Repeat || len(again.recorded) != len(c.recorded)+1 {
				t.Errorf("a run that is not repeated: %v, repeat %v, recorded %v", again.err, again.outcome.Repeat, again.recorded)
			}
		})
	}
}

func TestEndOfLoginAfterSomethingActed(t *testing.T) {
	for _, acting := range []string{press, `{"type":"press","key":"Enter"}`, `{"type":"input_text","selector":"#q","text":"x"}`, `{"type":"js_evaluate","js":"(() => 1)()"}`,
		`{"type":"fetch","endpoint":{"url":"https://shop.test/api","method":"POST"}}`, `{"type":"download","endpoint":{"url":"https://shop.test/file"},"filename":"f"}`} {
		asks := 2
		if strings.Contains(acting, "endpoint") {
			asks = 3 // a request opens a page
		}
		r := runSignedOut(t, routinetest.Page{}, asks, true, visit+`,`+acting+`,`+visit)
		if routine.CodeOf(r.err) != routine.CodeSessionExpired || r.outcome.Repeat || !slices.Equal(r.recorded, []int{0, 1, 2}) {
			t.Errorf("%s: %v, repeat %v, recorded %v", acting, r.err, r.outcome.Repeat, r.recorded)
		}
	}
}

// Operations that only read do not make a run one that cannot be repeated.
func TestReadingIsNoAction(t *testing.T) {
	reads := strings.Join([]string{visit, `{"type":"fetch","endpoint":{"url":"https://shop.test/api"}}`, `{"type":"wait_for_url","url_regex":"shop"}`,
		`{"type":"scroll","y":100}`, `{"type":"get_cookies","session_storage_key":"c"}`, read, visit}, ",")
	if r := runSignedOut(t, routinetest.Page{}, 2, true, reads); !r.outcome.Repeat {
		t.Errorf("the run may not be repeated: %v", r.err)
	}
	if r := runSignedOut(t, routinetest.Page{}, 99, true, reads+`,`+press+`,`+press+`,`+read); r.err != nil || r.asked != 4 {
		t.Errorf("error %v; the test of the login was asked %d times, want 4", r.err, r.asked)
	}
}

// A test of the login that cannot be asked does not hide why an operation failed.
func TestFailureOfTheLoginsTest(t *testing.T) {
	d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","operations":[` + visit + `,` + press + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	broken := routine.Errorf(routine.CodeBrowserCrashed, "the page crashed")
	lost := routine.Errorf(routine.CodeElementNotFound, "no button")
	p, err := (&routinetest.Browser{Page: routinetest.Page{Click: routinetest.FailClick(lost)}}).Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	asked := 0
	_, err = engine.Run(t.Context(), d, nil, p, engine.Options{Now: time.Now, Repeatable: true, SignedOut: func(context.Context, routine.Page) error {
		if asked++; asked < 3 {
			return nil
		}
		return broken
	}})
	if routine.CodeOf(err) != routine.CodeElementNotFound || asked != 3 {
		t.Errorf("error %v after %d asks", err, asked)
	}
}
