package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/routine"
	"rote/routine/javascript/facts"
	"rote/routine/routinetest/leakcheck"
	"rote/routine/routinetest/scratch"
)

// complaints say why a browser has ended under a test.
var complaints = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))

// shared is the browser that most tests open their own context in.
var shared *Browser

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain runs the tests and fails when anything of a browser is left.
func testMain(m *testing.M) int {
	removeTemp, err := scratch.Use()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defaultStartBounds.first = lastStartBound // a start and its verification take seconds beside other tests
	shared = newBrowser()
	flag.Parse()
	if *rest {
		if err := skipUnsampled(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue { // most tests wait more than they work
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	shared.Close()
	if fullChromium.Browser != nil {
		fullChromium.Close()
	}
	if err := errors.Join(scratch.CheckGone(chromium.ProfilePrefix), removeTemp(), leakcheck.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

func newBrowser() *Browser {
	policy, err := egress.NewPolicy(egress.Listed, []string{"127.0.0.0/8"}, nil)
	if err != nil {
		panic(err)
	}
	b := New(Config{Egress: policy, Log: complaints})
	b.outlineTime, b.lookTime = 4*time.Second, 20*time.Second // for a machine under load
	beSlow(b)
	return b
}

// beSlow lets a browser take long to answer: on a starved machine it would be
// replaced, and the runs on it ended.
func beSlow(b *Browser) { b.lifetime.answer, b.lifetime.patience = testTime/3, testTime }

// site serves pages by path; a value is an HTML body or a handler.
func site(t testing.TB, pages map[string]any) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, page := range pages {
		switch page := page.(type) {
		case string:
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprint(w, `<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><body>`, page)
			})
		case func(http.ResponseWriter, *http.Request):
			mux.HandleFunc(path, page)
		}
	}
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// testTime bounds one test; what a test waits for comes much sooner.
const testTime = 60 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	return ctx
}

// openPage opens a page of the shared browser and goes to url when it is given.
func openPage(t *testing.T, url string) *page {
	t.Helper()
	opened, err := shared.Open(testContext(t), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	p := opened.(*tabs).first
	if url != "" {
		if _, err := p.Navigate(testContext(t), url); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// pidOf is the id of the main process of a page's browser.
func pidOf(p *page) int { return p.i.process.(*chromium.Process).PID() }

// eval is the JSON of an expression in the page's own world.
func eval(t *testing.T, p *page, expression string) string {
	t.Helper()
	e, err := p.Evaluate(testContext(t), script(expression, testTime/2))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return string(e.JSON)
}

// script is a script as an operation hands it over.
func script(text string, limit time.Duration) routine.Script {
	return routine.Script{Text: text, Limit: limit, Facts: facts.Prove(text)}
}

// HTML is OuterHTML for tests that do not count.
func (p *page) HTML(ctx context.Context, selector string) (string, error) {
	html, _, err := p.OuterHTML(ctx, selector)
	return html, err
}

// wantCode fails unless err has the code and its message holds the words.
func wantCode(t *testing.T, err error, code routine.Code, words string) {
	t.Helper()
	if got := routine.CodeOf(err); got != code || !strings.Contains(fmt.Sprint(err), words) {
		t.Fatalf("got %s %q, want %s with %q", got, err, code, words)
	}
}

// shortContext ends like an operation's own limit, early: for what never comes.
func shortContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
