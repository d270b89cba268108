package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rote/cmd/rote/practice"
	"rote/routine"
	"rote/routine/routinetest/display"
	"rote/routine/routinetest/optional"
)

// practiceShop serves the practice shop. It returns its URL and the flags with which rote reaches it.
func practiceShop(t *testing.T) (string, []string) {
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(func() { shop.CloseClientConnections(); shop.Close() })
	return shop.URL, []string{"--allow-host", strings.TrimPrefix(shop.URL, "http://")}
}

// searchLamps searches the shop as a person does, and marks the list that it finds.
func searchLamps(v *visitor, screen *terminal) {
	v.click("#q", 0)
	v.types("lamps")
	v.presses("Backspace", 8, "")
	v.presses("Enter", 13, "\r")
	v.click(".product .name", withAlt)
	screen.shows("return ")
}

// recordSearch records the search of a shop, and returns the files with the routine and with its
// form with a request.
func recordSearch(t *testing.T, site string, flags []string) (file, fetch string) {
	file = filepath.Join(t.TempDir(), "find.json")
	run := recordInWindow(t, true, func(v *visitor, screen *terminal) {
		searchLamps(v, screen)
		screen.enter("s")
		screen.shows("with the name query")
		screen.enter("")
	}, append(flags, site+"/", "-o", file, "--save", "find products")...)
	if run.err != nil || !strings.Contains(run.errs, "Proof passed") || !strings.Contains(run.errs, "Steadier as fetch: 1 GET /api/search?q={str}") ||
		!strings.Contains(run.errs, "Saved: find products is active") || run.out != "" {
		t.Fatalf("%v\n%s\n%s", run.err, run.out, run.errs)
	}
	return file, strings.TrimSuffix(file, ".json") + ".fetch.json"
}

// The search of the shop by a person becomes a routine that is proved, with the text as a
// parameter, and one with the request of the page. Both work for another text.
func TestRecordSearch(t *testing.T) {
	site, flags := practiceShop(t)
	file, fetch := recordSearch(t, site, flags)
	var kinds []any
	for _, o := range readJSON(t, file)["operations"].([]any) {
		kinds = append(kinds, o.(map[string]any)["type"])
	}
	if !slices.Equal(kinds, []any{"navigate", "input_text", "press", "js_evaluate", "return"}) {
		t.Errorf("the operations are %v", kinds)
	}
	for _, f := range []string{file, fetch} {
		if ps := readJSON(t, f)["parameters"].([]any); len(ps) != 1 || ps[0].(map[string]any)["name"] != "query" {
			t.Errorf("%s has the parameters %v", f, ps)
		}
	}
	r := newRote(t)
	r.shop = site
	for _, f := range []string{file, fetch} {
		if out, errs, code := r.run("run", f, "-p", "query=notebook"); code != 0 || !strings.Contains(out, "Linen Notebook") {
			t.Errorf("%s: exit %d\n%s\n%s", f, code, out, errs)
		}
	}
}

// The form with the request is at least three times as fast as the one with the page.
func TestSpeedOfARecordedRequest(t *testing.T) {
	optional.Speed(t)
	site, flags := practiceShop(t)
	file, fetch := recordSearch(t, site, flags)
	r := newRote(t)
	r.shop = site
	server := r.serve()
	ids := map[string]any{}
	for _, f := range []string{file, fetch} {
		d := readJSON(t, f)
		d["name"] = filepath.Base(f)
		status, stored := server.call("POST", "/routines/", routine.JSONText(d))
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, stored)
		}
		ids[f] = stored["id"]
	}
	// In turns, so that what else the machine does slows both; the quickest of each counts.
	seconds := map[string]float64{}
	for range 15 {
		for f, id := range ids {
			_, e := server.call("POST", fmt.Sprintf("/routines/%v/execute", id), `{"parameters": {"query": "notebook"}}`)
			if !strings.Contains(routine.JSONText(e), "Linen Notebook") {
				t.Fatalf("%s: %v", f, e)
			}
			took := e["duration_seconds"].(float64)
			if seconds[f] == 0 || took < seconds[f] {
				seconds[f] = took
			}
		}
	}
	t.Logf("with the page %.3f s, with the request %.3f s", seconds[file], seconds[fetch])
	if seconds[fetch]*3 > seconds[file] {
		t.Error("the request is not three times as fast")
	}
}

// In a real window the same is recorded. Without a file the routine goes to standard output, and
// closing the window saves.
func TestRecordInARealWindow(t *testing.T) {
	display.Use(t)
	site, flags := practiceShop(t)
	run := recordInWindow(t, false, func(v *visitor, screen *terminal) {
		searchLamps(v, screen)
		v.closePage()
		screen.shows("with the name query")
		screen.enter("word")
	}, append(flags, site+"/", "--prove", "no")...)
	if run.err != nil || !strings.Contains(run.out, `"text": "{{word}}"`) || !strings.Contains(run.errs, "Not tried: --prove no.") {
		t.Errorf("%v\n%s\n%s", run.err, run.out, run.errs)
	}
}

// What is typed into a password field is in nothing that rote has, also when the page shows it.
func TestRecordKeepsNoSecret(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><form action="/in" method=post><label>User <input name=user></label>
			<label>Key <input id=k type=password></label><button type=button id=eye onclick="k.type = 'text'">Show</button>
			<p id=echo></p><button id=go data-note="">Log in</button></form>
			<script>k.oninput = () => { echo.textContent = k.value; go.dataset.note = go.title = k.value }</script>`)
	})
	mux.HandleFunc("POST /in", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "in") })
	site := httptest.NewServer(mux)
	defer site.Close()
	file := filepath.Join(t.TempDir(), "login.json")
	run := recordInWindow(t, true, func(v *visitor, screen *terminal) {
		v.click("[name=user]", 0)
		v.types("ann")
		v.click("#eye", 0)
		v.click("#k", 0)
		v.types("correcthorse")
		v.click("#go", 0)
		screen.shows("#go")
		screen.enter("s")
		screen.shows("a parameter?")
		screen.enter("n")
	}, "--allow-host", strings.TrimPrefix(site.URL, "http://"), site.URL+"/", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil || run.err != nil || !strings.Contains(string(text), `"text": "{{key}}"`) || !strings.Contains(string(text), `"x-secret": true`) {
		t.Errorf("%v %v\n%s\n%s", run.err, err, text, run.errs)
	}
	if strings.Contains(string(text)+run.errs, "correct") || !strings.Contains(run.errs, "Not tried: it needs key") {
		t.Errorf("the secret is told, or the trial is not explained:\n%s\n%s", text, run.errs)
	}
}

// Each command of the terminal: undo, mark the element under the pointer, name a parameter, help and quit.
func TestRecordTerminal(t *testing.T) {
	site, flags := practiceShop(t)
	run := recordInWindow(t, true, func(v *visitor, screen *terminal) {
		screen.enter("u")
		screen.shows("nothing was recorded for that")
		screen.enter("r")
		screen.shows("the pointer is over no element")
		v.click("#q", 0)
		v.types("mug")
		screen.shows(`"mug"`)
		screen.enter("p thing")
		screen.shows(`{{thing}}`)
		v.click("#search", 0)
		screen.shows("3 click")
		screen.enter("u")
		screen.shows("left out")
		v.middle(".product")
		screen.enter("r")
		screen.shows("3 return_html #search")
		screen.enter("?")
		screen.enter("q")
	}, append(flags, site+"/")...)
	if run.err == nil || run.err.Error() != "nothing was saved" || run.out != "" || strings.Count(run.errs, recordHelp) != 2 {
		t.Errorf("%v\n%s\n%s", run.err, run.out, run.errs)
	}
}

// Mistakes are said before a window opens. Without a display the exit code is 2.
func TestRecordMistakes(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"record https://shop.example/": {2, "there is no display: use rote teach, or record in Chrome DevTools and rote import"},
		"record shop.example":          {1, "write it with its scheme, as in https://shop.example/"},
		"record":                       {2, "expected"},
		"record https://shop.example/ -o /nowhere/x.json":      {1, "there is no folder /nowhere"},
		"record https://shop.example/ --prove some":            {2, "--prove"},
		"record https://shop.example/ --secret K@a.example=/n": {1, "--secret K: "},
	} {
		if _, errs, code := r.run(strings.Fields(args)...); code != want.code || !strings.Contains(errs, want.text) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}
