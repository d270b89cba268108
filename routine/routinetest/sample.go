// Package routinetest has what tests of the core and its adapters share: sample
// values, a Store in memory, and the Store contract as a suite.
package routinetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/definition"
)

// Time is when sample values were made. It has microseconds, which a Store must
// keep.
var Time = time.Date(2026, 3, 4, 5, 6, 7, 891234000, time.UTC)

const sampleDefinition = `{
	"name": "find_price",
	"description": "Finds the price of an item — in the shop's own currency.",
	"is_mcp_tool_designated": true,
	"tags": ["shop", "price"],
	"parameters": [
		{"name": "item", "type": "string", "description": "What to look for", "validation": {"max_length": 80}},
		{"name": "page_size", "type": "integer", "required": false, "default": 20, "description": "Items on a page", "x-unit": "items"}
	],
	"operations": [
		{"type": "navigate", "url": "https://shop.example/search?q={{item}}"},
		{"type": "click", "selector": "main > .hit:first-of-type", "timeout_ms": 5000},
		{"type": "return_html", "scope": "element", "selector": "#price"}
	]
}`

// Definition returns a valid definition with every kind of content.
func Definition(t testing.TB) routine.Definition {
	t.Helper()
	return Parse(t, sampleDefinition)
}

// Parse returns the definition of a text that must be valid.
func Parse(t testing.TB, text string) routine.Definition {
	t.Helper()
	d, _, err := definition.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse sample definition: %v", err)
	}
	return *d
}

// Routine returns an active, published routine of its own id and tool name, in
// organization "acme".
func Routine(t testing.TB, edits ...func(*routine.Routine)) *routine.Routine {
	t.Helper()
	id := newID(t)
	r := &routine.Routine{
		ID:             "Routine_" + id,
		Definition:     Definition(t),
		CreatedBy:      "ann",
		ProjectID:      "prices",
		OrganizationID: "acme",
		ToolName:       "find_price_" + id,
		Status:         routine.StatusActive,
		CreatedAt:      Time.Unix(),
		UpdatedAt:      Time.Unix() + 60,
		Version:        1,
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// Execution returns a pending execution.
func Execution(t testing.TB, edits ...func(*routine.Execution)) *routine.Execution {
	t.Helper()
	e := &routine.Execution{
		ID:             newID(t),
		RoutineID:      newID(t),
		RoutineName:    "find_price",
		RoutineVersion: 3,
		Status:         routine.ExecutionPending,
		CreatedAt:      Time,
		Parameters:     json.RawMessage(`{"item":"<lamp> & more","page_size":20}`),
		CreatedBy:      "ann",
		TokenID:        "t1",
		Via:            routine.ViaMCP,
		OrganizationID: "acme",

		OperationsTotal: 3,
	}
	for _, edit := range edits {
		edit(e)
	}
	return e
}

// Ended returns e as it is after it completed with a full result.
func Ended(e *routine.Execution) *routine.Execution {
	ended := *e
	ended.Status = routine.ExecutionCompleted
	ended.StartedAt = new(e.CreatedAt.Add(time.Second))
	ended.CompletedAt = new(e.CreatedAt.Add(3 * time.Second))
	ended.DurationSeconds = new(3.000001)
	ended.OperationsDone = 2
	ended.Result = &routine.Result{
		OK:                    true,
		Warnings:              []string{"the answer was slow"},
		PlaceholderResolution: map[string]*string{"cookie:session": new("abc"), "meta:token": nil},
		Data:                  json.RawMessage(`{"price":"12 < 13 & \u003e 11","html":"<b>12</b>"}`),
		IsBase64:              true,
		ContentType:           "text/html",
		Filename:              "price.html",
		Size:                  new(int64(1 << 40)),
		OperationsMetadata: []routine.OperationRecord{
			{Index: 0, Type: "navigate", DurationSeconds: 0.25, Details: map[string]any{"url": "https://shop.example/?a=1&b=2"}},
			{Index: 1, Type: "click", DurationSeconds: 1.5, Error: new("no such element")},
		},
	}
	return &ended
}

// Failed returns e as it is after it failed.
func Failed(e *routine.Execution) *routine.Execution {
	failed := *e
	failed.Status = routine.ExecutionFailed
	failed.StartedAt = new(e.CreatedAt.Add(time.Second))
	failed.CompletedAt = new(e.CreatedAt.Add(2 * time.Second))
	failed.DurationSeconds = new(2.0)
	failed.Error = new("element #buy not found after 5000 ms")
	failed.ErrorCode = routine.CodeElementNotFound
	failed.Evidence = &routine.Evidence{
		URL: "https://shop.example/?a=1&b=2", Title: "Shop <1>", Text: "Sold out",
		Elements: []routine.Element{{Selector: "button.buy", Role: "button", Text: "Buy", Where: "in the frame iframe#f", Problem: "is disabled",
			Matched: true}},
		Console:        []string{"error: no stock"},
		FailedRequests: []routine.FailedRequest{{Method: "GET", URL: "https://shop.example/stock", Status: 503, Error: "no"}},
		Screenshot:     &routine.Screenshot{ContentType: "image/jpeg", Width: 1280, Height: 800, Size: 3, File: "screenshot.jpg"},
	}
	return &failed
}

// Token returns a token that does not expire, with a hash of its own.
func Token(t testing.TB, edits ...func(*routine.Token)) *routine.Token {
	t.Helper()
	k := &routine.Token{
		ID:        newID(t),
		Principal: routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "prices", Scopes: routine.DefaultScopes},
		CreatedAt: Time,
	}
	copy(k.Hash[:], k.ID)
	for _, edit := range edits {
		edit(k)
	}
	return k
}

func newID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}
