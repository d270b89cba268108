package browser

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func TestFetchTable(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c, _ := r.Cookie("sid")
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %v %s", r.Method, r.Header.Get("X-Mine"), r.Header.Get("Content-Type"), c, body)
	}
	// get fetches and has the page say what came: status, and the body.
	get := func(f routine.Fetch, max int64) func(*attempt) error {
		return func(a *attempt) error {
			f := f
			f.URL = strings.ReplaceAll(f.URL, "SITE/", a.site)
			if f.Method == "" {
				f.Method = "GET"
			}
			r, err := a.p.Fetch(a.ctx, f, max)
			if err == nil {
				eval(a.t, a.p, fmt.Sprintf("(() => { globalThis.LOG = %q })()", fmt.Sprintf("%d %s", r.Status, r.Body)))
			}
			return err
		}
	}
	cors := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "shared")
	}
	csp := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "connect-src 'none'")
		fmt.Fprint(w, "strict")
	}
	broke := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	}
	body := `{"a":1}`
	bad := routine.CodeNetworkError
	holds(t, []row{
		{name: "with the page's cookies, method, headers and body", html: `<script>document.cookie = 'sid=s1'</script>`, site: map[string]any{"echo": echo},
			do: get(routine.Fetch{URL: "echo", Method: "POST", Headers: map[string]string{"X-Mine": "m", "Content-Type": "application/json"},
				Body: &body}, 1000), then: `LOG`, is: `"418 POST m application/json sid=s1 {\"a\":1}"`},
		{name: "without cookies where the author says so", html: `<script>document.cookie = 'sid=s1'</script>`, site: map[string]any{"echo": echo},
			do: get(routine.Fetch{URL: "echo", Credentials: "omit"}, 1000), then: `LOG`, is: `"418 GET    "`},
		{name: "from a blank page it goes to the URL's origin first", site: map[string]any{"echo": echo}, do: get(routine.Fetch{URL: "SITE/echo"}, 1000), then: `LOG`, is: `"418 GET    "`},
		{name: "redirects are followed", html: `-`, site: map[string]any{"r": redirect("echo"), "echo": echo}, do: get(routine.Fetch{URL: "r"}, 1000), then: `LOG`, is: `"418 GET    "`},
		{name: "an HTTP error is an answer", html: `-`, site: map[string]any{"e": status(500, "oh")}, do: get(routine.Fetch{URL: "e"}, 1000), then: `LOG`, is: `"500 oh"`},
		{name: "an answer without a body", html: `-`, site: map[string]any{"e": status(204, "")}, do: get(routine.Fetch{URL: "e"}, 1000), then: `LOG`, is: `"204 "`},
		{name: "another origin that allows it", html: `-`, site: map[string]any{"c": cors}, do: func(a *attempt) error {
			return get(routine.Fetch{URL: strings.Replace(a.site, "127.0.0.1", "localhost", 1) + "c"}, 1000)(a)
		}, then: `LOG`, is: `"200 shared"`},
		{name: "another origin that does not is named so", html: `-`, site: map[string]any{"c": `x`}, do: func(a *attempt) error {
			return get(routine.Fetch{URL: strings.Replace(a.site, "127.0.0.1", "localhost", 1) + "c"}, 1000)(a)
		}, code: bad, words: "CORS, MissingAllowOriginHeader"},
		{name: "a page whose policy forbids it is named so", site: map[string]any{"strict": csp, "x": `x`}, do: func(a *attempt) error {
			if _, err := a.p.Navigate(a.ctx, a.site+"strict"); err != nil {
				return err
			}
			return get(routine.Fetch{URL: "SITE/x"}, 1000)(a)
		}, code: bad, words: "Content-Security-Policy of the page forbids it"},
		{name: "a refused connection", html: `-`, do: get(routine.Fetch{URL: "http://127.0.0.1:18998/"}, 1000), code: bad, words: "the connection was refused"},
		{name: "what the policy refuses", html: `-`, do: get(routine.Fetch{URL: "http://192.0.2.1/"}, 1000), code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "an answer that breaks off", html: `-`, site: map[string]any{"b": broke}, do: get(routine.Fetch{URL: "b"}, 1000), code: bad, words: "broke off"},
		{name: "more than the limit", html: `-`, site: map[string]any{"b": status(200, strings.Repeat("x", 2000))},
			do: get(routine.Fetch{URL: "b"}, 1000), code: routine.CodeResultTooLarge, words: "1000 bytes"},
		{name: "exactly the limit", html: `-`, site: map[string]any{"b": status(200, strings.Repeat("x", 1000))}, do: get(routine.Fetch{URL: "b"}, 1000), then: `LOG.length`, is: `1004`},
		{name: "headers that a browser keeps to itself are told of", html: `-`, site: map[string]any{"echo": echo},
			do:   get(routine.Fetch{URL: "echo", Headers: map[string]string{"Cookie": "sid=x", "X-Mine": "m"}}, 1000),
			then: `LOG`, is: `"418 GET m   "`, warns: "lets no page set the header Cookie"},
		{name: "a relative URL on a blank page", do: func(a *attempt) error {
			_, err := a.p.Fetch(a.ctx, routine.Fetch{URL: "/x", Method: "GET"}, 1000)
			return err
		}, code: routine.CodeNavigationFailed, words: "navigate first"},
	})
}

// A request from a blank page counts as one of its own site, even if the root of the
// site is no page.
func TestFetchOnABlankPage(t *testing.T) {
	t.Parallel()
	type handler = func(http.ResponseWriter, *http.Request)
	head := func(name, value string, then handler) handler {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			then(w, r)
		}
	}
	elsewhere := site(t, map[string]any{"/": "another site"})
	for name, root := range map[string]handler{
		"a page":                         status(200, "hello"),
		"no content":                     status(204, ""),
		"an error without a body":        status(404, ""),
		"a download":                     file,
		"a redirect to another site":     redirect(elsewhere),
		"a redirect to a dead port":      redirect("http://127.0.0.1:1/"),
		"a redirect to a refused host":   redirect("http://192.0.2.1/"),
		"redirects in circles":           redirect("/"),
		"a policy against all requests":  head("Content-Security-Policy", "default-src 'none'", status(200, "hello")),
		"a policy that takes its origin": head("Content-Security-Policy", "sandbox allow-scripts", status(200, "hello")),
		"an answer that breaks off":      head("Content-Length", "100", status(200, "half")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 10)
			at := site(t, map[string]any{"/{$}": head("Set-Cookie", "sid=s1", root), "/api": func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked <- fmt.Sprintf("%s %s %s %s", r.Method, r.Header.Get("Cookie"), r.Header.Get("Sec-Fetch-Site"), body)
				fmt.Fprint(w, "answer")
			}})
			body := "order"
			r, err := mustOpen(t, shared).Fetch(testContext(t), routine.Fetch{URL: at + "/api", Method: "POST", Body: &body}, 1000)
			if err != nil || string(r.Body) != "answer" {
				t.Fatalf("%q, %v", r.Body, err)
			}
			if got := <-asked; got != "POST sid=s1 same-origin order" || len(asked) > 0 {
				t.Fatalf("%s, and %d more", got, len(asked))
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		_, err := mustOpen(t, shared).Fetch(testContext(t), routine.Fetch{URL: "http://127.0.0.1:1/api", Method: "GET"}, 1000)
		wantCode(t, err, routine.CodeNetworkError, "127.0.0.1:1/api failed")
	})
	t.Run("what the policy refuses", func(t *testing.T) {
		_, err := mustOpen(t, shared).Fetch(testContext(t), routine.Fetch{URL: "http://192.0.2.1/api", Method: "GET"}, 1000)
		wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1")
	})
}

// A large body comes whole, and costs little more than its own size.
func TestFetchStreams(t *testing.T) {
	const size = 32 << 20
	sent, got := sha256.New(), sha256.New()
	p := openPage(t, site(t, map[string]any{"/": `x`, "/blob": func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<15)
		for n := 0; n < size; n += len(piece) {
			for i := range piece {
				piece[i] = byte((n+i)*31 ^ (n+i)>>11)
			}
			_, _ = io.MultiWriter(w, sent).Write(piece)
		}
	}})+"/")
	runtime.GC()
	peak, stop := watchHeap()
	before := <-peak
	r, err := p.Fetch(testContext(t), routine.Fetch{URL: "/blob", Method: "GET"}, size)
	close(stop)
	most := <-peak
	got.Write(r.Body)
	if err != nil || len(r.Body) != size || !bytes.Equal(got.Sum(nil), sent.Sum(nil)) {
		t.Fatal(len(r.Body), err)
	}
	const bound = 3 * size
	if cost := most - before; cost > bound {
		t.Fatalf("%d MiB of heap for %d MiB, want at most %d", cost>>20, size>>20, bound>>20)
	} else {
		t.Logf("%d MiB of heap for %d MiB", cost>>20, size>>20)
	}
}

// watchHeap returns the bytes of the objects that the last garbage collection found
// live and, after stop is closed, their peak. Dead objects would count how late it
// ran.
func watchHeap() (peak chan uint64, stop chan struct{}) {
	peak, stop = make(chan uint64), make(chan struct{})
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	go func() {
		most := read()
		peak <- most
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, read())
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return peak, stop
}

func setCookies(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true})
	http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
	fmt.Fprint(w, "x")
}
