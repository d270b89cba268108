package console_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/stopwatch"
	"rote/routine/service"
	"rote/routine/sqlite"
)

// Budgets of a page. A slow machine may take a number of times what it takes to read and
// decode the routines of a page one by one.
const (
	maxPageTime    = 5 * time.Millisecond
	maxPageFloors  = 5
	maxFirstLoad   = 15 << 10
	listedRoutines = 25
)

// A page of the list, with the runs of its routines, and the page of a run come from a store
// with 1,000 routines in maxPageTime, half of the times.
func TestPagesAreFast(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rote.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	local := ada
	e := newEnv(t, func(c *envConfig) { c.service.Store, c.http.Local = store, &local })
	d := routinetest.Parse(t, searchText)
	var ids []string
	for i := range 1000 {
		r := routinetest.Routine(t, func(r *routine.Routine) {
			r.OrganizationID, r.ToolName, r.Definition, r.CreatedAt = "default", fmt.Sprint("tool_", i), d, int64(i)
		})
		if err := store.CreateRoutine(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	newest := ids[len(ids)-listedRoutines:]
	e.browser.Page.HTML = strings.Repeat("<p>lamp</p>", 1000)
	var run *routine.Execution
	for _, id := range newest {
		for range 12 {
			if run, err = e.service.Execute(t.Context(), ada, id, service.Call{Parameters: []byte(`{"query":"lamp"}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	oneByOne := func() {
		for _, id := range newest {
			if _, err := store.Routine(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, page := range map[string]string{"list": "/console/routines", "run": "/console/executions/" + run.ID} {
		took, floor := medianTimes(func() {
			w := httptest.NewRecorder()
			e.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", e.URL+page, nil))
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d: %s", page, w.Code, w.Body)
			}
		}, oneByOne)
		t.Logf("%s: %v, %d routines one by one: %v", name, took, listedRoutines, floor)
		if took > maxPageTime && took > maxPageFloors*floor {
			t.Errorf("the page of the %s takes %v, of which %v are allowed, or %d times %v", name, took, maxPageTime, maxPageFloors, floor)
		}
	}
}

// medianTimes returns the medians of the times that two functions take, which are called in turn.
func medianTimes(do, other func()) (time.Duration, time.Duration) {
	all, others := make([]time.Duration, 31), make([]time.Duration, 31)
	for i := range all {
		all[i], others[i] = stopwatch.Time(do), stopwatch.Time(other)
	}
	slices.Sort(all)
	slices.Sort(others)
	return all[len(all)/2], others[len(others)/2]
}

var (
	assetLink    = regexp.MustCompile(`(?:src|href)="([^"]*/assets/[^"]*)"`)
	moduleImport = regexp.MustCompile(`(?:from|import) ?"(\./[^"]+)"`)
)

// The first load of a page, with all styles and scripts, is small.
func TestFirstLoadIsSmall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i := range listedRoutines {
		e.create(strings.Replace(searchText, "search_products", fmt.Sprint("search_", i), 1))
	}
	run := e.run(e.create(searchText).ID, `{"query":"lamp"}`)
	e.signIn()
	for _, page := range []string{"/console/login", "/console/routines", "/console/routines/" + run.RoutineID, "/console/executions",
		"/console/executions/" + run.ID, "/console/tokens", "/console/health"} {
		html := e.get(page, http.StatusOK).body
		seen := map[string]bool{}
		total := compressedSize(t, html)
		for _, link := range assetLink.FindAllStringSubmatch(html, -1) {
			total += e.loadAsset(link[1], seen)
		}
		t.Logf("%s: %d bytes with %d files", page, total, len(seen))
		if total > maxFirstLoad {
			t.Errorf("the first load of %s has %d bytes, of which %d are allowed", page, total, maxFirstLoad)
		}
		if len(seen) < 3 {
			t.Errorf("%s has only the files %v", page, seen)
		}
	}
}

// loadAsset returns the compressed bytes of a file and of the modules that it imports, without
// those that have been seen.
func (e *env) loadAsset(address string, seen map[string]bool) int {
	e.t.Helper()
	if seen[address] {
		return 0
	}
	seen[address] = true
	text := e.get(address, http.StatusOK).body
	total := compressedSize(e.t, text)
	for _, name := range moduleImport.FindAllStringSubmatch(text, -1) {
		total += e.loadAsset(path.Join(path.Dir(address), name[1]), seen)
	}
	return total
}

func compressedSize(t testing.TB, text string) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
