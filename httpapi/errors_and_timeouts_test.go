package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/httpapi/docs"
	"rote/routine"
)

// codesOfCore are the routine.Code constants as the source of the core has them.
func codesOfCore(t *testing.T) []routine.Code {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../routine/errors.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []routine.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, routine.Code(code))
		return true
	})
	return codes
}

// TestEveryCodeHasItsStatus holds the table against the core's constants and
// against the families of the design.
func TestEveryCodeHasItsStatus(t *testing.T) {
	want := map[routine.Code]int{codeMethodNotAllowed: 405}
	for status, codes := range map[int]string{
		400: "invalid", 413: "too_large", 415: "unsupported_media_type",
		401: "unauthenticated", 403: "forbidden",
		404: "not_found", 409: "conflict value_required lesson_limit page_lost", 412: "precondition_failed", 422: "idempotency_mismatch not_proved",
		500: "timeout cancelled element_not_found element_not_actionable navigation_failed network_error http_error egress_denied" +
			" script_error script_blocked value_missing result_too_large browser_crashed interrupted internal" +
			" secret_missing secret_denied secret_exposed session_missing session_expired session_login_failed",
		429: "rate_limited", 503: "busy browser_unavailable shutting_down store_unavailable secret_unavailable",
	} {
		for code := range strings.FieldsSeq(codes) {
			want[routine.Code(code)] = status
		}
	}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("statuses differ from the design (-want +got):\n%s", diff)
	}
	codes := codesOfCore(t)
	if len(codes) != len(statuses)-1 {
		t.Errorf("the core has %d codes, the table %d", len(codes), len(statuses)-1)
	}
	for _, code := range codes {
		if statuses[code] == 0 {
			t.Errorf("code %s has no status", code)
		}
	}
}

func TestProblemOf(t *testing.T) {
	execution := &routine.Execution{ID: "e"}
	tests := []struct {
		name   string
		err    error
		status int
		code   routine.Code
		detail string
	}{
		{"an unknown error is internal and says nothing", errors.New("open secret.db"), 500, "internal", "internal error"},
		{"a code that is not in the table is no success", routine.Errorf("new", "news"), 500, "new", "news"},
		{"a run that failed is 500 with a code that else is not",
			&errorDetails{error: routine.Errorf(routine.CodeInvalid, "does not fit"), execution: execution}, 500, "invalid", "does not fit"},
		{"without execution the code decides", &errorDetails{error: routine.Errorf(routine.CodeConflict, "archived")}, 409, "conflict", "archived"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := problemOf(tt.err)
			got.Execution = nil
			want := problem{Title: http.StatusText(tt.status), Status: tt.status, Detail: tt.detail, Code: tt.code}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The type of a problem leads to a section of the documentation, for each code.
func TestCodesAreExplained(t *testing.T) {
	page, ok := docs.Page("errors")
	if !ok {
		t.Fatal("there is no page of the errors")
	}
	for code := range statuses {
		p := (&requestInfo{base: "/rote"}).problem(&routine.Error{Code: code})
		_, anchor, _ := strings.Cut(p.Type, "#")
		if p.Type != "/rote/docs/errors#"+string(code) || !bytes.Contains(page, []byte(` id="`+anchor+`"`)) {
			t.Errorf("%s: %s leads nowhere", code, p.Type)
		}
	}
}

// raw serves h as the front end does its own handlers.
func raw(t *testing.T, log *strings.Builder, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	a := newAPI(Config{Log: slog.New(slog.NewTextHandler(log, nil))})
	s := httptest.NewUnstartedServer(a.startRequest(catchPanic(h)))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func TestPanicAfterResponseStartedClosesConnection(t *testing.T) {
	var log strings.Builder
	s := raw(t, &log, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("too late")
	})
	r, err := s.Client().Get(s.URL)
	if err == nil {
		r.Body.Close()
		t.Errorf("the answer was taken for whole: %s", r.Status)
	}
	s.Close()
	if !strings.Contains(log.String(), "too late") {
		t.Errorf("the panic is not in the log: %s", log.String())
	}
}

func TestEncodingFailureIsInternalError(t *testing.T) {
	execution := &routine.Execution{Result: &routine.Result{OperationsMetadata: []routine.OperationRecord{
		{Details: map[string]any{"ratio": math.NaN()}}}}}
	for name, h := range map[string]handler{
		"answer": func(*request) (response, error) { return response{status: 201, body: execution}, nil },
		"problem": func(*request) (response, error) {
			return response{}, &errorDetails{error: errors.New("x"), execution: execution}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			a := newAPI(Config{})
			s := raw(t, &log, a.handle(h))
			r, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			s.Close()
			if r.StatusCode != 500 || !strings.Contains(log.String(), "NaN") {
				t.Errorf("status %d, log %s", r.StatusCode, log.String())
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{0: "1", time.Second: "1", 1500 * time.Millisecond: "2"} {
		s := raw(t, &strings.Builder{}, func(w http.ResponseWriter, r *http.Request) {
			writeProblem(w, r, &routine.Error{Code: routine.CodeRateLimited, Message: "slower", RetryAfter: wait})
		})
		r, err := s.Client().Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if got := r.Header.Get("Retry-After"); r.StatusCode != 429 || got != want {
			t.Errorf("%v: %s with Retry-After %q, want %q", wait, r.Status, got, want)
		}
	}
}

// impatient serves h with NewServer's limits, but a short one for reading.
func impatient(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer("", h)
	s.Config.ReadTimeout = 50 * time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// dial connects to the server.
func dial(t *testing.T, s *httptest.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlowBody(t *testing.T) {
	s := impatient(t, NewHandler(Config{}))
	for name, tt := range map[string]struct{ path, want string }{
		"that is read":     {"/routines/validate_routine_json", "400 Bad Request"},
		"that is not read": {"/nothing", "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, s)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", tt.path)
			text, err := io.ReadAll(c) // until the server closes
			if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 "+tt.want) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// A client that does not finish its header in time is disconnected without a
// response.
func TestSlowHeader(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer("", NewHandler(Config{}))
	s.Config.ReadHeaderTimeout = 50 * time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	c := dial(t, s)
	fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: loc")
	if text, err := io.ReadAll(c); err != nil || len(text) > 0 {
		t.Errorf("%v: %s", err, text)
	}
}

// The read timeout ends with the body: the call itself may take longer.
func TestReadTimeoutDoesNotLimitRun(t *testing.T) {
	a := newAPI(Config{})
	s := impatient(t, a.startRequest(a.handle(func(q *request) (response, error) {
		if _, err := q.readBody(); err != nil {
			return response{}, err
		}
		select {
		case <-q.Context().Done():
			return response{}, errors.New("the caller seems to be gone")
		case <-time.After(200 * time.Millisecond):
			return response{status: 200}, nil
		}
	})))
	a.log = slog.New(slog.DiscardHandler)
	r, err := s.Client().Post(s.URL, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

func TestServerLimits(t *testing.T) {
	s := NewServer("127.0.0.1:1", http.NotFoundHandler())
	if s.Addr != "127.0.0.1:1" || s.ReadTimeout != 30*time.Second || s.ReadHeaderTimeout != 10*time.Second || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes != 64<<10 {
		t.Errorf("%+v", s)
	}
	if s.WriteTimeout <= s.ReadTimeout+routine.MaxRunTimeout {
		t.Errorf("the longest run after the slowest body would get no answer out within %v", s.WriteTimeout)
	}
}
