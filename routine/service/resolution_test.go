package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// A text of many megabytes is put in whole, and placeholder_resolution has its
// beginning.
func TestLongTextsAreShortInTheResolution(t *testing.T) {
	var typed []string
	const size = 3 << 20
	page := routinetest.Page{Actions: &typed, SessionStorage: map[string]string{"k": strings.Repeat("x", size), "l": strings.Repeat("é", size)}}
	operations := strings.Repeat(`{"type":"input_text","selector":"#q","text":"{{sessionStorage:k}}"},`, 2) + `{"type":"input_text","selector":"#q","text":"{{sessionStorage:l}}"}`
	e, err := runOnce(t, page, operations, "", `{}`)
	if err != nil || len(typed) != 3 || len(typed[0]) < size || len(typed[2]) < 2*size {
		t.Fatalf("%d typed, %v", len(typed), err)
	}
	for key, want := range map[string]string{"sessionStorage:k": strings.Repeat("x", 1<<16) + "…", "sessionStorage:l": strings.Repeat("é", 1<<16) + "…"} {
		if got := e.Result.PlaceholderResolution[key]; got == nil || *got != want {
			t.Errorf("%s has another text than its first 65,536 characters", key)
		}
	}
}

// All texts of placeholder_resolution together have a bound too.
func TestManyLongTextsAreShortInTheResolution(t *testing.T) {
	session, operations := map[string]string{}, []string{}
	for i := range 50 {
		session[fmt.Sprint("k", i)] = strings.Repeat("x", 1<<16)
		operations = append(operations, fmt.Sprintf(`{"type":"input_text","selector":"#q","text":"{{sessionStorage:k%d}}"}`, i))
	}
	e, err := runOnce(t, routinetest.Page{SessionStorage: session}, strings.Join(operations, ","), "", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, text := range e.Result.PlaceholderResolution {
		size += len(*text)
	}
	if size < 1<<20 || size > 1<<20+1000 || len(e.Result.PlaceholderResolution) != 50 {
		t.Errorf("%d bytes of %d texts", size, len(e.Result.PlaceholderResolution))
	}
}

// A text that a script returns, or that json_path picks, is typed without the
// quotes of its JSON.
func TestStoredTextsComeWithoutQuotes(t *testing.T) {
	var did []string
	page := routinetest.Page{Actions: &did, SessionStorage: map[string]string{}, LocalStorage: map[string]string{"theme": `"dark"`},
		Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{JSON: json.RawMessage(`"it's \"new\""`)}, nil
		},
		Response: routine.Response{Status: 200, Body: []byte(`{"user":{"token":"tk-1"}}`)}}
	_, err := runOnce(t, page, `{"type":"navigate","url":"https://shop.test/"},
		{"type":"js_evaluate","js":"(() => document.title)()","session_storage_key":"title"},
		{"type":"fetch","endpoint":{"url":"/me"},"session_storage_key":"token","data_sanitizer":{"type":"json_path","path":"$.user.token"}},
		{"type":"input_text","selector":"#q","text":"{{sessionStorage:title}}, {{sessionStorage:token}}, {{localStorage:theme}}"},
		{"type":"return","session_storage_key":"title"}`, "", `{}`)
	if want := `type #q=it's "new", tk-1, dark`; err != nil || !slices.Contains(did, want) {
		t.Fatal(did, err)
	}
}
