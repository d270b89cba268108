package browser

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
	"rote/routine/service"
	"rote/routine/sqlite"
)

// What secrets may cost: a run that uses none takes at most maxWithoutSecret times as long where
// there are some, and one that types a secret at most maxTypedSecret longer than one that types
// any text. The goal of the first is 1.01, which no short test shows on a shared machine.
const (
	maxWithoutSecret = 1.05
	maxTypedSecret   = 5 * time.Millisecond
)

// fiveSteps is a routine of five operations. Its page does not store the text that is typed into it.
const (
	fiveStepsPage = `<form id=f onsubmit="return false"><input id=q autocomplete=off><button id=go type=button>Submit</button></form><p id=result></p>
		<script>go.onclick = () => { q.value = ''; result.textContent = 'Hello!'; history.pushState(null, '', '/?done=1') }</script>`
	fiveSteps = `{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "%s/"}, {"type": "input_text", "selector": "#q", "text": "%s"},
		{"type": "click", "selector": "#go"}, {"type": "wait_for_url", "url_regex": "done=1$"},
		{"type": "return_html", "scope": "element", "selector": "#result"}]}`
)

// timedRun is a routine in a service, and how long its runs took.
type timedRun struct {
	service *service.Service
	d       *routine.Definition
	took    []time.Duration
}

func (r *timedRun) do(t *testing.T) {
	t.Helper()
	begun := time.Now()
	e, err := r.service.RunOnce(t.Context(), routine.Principal{OrganizationID: "acme", ProjectID: "p", UserID: "ann"}, r.d, service.Call{})
	r.took = append(r.took, time.Since(begun))
	if err != nil || !strings.Contains(string(e.Result.Data), "Hello!") {
		t.Fatalf("%+v, %v", e, err)
	}
}

// quick returns the time that a quarter of the runs have not needed. Other load on the machine
// changes it less than the median.
func (r *timedRun) quick() time.Duration { return slices.Sorted(slices.Values(r.took))[len(r.took)/4] }

// A run without secrets takes as long in a database with many secrets as in one without, and one
// that types a secret hardly longer. The runs take turns, so that other load meets all of them;
// slow code is slow in each round.
func TestSpeedOfSecrets(t *testing.T) {
	optional.Speed(t)
	b, url := own(t), site(t, map[string]any{"/": fiveStepsPage})
	serve := func(secrets int) *service.Service {
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rote.db"))
		if err != nil {
			t.Fatal(err)
		}
		s := service.New(service.Config{Store: store, Browser: b})
		t.Cleanup(func() { s.Close(t.Context()); _ = store.Close() })
		for i := range secrets {
			secret := routinetest.Secret(func(s *routine.Secret) {
				s.Name, s.Hosts, s.Field, s.Routines = fmt.Sprint("shop", i), []string{strings.TrimPrefix(url, "http://")}, routine.FieldAny, nil
			})
			session := routinetest.Session(func(s *routine.Session) { s.Name = secret.Name })
			if err := store.SaveSecret(t.Context(), secret, 0); err != nil {
				t.Fatal(err)
			}
			if err := store.SaveSession(t.Context(), session, []byte("state"), 0); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	run := func(s *service.Service, text string) *timedRun {
		d, _, err := definition.Parse(fmt.Appendf(nil, fiveSteps, url, text))
		if err != nil {
			t.Fatal(err)
		}
		return &timedRun{service: s, d: d}
	}
	empty, full := serve(0), serve(200)
	const text = "correct horse" // as long as the secret
	before, without, with := run(empty, text), run(full, text), run(full, "{{secret:shop7.password}}")
	turns := []*timedRun{before, without, run(empty, text), with} // as many of each database
	ratio, more, plain := math.Inf(1), time.Duration(math.MaxInt64), time.Duration(0)
	for range 10 {
		before.do(t) // the first after a pause is slow
		for _, r := range turns {
			r.took = nil
		}
		for i := range 30 {
			for n := range turns { // forwards and backwards
				turns[(i+n*(1+i%2*2))%len(turns)].do(t)
			}
		}
		plain = before.quick()
		ratio, more = min(ratio, float64(without.quick())/float64(plain)), min(more, with.quick()-without.quick())
		t.Logf("a run takes %v, in a database with secrets %v, and with a typed secret %v", plain, without.quick(), with.quick())
		if ratio <= maxWithoutSecret && more <= max(maxTypedSecret, plain/20) { // a busy machine does all more slowly
			return
		}
	}
	t.Fatalf("a run without secrets takes %.4f times as long where there are some, want at most %.2f; one with a typed secret %v longer, want at most %v",
		ratio, maxWithoutSecret, more, max(maxTypedSecret, plain/20))
}

// What a run without secrets does because there could be some takes less than a hundredth of it.
func TestSpeedOfChecksWithoutSecrets(t *testing.T) {
	optional.Speed(t)
	p := openPage(t, site(t, map[string]any{"/": fiveStepsPage}))
	const n = 1000
	hop := &pausedHop{}
	hop.Request.URL = "https://shop.example/"
	took := stopwatch.Time(func() {
		for range n * 5 { // a run of five operations does less
			if err := p.checkExposed(t.Context(), "no script may run"); err != nil {
				t.Fatal(err)
			}
			if err := p.checkSelector(t.Context(), `#f [name="q"]:first-child`); err != nil {
				t.Fatal(err)
			}
			if p.leak(hop) != nil || p.isWatched() || len(p.withReleased(nil)) > 0 {
				t.Fatal("the page has a secret")
			}
		}
	}) / n
	t.Logf("the checks of a run take %v", took)
	if took > 200*time.Microsecond { // of more than 20 ms
		t.Errorf("the checks of a run take %v", took)
	}
}
