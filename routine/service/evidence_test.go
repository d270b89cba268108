package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// failingClick fails with the code.
func failingClick(code routine.Code) func(context.Context, routine.Click) (routine.Match, error) {
	return func(context.Context, routine.Click) (routine.Match, error) {
		return routine.Match{}, routine.Errorf(code, "the click failed")
	}
}

// The error of an element that was not found or cannot be used names what could
// have been meant; other errors and other readers stay as they were.
func TestErrorNamesTheNearestElements(t *testing.T) {
	elements := []routine.Element{{Selector: "#b", Text: "Old", Problem: "is disabled", Matched: true},
		{Selector: "button.buy-now", Text: "Buy now"}, {Selector: "[name=x]", Where: "in the frame iframe#pay"},
		{Selector: "#hidden", Problem: "is hidden"}, {Selector: "#c3"}, {Selector: "#c4", Text: strings.Repeat("x", 50)}, {Selector: "#c5"}}
	late := []routine.Element{{Selector: "#b", Matched: true}, {Selector: "#c"}}
	const named = "; nearest: button.buy-now 'Buy now', [name=x] (in the frame iframe#pay), #c3, #c4 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
	for _, row := range []struct {
		name     string
		code     routine.Code
		evidence *routine.Evidence
		want     string // after the error
	}{
		{"not found", routine.CodeElementNotFound, &routine.Evidence{Elements: elements[1:]}, " after 20000 ms" + named},
		{"not actionable", routine.CodeElementNotActionable, &routine.Evidence{Elements: elements}, " after 20000 ms" + named},
		{"not actionable for a reason that has passed", routine.CodeElementNotActionable, &routine.Evidence{Elements: late}, " after 20000 ms; nearest: #c"},
		{"not actionable, and nothing else is there", routine.CodeElementNotActionable, &routine.Evidence{Elements: late[:1]}, " after 20000 ms"},
		{"too late", routine.CodeElementNotFound, &routine.Evidence{Elements: late}, " after 20000 ms; it came right after that: wait longer for it (timeout_ms)"},
		{"none", routine.CodeElementNotFound, &routine.Evidence{Elements: []routine.Element{}}, " after 20000 ms; there is nothing else to act on"},
		{"a page that did not answer", routine.CodeElementNotFound, &routine.Evidence{}, " after 20000 ms"},
		{"no evidence", routine.CodeElementNotFound, nil, " after 20000 ms"},
		{"another failure", routine.CodeBrowserCrashed, &routine.Evidence{Elements: elements}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			page := routinetest.Page{Click: failingClick(row.code), Evidence: func(context.Context, routine.Inspection) *routine.Evidence { return row.evidence }}
			e, err := runOnce(t, page, `{"type":"click","selector":"#b"}`, "", `{}`)
			if want := "operation 1 of 1 (click): the click failed" + row.want; routine.CodeOf(err) != row.code || *e.Error != want || *e.Result.Error != want {
				t.Errorf("%s %s, want %s", routine.CodeOf(err), *e.Error, want)
			}
			if e.Evidence != row.evidence {
				t.Errorf("evidence %+v", e.Evidence)
			}
		})
	}
}

// For operations that only read, the error suggests no element to act on.
func TestErrorOfReadingSuggestsNoElement(t *testing.T) {
	page := routinetest.Page{OuterHTML: func(context.Context, string) (string, int, error) {
		return "", 0, routine.Errorf(routine.CodeElementNotFound, "no element matches %q", "#t")
	}, Evidence: routinetest.ShowEvidence(&routine.Evidence{Elements: []routine.Element{}})}
	e, _ := runOnce(t, page, `{"type":"return_html","scope":"element","selector":"#t"}`, "", `{}`)
	if want := `operation 1 of 1 (return_html): no element matches "#t" after 20000 ms; nothing on the page is named like it`; *e.Error != want {
		t.Error(*e.Error)
	}
}

// The page gets the selector of the failed operation with its values filled in.
func TestInspection(t *testing.T) {
	for operation, want := range map[string]routine.Inspection{
		`{"type":"click","selector":"#b-{{n}}"}`:               {Use: routine.UseClick, Selector: "#b-7", Secrets: []string{"tr2"}},
		`{"type":"return","session_storage_key":"{{k}}{{n}}"}`: {Secrets: []string{"tr2"}},
	} {
		var got routine.Inspection
		page := routinetest.Page{Click: failingClick(routine.CodeElementNotFound),
			Evidence: func(_ context.Context, i routine.Inspection) *routine.Evidence { got = i; return nil }}
		_, err := runOnce(t, page, operation, `{"name":"n"},{"name":"k","x-secret":true}`, `{"n":"7","k":"tr2"}`)
		if diff := cmp.Diff(want, got); err == nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// A page is not searched for megabytes of secrets: there is no evidence then.
func TestNoEvidenceWithTooManySecrets(t *testing.T) {
	page := routinetest.Page{Click: failingClick(routine.CodeElementNotFound), Evidence: routinetest.ShowEvidence(&routine.Evidence{})}
	for size, want := range map[int]bool{1 << 10: true, 300 << 10: false} {
		e, err := runOnce(t, page, `{"type":"click","selector":"#b"},{"type":"press","key":"{{k}}"}`, `{"name":"k","x-secret":true}`, `{"k":"`+strings.Repeat("x", size)+`"}`)
		if err == nil || (e.Evidence != nil) != want {
			t.Errorf("%d bytes: evidence %v, error %v", size, e.Evidence, err)
		}
	}
}

// Evidence stays small, shows no secret and contains no control characters, no
// matter what the page contains.
func TestEvidenceIsSmallAndShowsNoSecret(t *testing.T) {
	long := strings.Repeat("\u2028é<tr2>", 100) + "\x1b[31m tr2 "
	e := routine.Evidence{URL: "https://ann:pw@a.test/?access_token=qrs&k=tr2#id_token=xyz&n=" + long, Title: long, Text: long,
		Screenshot: &routine.Screenshot{Data: []byte("tr2")}}
	for i := range 40 {
		e.Elements = append(e.Elements, routine.Element{Selector: fmt.Sprintf("[title=\"tr2%d\"]", i), Role: long, Text: long, Where: long, Problem: long})
		e.Console = append(e.Console, fmt.Sprint(i, long))
		e.FailedRequests = append(e.FailedRequests, routine.FailedRequest{Method: long, URL: "https://ann:pw@a.test/?Password=qrs&n=" + long, Error: long})
	}
	page := routinetest.Page{Click: failingClick(routine.CodeElementNotFound), Evidence: routinetest.ShowEvidence(&e)}
	got, _ := runOnce(t, page, `{"type":"click","selector":"#{{k}}"}`, `{"name":"k","x-secret":true}`, `{"k":"tr2"}`)
	text, err := json.Marshal(got)
	if err != nil || len(text) > 12<<10 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	evidence, _ := json.Marshal(got.Evidence)
	if len(evidence) > 8<<10 || len(got.Evidence.Elements) == 0 || got.Evidence.Elements[0].Selector != `[title="***0"]` {
		t.Errorf("%d bytes: %s", len(evidence), evidence)
	}
	for _, bad := range []string{"tr2", "ann:pw", "qrs", "xyz", `\u001b`, `\u2028`} {
		if strings.Contains(string(text), bad) {
			t.Errorf("%q is shown: %s", bad, text)
		}
	}
	if !strings.HasPrefix(got.Evidence.URL, "https://a.test/?access_token=***&k=***#id_token=***&n=") {
		t.Error(got.Evidence.URL)
	}
}

// The latest lines are those that tell of the failure.
func TestEvidenceKeepsTheLatest(t *testing.T) {
	e := routine.Evidence{}
	for i := range 12 {
		e.Console = append(e.Console, fmt.Sprint("line ", i))
	}
	page := routinetest.Page{Click: failingClick(routine.CodeElementNotFound), Evidence: routinetest.ShowEvidence(&e)}
	got, _ := runOnce(t, page, `{"type":"click","selector":"#b"}`, "", `{}`)
	if c := got.Evidence.Console; len(c) != 10 || c[0] != "line 2" || c[9] != "line 11" {
		t.Error(c)
	}
}

// Evidence may take a moment after a failure, also after the timeout of the run,
// but not if the caller is gone.
func TestWhenEvidenceIsTaken(t *testing.T) {
	hang := func(ctx context.Context, _ routine.Click) (routine.Match, error) {
		<-ctx.Done()
		return routine.Match{}, context.Cause(ctx)
	}
	for _, row := range []struct {
		name  string
		click func(context.Context, routine.Click) (routine.Match, error)
		// cancel ends the caller's patience, close the service's.
		cancel, close time.Duration
		taken         bool
		took          time.Duration
	}{
		{"a run that goes well", nil, 0, 0, false, 0},
		{"a failure, on a page that hangs", failingClick(routine.CodeElementNotFound), 0, 0, true, 1500 * time.Millisecond},
		{"the run's time is over", hang, 0, 0, true, 11500 * time.Millisecond},
		{"the caller has gone", hang, time.Second, 0, false, time.Second},
		{"the service stops", hang, 0, time.Second, false, time.Second},
		{"the caller goes meanwhile", failingClick(routine.CodeElementNotFound), time.Second, 0, true, time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := parse(t, definitionOf(`{"type":"click","selector":"#b"}`, ""))
			synctest.Test(t, func(t *testing.T) {
				taken := false
				page := routinetest.Page{Click: row.click, Evidence: func(ctx context.Context, _ routine.Inspection) *routine.Evidence {
					taken = true
					if ctx.Err() != nil {
						t.Error("there is no time for it")
					}
					<-ctx.Done()
					return &routine.Evidence{}
				}}
				s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: page}})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if row.cancel > 0 {
					time.AfterFunc(row.cancel, cancel)
				}
				if row.close > 0 {
					now, stop := context.WithCancel(t.Context())
					stop()
					time.AfterFunc(row.close, func() { s.Close(now) })
				}
				start := time.Now()
				e, err := s.RunOnce(ctx, routine.Principal{}, d, service.Call{Timeout: 10 * time.Second})
				if took := time.Since(start); taken != row.taken || took != row.took || (e.Evidence != nil) != row.taken {
					t.Errorf("taken %v after %v with %v: %+v, want %v after %v", taken, took, err, e.Evidence, row.taken, row.took)
				}
				synctest.Wait()
			})
		})
	}
}

const screenshot = "screenshot.jpg"

// noFiles is a Store that cannot keep files.
type noFiles struct{ routine.Store }

func (noFiles) PutFile(context.Context, string, *routine.File) error { return errors.New("disk full") }

// Evidence is in the ledger with its execution, the screenshot as a file of it.
// That the file is lost does not change how the run ended.
func TestEvidenceIsKept(t *testing.T) {
	shown := routine.Evidence{URL: "https://a.test/", Elements: []routine.Element{{Selector: "#c"}},
		Screenshot: &routine.Screenshot{ContentType: "image/jpeg", Width: 2, Height: 1, Size: 3, Data: []byte("jpg")}}
	for name, keep := range map[string]func(routine.Store) routine.Store{
		screenshot: func(s routine.Store) routine.Store { return s },
		"":         func(s routine.Store) routine.Store { return noFiles{s} },
	} {
		store := routinetest.NewStore()
		picture := *shown.Screenshot
		e := shown
		e.Screenshot = &picture
		b := &routinetest.Browser{Page: routinetest.Page{Click: failingClick(routine.CodeElementNotFound), Evidence: routinetest.ShowEvidence(&e)}}
		s := service.New(service.Config{Store: keep(store), Browser: b})
		ran, err := s.Execute(t.Context(), ann, create(t, s, ann, definitionOf(`{"type":"click","selector":"#b"}`, "")).ID, service.Call{})
		if routine.CodeOf(err) != routine.CodeElementNotFound {
			t.Fatal(err)
		}
		kept, err := store.Execution(t.Context(), ran.ID)
		if err != nil {
			t.Fatal(err)
		}
		if summary, err := json.Marshal(ran.Summary()); err != nil || strings.Contains(string(summary), "evidence") {
			t.Errorf("%s %v", summary, err)
		}
		want := shown
		want.Screenshot = &routine.Screenshot{ContentType: "image/jpeg", Width: 2, Height: 1, Size: 3, File: name}
		if diff := cmp.Diff(&want, kept.Evidence) + cmp.Diff(ran.Files, kept.Files); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		f, err := store.File(t.Context(), ran.ID, screenshot)
		if name == "" {
			if !errors.Is(err, routine.ErrNotFound) {
				t.Error(err)
			}
			continue
		}
		if err != nil || string(f.Data) != "jpg" || f.ContentType != "image/jpeg" || len(kept.Files) != 1 {
			t.Errorf("%+v %v", f, err)
		}
	}
}
