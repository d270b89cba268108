package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
	"github.com/google/go-cmp/cmp"

	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/browser/recorder"
	"rote/cmd/rote/practice"
	"rote/routine/recording"
)

// recordedPages serves the practice pages of the recorder, with a redirect and a file, and the
// practice shop.
func recordedPages(t *testing.T) *url.URL {
	mux := http.NewServeMux()
	mux.Handle("/", practice.NewSite())
	mux.Handle("GET /pages/", http.FileServer(http.Dir(filepath.Join("testdata", "recorded"))))
	mux.Handle("GET /moved", http.RedirectHandler("/pages/arrived.html", http.StatusFound))
	mux.HandleFunc("GET /list.csv", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment")
		_, _ = io.WriteString(w, "a,b\n")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	u, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// watched is a person whose acts in a window are recorded.
type watched struct {
	*visitor
	events chan recording.Event
	site   *url.URL
	// recording is that of the present page.
	recording *recording.Recording
}

// watch opens a window without a display, which may reach a site.
func watch(t *testing.T, site *url.URL) *watched {
	needsWindowed(t)
	policy, err := egress.NewPolicy(egress.Public, []string{site.Host, "localhost:" + site.Port()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := egress.Listen(policy, egress.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close() })
	browser, err := chromium.FindWindowed("")
	if err != nil {
		t.Fatal(err)
	}
	c := recorder.Config{Executable: browser, URL: site.JoinPath("/pages/done.html").String(), Proxy: proxy.Addr(), Headless: true}
	w, err := recorder.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended); w.Close() })
	p := &watched{newVisitor(t, w), make(chan recording.Event, 1000), site, &recording.Recording{}}
	go func() { // events are read while the person acts
		for {
			select {
			case e := <-w.Events():
				p.events <- e
			case <-w.Closed():
				return
			case <-ended:
				return
			}
		}
	}()
	p.call(p.session, "Page.enable", nil, &struct{}{})
	p.until(recording.Navigate)
	p.at("/pages/done.html")
	return p
}

// until records until an event of a kind has come.
func (p *watched) until(kind recording.Kind) {
	p.t.Helper()
	for timeout := time.After(testTime); ; {
		select {
		case e := <-p.events:
			if _, err := p.recording.Add(e); err != nil {
				p.t.Fatal(err)
			}
			if e.Kind == kind {
				return
			}
		case <-timeout:
			p.t.Fatalf("there was no %s", kind)
		}
	}
}

// address opens a page of the site as the address bar does.
func (p *watched) address(path string) {
	p.call(p.session, "Page.navigate", map[string]any{"url": p.site.JoinPath(path).String(), "transitionType": "typed"}, &struct{}{})
	p.until(recording.Navigate)
}

// back goes back in the history.
func (p *watched) back() {
	var history struct {
		CurrentIndex int `json:"currentIndex"`
		Entries      []struct {
			ID int `json:"id"`
		} `json:"entries"`
	}
	p.call(p.session, "Page.getNavigationHistory", nil, &history)
	p.call(p.session, "Page.navigateToHistoryEntry", map[string]any{"entryId": history.Entries[history.CurrentIndex-1].ID}, &struct{}{})
	p.until(recording.Navigate)
}

// asked clicks an element that opens a dialog, and does not wait until the page has handled it.
func (p *watched) asked(selector string) {
	at := p.middle(selector)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.w.Client().Send(proto.TargetSessionID(p.session), "Input.dispatchMouseEvent",
			map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}).Forget()
	}
}

// answers answers a dialog when it is there.
func (p *watched) answers(accept bool, text string) {
	for done := (*struct{})(nil); done == nil; {
		p.call(p.session, "Page.handleJavaScriptDialog", map[string]any{"accept": accept, "promptText": text}, &done)
	}
	p.until(recording.Dialog)
}

// inShadow returns the middle of an element in the first open shadow root of the page.
func (p *watched) inShadow(selector string) point {
	p.does(`(n => (window.found = n, true))([...document.querySelectorAll("*")].find(e => e.shadowRoot).shadowRoot.querySelector("` + selector + `"))`)
	return p.middleOf("window.found")
}

// inFrame returns the middle of an element in the frame of the page, which has no border.
func (p *watched) inFrame(selector string) point {
	frame := p.middle("iframe")
	at := p.middleOf(`document.querySelector("iframe").contentDocument.querySelector("` + selector + `")`)
	return point{frame.X - 150 + at.X, frame.Y - 75 + at.Y}
}

// at waits for a page of the site.
func (p *watched) at(path string) { p.does(`location.pathname === "` + path + `"`) }

// button presses a mouse button on an element.
func (p *watched) button(selector, button string) {
	at := p.middle(selector)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p.call(p.session, "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": button, "clickCount": 1}, &struct{}{})
	}
}

// wheel turns the wheel over an element.
func (p *watched) wheel(selector string) {
	at := p.middle(selector)
	p.call(p.session, "Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": at.X, "y": at.Y, "deltaX": 0, "deltaY": 400}, &struct{}{})
	p.does(`document.querySelector("` + selector + `").scrollTop >= 100`)
}

// other is the person in another window than p's.
func (p *watched) other() *watched {
	q := *p
	q.visitor = newVisitorOf(p.t, p.w, func(target string) bool { return target != p.target })
	return &q
}

// golden returns the text of the golden file of a page: the recorded routine and its messages.
func (p *watched) golden() string {
	built := p.recording.Build("recorded")
	var notes []string
	for _, item := range built.Items {
		if item.Message != "" {
			notes = append(notes, item.Source.Text+": "+item.Message)
		}
	}
	for _, problem := range append(built.Errors, built.Warnings...) {
		notes = append(notes, problem.String())
	}
	text, err := indented(built.Definition)
	if err != nil {
		p.t.Fatal(err)
	}
	if len(notes) > 0 {
		told, err := json.MarshalIndent(notes, "", "  ")
		if err != nil {
			p.t.Fatal(err)
		}
		text = append(append(text, told...), '\n')
	}
	return strings.ReplaceAll(string(text), ":"+p.site.Port(), ":8080")
}

// What a person does on each practice page becomes the routine that is in a golden file.
func TestRecordPages(t *testing.T) {
	p := watch(t, recordedPages(t))
	for _, page := range recordedActs {
		t.Run(page.name, func(t *testing.T) {
			p.t, p.recording = t, &recording.Recording{}
			path, end := "/pages/"+page.name+".html", "#end"
			if page.path != "" {
				path, end = page.path, page.end
			}
			p.address(path)
			page.act(p)
			p.click(end, withAlt)
			p.until(recording.Result)
			got, path := p.golden(), filepath.Join("testdata", "recorded", page.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("go test ./cmd/rote -run TestRecordPages -update rewrites it:\n%s", diff)
			}
			for _, secret := range []string{"hunter2", "246810", "4111", "ann lee", "987", "lovelace"} {
				if strings.Contains(got, secret) {
					t.Errorf("%s is in the routine", secret)
				}
			}
		})
	}
}
