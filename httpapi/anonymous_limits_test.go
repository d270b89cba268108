package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/service"
)

// sized is a definition of about that many bytes.
func sized(bytes int, fields string) string {
	return `{` + fields + `"name": "sized", "description": "d", "tags": ["t"], "parameters": [{"name": "p", "description": "P"}], "operations": [
		{"type": "navigate", "url": "https://shop.example/{{p}}"}, {"type": "input_text", "selector": "#a", "text": "` + strings.Repeat("x", bytes) + `"}]}`
}

// Without a token only small bodies are accepted, on every path.
func TestAnonymousBodies(t *testing.T) {
	e := newEnv(t)
	const limit = service.MaxAnonymousBody
	fits := sized(limit-400, "")
	large := sized(limit, "")
	for _, row := range []struct {
		token, path, body string
		want              int
	}{
		{"", "/routines/validate_routine_json", fits, 200}, {"", "/routines/validate_routine_json", large, 413}, {"$admin", "/routines/validate_routine_json", large, 200},
		{"$guest", "/routines/validate_routine_json", large, 200}, {"$guest", "/routines/validate_routine_json", strings.Repeat(" ", 5<<20), 413},
		{"", "/routines/$public/execute", `{"parameters": {"page": "` + large[1:limit] + `"}}`, 413},
	} {
		headers := map[string]string{}
		if row.token != "" {
			headers["X-Service-Token"] = row.token
		}
		got := e.must(t, "POST", row.path, headers, row.body)
		if got.status != row.want {
			t.Errorf("%s %s with %d bytes: %d %.300s", row.path, row.token, len(row.body), got.status, got.body)
		}
		if got.status == 413 && row.token == "" && (!strings.Contains(got.body, "262144") || !strings.Contains(got.body, "service token") || !strings.Contains(got.body, "4194304")) {
			t.Errorf("%s", got.body)
		}
	}
	local := newEnv(t, func(c *envConfig) { c.http.Local = &admin })
	if got := local.must(t, "POST", "/routines/validate_routine_json", nil, large); got.status != 200 {
		t.Errorf("without authentication: %d %.300s", got.status, got.body)
	}
}

// A list has a large routine without its large parts, and pages through lists
// are not affected by them.
func TestLargeRoutinesInLists(t *testing.T) {
	optional.OneGoroutine(t)
	e := newEnv(t)
	for i := range 5 {
		if got := e.must(t, "POST", "/routines/", asAdmin, sized([]int{100, 4<<20 - 1000, 33 << 10, 1, 1 << 20}[i], `"is_public": true, `)); got.status != 201 {
			t.Fatal(got.body)
		}
	}
	for _, headers := range []map[string]string{asAdmin, nil, {"X-Service-Token": "$guest"}} {
		seen := map[string]int{}
		for offset := 0; offset < 6; offset += 2 {
			got := e.must(t, "GET", fmt.Sprintf("/routines/?public=true&limit=2&offset=%d", offset), headers, "")
			if got.status != 200 || len(got.body) > 80<<10 {
				t.Fatalf("%d, %d bytes", got.status, len(got.body))
			}
			var page struct {
				Items []struct {
					ID, Name, Description string
					Tags                  []string
					Parameters            []json.RawMessage
					Operations            []json.RawMessage
					Omitted               []string
				}
				Total int
			}
			if err := json.Unmarshal([]byte(got.body), &page); err != nil || page.Total != 6 || len(page.Items) != 2 {
				t.Fatal(err, got.body)
			}
			for _, item := range page.Items {
				if item.Name != "sized" { // the one of the environment
					continue
				}
				if item.Description != "d" || len(item.Tags) != 1 || (len(item.Omitted) == 2) != (len(item.Operations) == 0) || (len(item.Omitted) == 2) != (len(item.Parameters) == 0) {
					t.Errorf("%+v", item)
				}
				seen[fmt.Sprint(item.Omitted)]++
				whole := e.must(t, "GET", "/routines/"+item.ID, headers, "")
				if whole.status != 200 || strings.Contains(whole.body, `"omitted"`) || !strings.Contains(whole.body, `"selector":"#a"`) {
					t.Errorf("%.300s", whole.body)
				}
			}
		}
		if seen["[parameters operations]"] != 3 || seen["[]"] != 2 {
			t.Errorf("%v", seen)
		}
	}
}

// blockedLists is a Store whose lists wait until they are released.
type blockedLists struct {
	routine.Store
	begun, release chan struct{}
}

func (b *blockedLists) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	if f.OrganizationID == "" { // of a caller without a token
		b.begun <- struct{}{}
		<-b.release
	}
	return b.Store.Routines(ctx, f)
}

// Calls without a token are handled one at a time, and rejected if too many
// wait. Other calls do not wait for them.
func TestAnonymousCallsAreSerialized(t *testing.T) {
	store := &blockedLists{begun: make(chan struct{}, 1), release: make(chan struct{})}
	e := newEnv(t, func(c *envConfig) {
		store.Store = c.service.Store
		c.service.Store = store
	})
	answers := make(chan response, 100)
	var calls sync.WaitGroup
	ask := func(method, path, body string) {
		calls.Go(func() {
			got, err := e.do(context.Background(), method, path, nil, body)
			if err != nil {
				t.Error(err)
			}
			answers <- got
		})
	}
	ask("GET", "/routines/", "")
	<-store.begun
	for range 65 {
		ask("POST", "/routines/validate_routine_json", readPage)
	}
	if got := <-answers; got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, `"code":"busy"`) {
		t.Errorf("one too many: %d %v %s", got.status, got.header, got.body)
	}
	if got := e.must(t, "POST", "/routines/validate_routine_json", asAdmin, readPage); got.status != 200 {
		t.Errorf("with a token: %d %s", got.status, got.body)
	}
	if got := e.must(t, "GET", "/routines/$public", nil, ""); got.status != 200 {
		t.Errorf("a small routine without a token: %d %s", got.status, got.body)
	}
	close(store.release)
	calls.Wait()
	for range 65 {
		if got := <-answers; got.status != 200 {
			t.Errorf("one that waited: %d %s", got.status, got.body)
		}
	}
}
