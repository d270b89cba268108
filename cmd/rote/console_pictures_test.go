package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
)

// maxPicture is the greatest size of a picture of the documentation, in bytes.
const maxPicture = 60_000

// The pictures of the console are taken of the program itself, which runs the demo. This
// command replaces those of the documentation:
//
//	ROTE_SHOTS=$PWD/httpapi/docs/pictures go test ./cmd/rote -count=1 -whole -run TestPicturesOfTheConsole
//
// Without ROTE_SHOTS they are taken and thrown away.
func TestPicturesOfTheConsole(t *testing.T) {
	onlyWhole(t)
	t.Parallel()
	s := newRote(t).serve("--demo")
	p := openScreen(t, 1000)
	routine, site := p.addDemo(s)
	for _, query := range []string{"lamp", "notebook", "desk", "paper", "clock", "chair"} {
		s.search(routine, site, query, http.StatusCreated)
	}
	p.open(s.url+"/console"+routine+"/edit", `!!document.querySelector("rote-editor")?.view`)
	p.value(`{const view = document.querySelector("rote-editor").view, at = view.state.doc.toString().indexOf("click")
		view.dispatch({changes: {from: at, to: at + 5, insert: "clik"}, selection: {anchor: at + 4}})}`)
	p.sees(`document.querySelector("rote-editor").shadowRoot.textContent.includes("did you mean")`)
	p.picture("editor", 800, 760)

	const broken = `[{"op": "replace", "path": "/operations/2", "value": {"type": "click", "selector": "#serch", "timeout_ms": 1000}}]`
	status, answer, err := s.try("PATCH", routine, broken, "Content-Type", "application/json-patch+json")
	if err != nil || status != http.StatusOK {
		t.Fatal(status, answer, err)
	}
	s.search(routine, site, "lamp", http.StatusInternalServerError)
	failed := s.search(routine, site, "lamp", http.StatusInternalServerError)
	p.open(s.url+"/console"+routine+"?p.query=lamp", `document.body.textContent.includes("Failing since version 2")`)
	p.picture("routine", 0, 700)
	p.open(s.url+"/console/executions/"+failed, `document.querySelector("figure img").naturalWidth > 0`)
	p.picture("run", 0, 1570)

	p.resize(1200)
	p.open(s.url+"/console"+s.teachSearch(site), `document.querySelector("input[type=image]")?.offsetHeight > 100`)
	p.picture("lesson", 0, 1150)
}

// addDemo signs in and adds the demo, and returns the path of its first routine and the address of the shop.
func (p *screen) addDemo(s *server) (routine, site string) {
	p.t.Helper()
	p.open(s.url+"/console/login#"+s.token, `document.querySelector("[name=token]").value !== ""`)
	p.value(`document.querySelector("main button").click()`)
	p.sees(`document.querySelector("h1")?.textContent === "No routines yet"`)
	p.value(`document.querySelector("main form button").click()`)
	p.sees(`document.querySelector("h1")?.textContent.startsWith("search_products")`)
	at, err := url.Parse(strings.Trim(p.value("document.URL"), `"`))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimPrefix(at.Path, "/console"), at.Query().Get("p.site")
}

// search runs the search of the demo and returns the id of the execution.
func (s *server) search(routine, site, query string, want int) string {
	s.t.Helper()
	status, answer := s.call("POST", routine+"/execute", fmt.Sprintf(`{"parameters":{"query":%q,"site":%q}}`, query, site))
	if status != want {
		s.t.Fatalf("status %d: %v", status, answer)
	}
	if failed, is := answer["execution"].(map[string]any); is {
		answer = failed
	}
	return fmt.Sprint(answer["execution_id"])
}

// teachSearch starts a lesson that searches the shop, and returns its path.
func (s *server) teachSearch(site string) string {
	s.t.Helper()
	status, answer := s.call("POST", "/lessons/", fmt.Sprintf(`{"url": %q}`, site+"/"))
	if status != http.StatusCreated {
		s.t.Fatal(status, answer)
	}
	lesson := fmt.Sprint("/lessons/", answer["lesson"])
	for _, operation := range []string{`{"type": "input_text", "selector": "#q", "text": "{{query}}"}`, `{"type": "click", "selector": "#search"}`} {
		status, answer = s.call("POST", lesson+"/operations", `{"operations": [`+operation+`], "values": {"query": "lamp"}}`)
		if status != http.StatusOK {
			s.t.Fatal(status, answer)
		}
	}
	return lesson
}

// The documentation shows pictures that exist and are small.
func TestPicturesOfReadme(t *testing.T) {
	shown := map[string]bool{}
	for dir, text := range map[string]string{"../..": readme(t), "../../httpapi/docs": docsPage(t, "console") + docsPage(t, "teach")} {
		for _, picture := range regexp.MustCompile(`!\[[^\]]{20,}\]\(([^)]+\.png)\)`).FindAllStringSubmatch(text, -1) {
			path := filepath.Join(dir, picture[1])
			shown[path] = true
			info, err := os.Stat(path)
			if err != nil {
				t.Error(err)
			} else if info.Size() > maxPicture {
				t.Errorf("%s has %d bytes", picture[1], info.Size())
			}
		}
	}
	if kept, err := filepath.Glob("../../httpapi/docs/pictures/*.png"); err != nil || len(kept) == 0 || len(kept) != len(shown) {
		t.Errorf("the documentation shows %d pictures of %d: %v", len(shown), len(kept), err)
	}
}

// screen is a page of a browser that takes screenshots.
type screen struct {
	t       *testing.T
	client  *cdp.Client
	session proto.TargetSessionID
	width   int
}

// openScreen starts a browser with a page of a width.
func openScreen(t *testing.T, width int) *screen {
	t.Helper()
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	browser, err := (&chromium.Launcher{Warn: func(lacks string, _ error) { t.Log(lacks) }}).Start(ctx, executable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	p := &screen{t: t, client: browser.Client()}
	var target proto.TargetCreateTargetResult
	p.send("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached proto.TargetAttachToTargetResult
	p.send("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	p.resize(width)
	p.send("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "light"}}}, nil)
	return p
}

// resize gives the page a width. It is high, because the editor renders only lines that are in view.
func (p *screen) resize(width int) {
	p.t.Helper()
	p.width = width
	p.send("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (p *screen) send(method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), testTime)
	defer cancel()
	answer, err := p.client.Send(p.session, method, params).Wait(ctx)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// value evaluates an expression in the page; its value is empty if it throws.
func (p *screen) value(expression string) string {
	p.t.Helper()
	var answer struct {
		Result struct{ Value json.RawMessage }
	}
	p.send("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	return string(answer.Result.Value)
}

// sees waits until an expression is true in the page.
func (p *screen) sees(expression string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(testTime); p.value(expression) != "true"; <-tick.C {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s is not true of %s", expression, p.value("document.URL + document.body.textContent"))
		}
	}
}

// open opens a page and waits until it is loaded and an expression is true in it.
func (p *screen) open(url, ready string) {
	p.t.Helper()
	p.send("Page.navigate", map[string]any{"url": url}, nil)
	path, _, _ := strings.Cut(url, "#")
	p.sees(fmt.Sprintf(`document.URL.startsWith(%q) && document.readyState === "complete" && (%s)`, path, ready))
}

// picture takes a picture of a height of the page, from a place on. Where ROTE_SHOTS names a
// folder, the picture is written there, and must be small.
func (p *screen) picture(name string, from, height int) {
	p.t.Helper()
	var shot proto.PageCaptureScreenshotResult
	clip := map[string]any{"x": 0, "y": from, "width": p.width, "height": height, "scale": 1}
	p.send("Page.captureScreenshot", map[string]any{"format": "png", "clip": clip, "captureBeyondViewport": true}, &shot)
	whole, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		p.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, withFewColours(whole)); err != nil {
		p.t.Fatal(err)
	}
	folder := os.Getenv("ROTE_SHOTS")
	if folder == "" {
		return
	}
	if small.Len() > maxPicture {
		p.t.Errorf("the picture %s has %d bytes", name, small.Len())
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), small.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// withFewColours returns a picture with a palette of its most frequent colours, without near duplicates.
func withFewColours(whole image.Image) *image.Paletted {
	const colours = 96
	counts := map[color.RGBA]int{}
	bounds := whole.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA) }
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[at(x, y)]++
		}
	}
	var palette color.Palette
	alike := map[color.RGBA]bool{}
	for _, c := range slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) }) {
		if near := (color.RGBA{c.R >> 3, c.G >> 3, c.B >> 3, 0}); len(palette) < colours && !alike[near] {
			alike[near] = true
			palette = append(palette, c)
		}
	}
	nearest := map[color.RGBA]uint8{}
	for c := range counts {
		nearest[c] = uint8(palette.Index(c))
	}
	few := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			few.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return few
}
