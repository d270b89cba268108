package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// onePixel is an image.
var onePixel = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// blockRow is a page that is opened with images, fonts and media blocked.
type blockRow struct {
	row
	// types are those that are blocked; nil: all.
	types []string
	// arrived are the resources that the server was asked for, sorted, and counts how many
	// requests were blocked.
	arrived []string
	counts  map[string]int
	// keep reports whether the run starts with saved state and saves its own.
	keep bool
	// requestsOnly reports whether the run is one that opens no page of the site.
	requestsOnly bool
}

// resources are what a server was asked for below res/, by row.
type resources struct {
	mu    sync.Mutex
	asked map[string]map[string]bool
}

func (s *resources) note(row, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[row] == nil {
		s.asked[row] = map[string]bool{}
	}
	s.asked[row][name] = true
}

func (s *resources) names(row string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.asked[row] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// serve serves a resource below res/. It is an image, whatever its name says.
func (s *resources) serve(w http.ResponseWriter, r *http.Request) bool {
	row, name, is := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/res/")
	if !is {
		return false
	}
	s.note(row, name)
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(onePixel)
	return true
}

const logsImage = `<img src=res/a.png onload="say('loaded')" onerror="say('failed ' + this.naturalWidth)">`

// frameLog shows a page what its frame, or its popup, logs.
const frameLog = `<script>onmessage = e => say(e.data)</script>`
const tellsOuter = `<script>say = s => (parent == self ? opener : parent).postMessage(s, '*')</script>`

// inPopup follows a popup, in which the image fails.
func inPopup(a *attempt) error {
	return all(func() error { return a.popup("#b") }, func() error {
		return a.tells("String(document.images[0].complete) + document.images[0].naturalWidth", "true0")
	})
}

var blockRows = []blockRow{
	{row: row{name: "an image", html: logsImage, log: "failed 0;"}, counts: map[string]int{"image": 1}},
	{row: row{name: "not among the failed requests",
		html: `<img src=res/a.png onerror="this.alt = 'failed'; say('failed')">`, log: "failed;",
		do: func(a *attempt) error {
			if err := a.tells("document.images[0].alt", "failed"); err != nil {
				return err
			}
			if _, failed := a.p.trace.read(scriptSource{}); len(failed) > 0 {
				return fmt.Errorf("the trace has %+v", failed)
			}
			return nil
		}}, counts: map[string]int{"image": 1}},
	{row: row{name: "a run with saved state", html: logsImage, log: "failed 0;"}, counts: map[string]int{"image": 1}, keep: true},
	{row: row{name: "an image of another type", html: logsImage, log: "loaded;"}, types: []string{"font", "media"}, arrived: []string{"a.png"}},
	{row: row{name: "an image made by a script",
		html: `<script>const i = new Image; i.onerror = () => say('failed'); i.src = 'res/a.png'</script>`, log: "failed;"},
		counts: map[string]int{"image": 1}},
	{row: row{name: "an image of a style", html: `<div style="background: url(res/a.png)">x</div><button id=b onclick="say('shown')">x</button>`,
		do: clicksB, log: "shown;"}, counts: map[string]int{"image": 1}},
	{row: row{name: "an image in the page itself",
		html: `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" onload="say('loaded')">`, log: "loaded;"}},
	{row: row{name: "a font", html: `<style>@font-face { font-family: f; src: url(res/f.woff2) }</style><p style="font-family: f">x</p>
		<script>document.fonts.load('10px f').then(() => say('loaded'), () => say('failed'))</script>`, log: "failed;"}, counts: map[string]int{"font": 1}},
	{row: row{name: "a sound", html: `<audio src=res/s.mp3 onerror="say('failed ' + this.error.code)"></audio>`, log: "failed 4;"},
		counts: map[string]int{"media": 1}},
	{row: row{name: "a film with a poster", html: `<video poster=res/p.png src=res/s.mp4 onerror="say('failed')"></video>`, log: "failed;"},
		counts: map[string]int{"image": 1, "media": 1}},
	{row: row{name: "data of the page", html: `<script>fetch('res/a.png').then(r => say(r.status))</script>`, log: "200;"}, arrived: []string{"a.png"}},
	{row: row{name: "the operation fetch", html: `x`, do: func(a *attempt) error {
		_, err := a.p.Fetch(a.ctx, routine.Fetch{URL: "res/a.png", Method: "GET"}, 1000)
		return err
	}, then: `1`, is: `1`}, arrived: []string{"a.png"}},
	{row: row{name: "after an empty document of the site", site: map[string]any{"in": logsImage, "data": "x"}, do: func(a *attempt) error {
		if _, err := a.p.Fetch(a.ctx, routine.Fetch{URL: a.site + "data", Method: "GET"}, 1000); err != nil {
			return err
		}
		_, err := a.p.Navigate(a.ctx, a.site+"in")
		return err
	}, log: "failed 0;"}, counts: map[string]int{"image": 1}, requestsOnly: true},
	{row: row{name: "an image as document", html: `x`, do: func(a *attempt) error {
		n, err := a.p.Navigate(a.ctx, a.site+"res/a.png")
		if err == nil && n.Status != 200 {
			err = fmt.Errorf("status %d", n.Status)
		}
		return err
	}, then: `1`, is: `1`}, arrived: []string{"a.png"}},
	{row: row{name: "an image as the document of a frame", html: `<iframe src=res/a.png onload="say('loaded')"></iframe>`, log: "loaded;"},
		arrived: []string{"a.png"}},
	{row: row{name: "a frame", html: frameLog + `<iframe src=in></iframe>`, site: map[string]any{"in": tellsOuter + logsImage}, log: "failed 0;"},
		counts: map[string]int{"image": 1}},
	{row: row{name: "a frame of another site", html: frameLog + `<iframe src="CROSS/in"></iframe>`,
		site: map[string]any{"in": tellsOuter + logsImage}, log: "failed 0;"},
		counts: map[string]int{"image": 1}},
	{row: row{name: "a popup", html: opens(`window.open('in')`), do: inPopup, site: map[string]any{"in": logsImage}, then: `1`, is: `1`},
		counts: map[string]int{"image": 1}},
	{row: row{name: "a popup of another site", html: opens(`window.open('CROSS/in')`), do: inPopup, site: map[string]any{"in": logsImage}, then: `1`, is: `1`},
		counts: map[string]int{"image": 1}},
	{row: row{name: "the font of a worker", html: `<script>new Worker('w').onmessage = e => say(e.data)</script>`, site: map[string]any{"w": scriptFile(
		`new FontFace('f', 'url(res/f.woff2)').load().then(() => postMessage('loaded'), () => postMessage('failed'))`)}, log: "failed;"},
		counts: map[string]int{"font": 1}},
	{row: row{name: "a service worker that loads it", html: servedImage, site: servingImage(`e.respondWith(fetch(e.request))`), log: "loaded;"},
		arrived: []string{"a.png"}},
	{row: row{name: "a service worker that passes on nothing", html: servedImage, site: servingImage(``), log: "failed;"}, counts: map[string]int{"image": 1}},
	{row: row{name: "after a script that is watched", html: logsImage + `<a id=b href=next>x</a>`, site: map[string]any{"next": logsImage},
		do: func(a *attempt) error {
			a.want(`LOG`, `"failed 0;"`)
			if got := eval(a.t, a.p, `(() => { document.title = 'x'; const i = document.createElement('p'); document.body.append(i); return 1 })()`); got != "1" {
				return fmt.Errorf("got %s", got)
			}
			return a.click("#b")
		}, url: "next", log: "failed 0;"}, counts: map[string]int{"image": 2}},
	{row: row{name: "during a script that is watched",
		html: `<button id=b onclick="const i = new Image; i.onerror = () => say('failed'); i.src = 'res/a.png'">x</button>`,
		do: func(a *attempt) error {
			eval(a.t, a.p, `(() => { document.body.append(document.createElement('p')); document.querySelector('#b').click(); return 1 })()`)
			return nil
		}, log: "failed;"}, counts: map[string]int{"image": 1}},
	{row: row{name: "a script that loads an image", html: `x`, do: func(a *attempt) error {
		_, err := a.p.Evaluate(a.ctx, script(`(() => { document.body.innerHTML = 'y'; new Image().src = 'res/secret.png'; return 1 })()`, testTime/2))
		for err == nil { // the attempt may be noticed a moment after the call
			_, err = a.p.HTML(a.ctx, "")
		}
		return err
	}, code: routine.CodeScriptBlocked, words: "reach GET"}},
}

const servedImage = `<script>navigator.serviceWorker.oncontrollerchange = () => {
	const i = new Image; i.onload = () => say('loaded'); i.onerror = () => say('failed'); i.src = 'res/a.png' };
	navigator.serviceWorker.register('worker.js')</script>`

func servingImage(answer string) map[string]any {
	return map[string]any{"worker.js": scriptFile(`oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim());
		onfetch = e => {` + answer + `}`)}
}

// A run that blocks types of resources loads none of them, in whatever page, frame or
// worker. To the page they fail. Everything else is loaded.
func TestBlockedResources(t *testing.T) {
	t.Parallel()
	rows := make([]row, len(blockRows))
	for i, r := range blockRows {
		if r.do == nil {
			blockRows[i].do = func(*attempt) error { return nil }
		}
		rows[i] = r.row
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			asked := &resources{asked: map[string]map[string]bool{}}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !asked.serve(w, r) {
					serveRow(w, r, rows)
				}
			}))
			t.Cleanup(server.Close)
			b := kind.browser()
			for i := range blockRows {
				if sampled(b, i) {
					continue
				}
				t.Run(rows[i].name, func(t *testing.T) {
					t.Parallel()
					blockRows[i].hold(t, b, server.URL, i, asked)
				})
			}
		})
	}
}

func (r *blockRow) hold(t *testing.T, b *Browser, server string, i int, asked *resources) {
	types := r.types
	if types == nil {
		types = []string{"image", "font", "media"}
	}
	o := routine.PageOptions{Block: types, KeepState: r.keep, RequestsOnly: r.requestsOnly}
	if r.keep {
		o.State = []byte(`{"cookies":[],"storage":[{"origin":"` + server + `","items":[["k","v"]]}]}`)
	}
	p := mustOpenWith(t, b, o)
	r.row.holdOn(t, p, fmt.Sprintf("%s/%d/", server, i))
	if got := asked.names(fmt.Sprint(i)); !slices.Equal(got, r.arrived) {
		t.Errorf("the server was asked for %q, want %q", got, r.arrived)
	}
	if r.code != "" { // the page is gone
		return
	}
	if diff := cmp.Diff(r.counts, p.BlockedRequests()); diff != "" {
		t.Errorf("blocked (-want +got):\n%s", diff)
	}
	if got := p.BlockedRequests(); got != nil {
		t.Errorf("blocked requests are counted twice: %v", got)
	}
	if got := p.Denials(); len(got) > 0 {
		t.Errorf("blocked requests are denials: %v", got)
	}
	if !r.keep {
		return
	}
	if state, err := p.State(testContext(t)); err != nil || !strings.Contains(string(state), `["k","v"]`) {
		t.Errorf("the state is %s, %v", state, err)
	}
}
