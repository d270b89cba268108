package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// The fields that rote adds to operations reach the page with their placeholders
// filled in. A popup is closed when its operation has succeeded, and stays open
// when it has failed.
func TestExtensionsReachThePage(t *testing.T) {
	t.Parallel()
	var did []string
	_, err := runOnce(t, routinetest.Page{Actions: &did},
		`{"type":"click","selector":"#b","x-hover":["#{{id}}",".m"],"x-popup":"follow"},{"type":"press","key":"Enter","x-popup":"close"}`,
		`{"name":"id"}`, `{"id":"1a"}`)
	want := []string{"click #b left×1", `over [#\31 a .m], following true`, "press Enter", "close popup"}
	if err != nil || !slices.Equal(did, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, did, want)
	}
	did = nil
	_, err = runOnce(t, routinetest.Page{Actions: &did, Click: failingClick(routine.CodeElementNotFound)},
		`{"type":"click","selector":"#b","x-popup":"close"}`, ``, `{}`)
	if err == nil || slices.Contains(did, "close popup") {
		t.Errorf("%v, %q", err, did)
	}
}

// Dialogs are accepted during the operations that have x-dialog only, also when these
// fail.
func TestDialogsAreAcceptedDuringTheOperation(t *testing.T) {
	t.Parallel()
	var did []string
	_, err := runOnce(t, routinetest.Page{Actions: &did}, `{"type":"press","key":"Tab"},{"type":"press","key":"Enter","x-dialog":"accept"},
		{"type":"click","selector":"#b","x-dialog":"accept"},{"type":"click","selector":"#b"}`, ``, `{}`)
	want := []string{"press Tab", "accept dialogs true", "press Enter", "accept dialogs false",
		"accept dialogs true", "click #b left×1", "accept dialogs false", "click #b left×1"}
	if err != nil || !slices.Equal(did, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, did, want)
	}
	did = nil
	_, err = runOnce(t, routinetest.Page{Actions: &did, Click: failingClick(routine.CodeElementNotFound)},
		`{"type":"click","selector":"#b","x-dialog":"accept"}`, ``, `{}`)
	if want := []string{"accept dialogs true", "click #b left×1", "accept dialogs false"}; err == nil || !slices.Equal(did, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, did, want)
	}
}

// The files of a call reach the page; an optional parameter without value does
// nothing. The record of the operation names them, and no content.
func TestFilesReachThePage(t *testing.T) {
	t.Parallel()
	var did []string
	operation, parameter := `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`, `{"name":"cv","type":"x-files","required":false}`
	e, err := runOnce(t, routinetest.Page{Actions: &did}, operation, parameter, `{"cv":[{"name":"a.txt","type":"text/plain","base64":"aGVsbG8="}]}`)
	if want := []string{"type #f=", "hand in a.txt (text/plain, 5 bytes): hello"}; err != nil || !slices.Equal(did, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, did, want)
	}
	if got := fmt.Sprint(e.Result.OperationsMetadata[0].Details["uploaded"]); got != "[a.txt (text/plain, 5 bytes)]" {
		t.Error(got)
	}
	if got := string(e.Parameters); !strings.Contains(got, `"size":5`) || strings.Contains(got, "aGVsbG8") {
		t.Error(got)
	}
	did = nil
	if _, err = runOnce(t, routinetest.Page{Actions: &did}, operation, parameter, `{}`); err != nil || len(did) > 0 {
		t.Errorf("%v, %q", err, did)
	}
	secret := `{"name":"cv","type":"x-files","x-secret":true}`
	e, err = runOnce(t, routinetest.Page{Actions: &did}, operation, secret, `{"cv":[{"name":"diagnosis.txt","type":"text/plain","base64":"aGVsbG8="}]}`)
	if all := fmt.Sprint(e.Result.OperationsMetadata[0].Details, string(e.Parameters)); err != nil || strings.Contains(all, "diagnosis") {
		t.Error(err, all)
	}
}

// A file that a click brings is the run's: its data where no operation after the
// click sets another, its names are kept apart, and what is secret in them is hidden.
func TestFilesOfClicks(t *testing.T) {
	t.Parallel()
	file := func(name, text string) routine.File {
		return routine.File{FileInfo: routine.FileInfo{Name: name, ContentType: "text/csv", Size: int64(len(text))}, Data: []byte(text)}
	}
	after := func(files ...routine.File) func(context.Context, bool) ([]routine.File, error) {
		given := false
		return func(context.Context, bool) ([]routine.File, error) {
			if given {
				return nil, nil
			}
			given = true
			return files, nil
		}
	}
	click, html := `{"type":"click","selector":"#b"}`, `{"type":"return_html"}`
	page := routinetest.Page{HTML: "<p>"}
	for _, row := range []struct {
		name, operations string
		files            []routine.File
		data, filename   string
	}{
		{"the last operation", click, []routine.File{file("a.csv", "a,b")}, `"YSxi"`, "a.csv"},
		{"the last of two", click, []routine.File{file("a.csv", "a"), file("a.csv", "b")}, `"Yg=="`, "a (2).csv"},
		{"an operation that sets the result comes later", click + "," + html, []routine.File{file("a.csv", "a,b")}, `"<p>"`, ""},
		{"a path", click, []routine.File{file("../../etc/passwd", "a,b")}, `"YSxi"`, "passwd"},
		{"no name", click, []routine.File{file("", "a,b")}, `"YSxi"`, "download"},
		{"the name of the screenshot", click, []routine.File{file("screenshot.jpg", "a,b")}, `"YSxi"`, "screenshot (2).jpg"},
		{"a secret in the name", click, []routine.File{file("hunter2hunter2.csv", "a,b")}, `"YSxi"`, "***.csv"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := page
			p.Files = after(row.files...)
			e, err := runOnce(t, p, row.operations+`,{"type":"sleep","timeout_seconds":0}`, `{"name":"pw","x-secret":true}`, `{"pw":"hunter2hunter2"}`)
			if err != nil {
				t.Fatal(err)
			}
			if string(e.Result.Data) != row.data || e.Result.Filename != row.filename || e.Result.IsBase64 != (row.filename != "") {
				t.Errorf("data %s, file %q, base64 %v", e.Result.Data, e.Result.Filename, e.Result.IsBase64)
			}
			if names, _ := e.Result.OperationsMetadata[0].Details["files"].([]string); len(names) != len(row.files) {
				t.Errorf("the click's record has %v", e.Result.OperationsMetadata[0].Details)
			}
		})
	}
	p := page
	p.Files = func(_ context.Context, last bool) ([]routine.File, error) {
		if last {
			t.Error("waits for a file after an operation that brings none")
		}
		return nil, nil
	}
	if _, err := runOnce(t, p, click+","+html, ``, `{}`); err != nil {
		t.Fatal(err)
	}
	waited := false
	p.Files = func(_ context.Context, last bool) ([]routine.File, error) { waited = waited || last; return nil, nil }
	if _, err := runOnce(t, p, html+","+click, ``, `{}`); err != nil || !waited {
		t.Errorf("%v, waits for the file of a last click: %v", err, waited)
	}
	p.Files = func(context.Context, bool) ([]routine.File, error) {
		return nil, routine.Errorf(routine.CodeResultTooLarge, "too large")
	}
	if _, err := runOnce(t, p, click, ``, `{}`); routine.CodeOf(err) != routine.CodeResultTooLarge {
		t.Error(err)
	}
}

// A file that arrives beside a result is kept, and a warning names it.
func TestWarningOfAFileBesideTheResult(t *testing.T) {
	t.Parallel()
	file := routine.File{FileInfo: routine.FileInfo{Name: "a.csv", ContentType: "text/csv", Size: 3}, Data: []byte("a,b")}
	for operations, want := range map[string][]string{
		`{"type":"click","selector":"#b"}`: nil,
		`{"type":"click","selector":"#b"},{"type":"return_html"}`: {"the page sent the file a.csv, " +
			"which is not the result, because an operation set that: it is kept with the execution"},
	} {
		given := false
		b := &routinetest.Browser{Page: routinetest.Page{HTML: "<p>", Files: func(context.Context, bool) ([]routine.File, error) {
			if given {
				return nil, nil
			}
			given = true
			return []routine.File{file}, nil
		}}}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
		e, err := s.Execute(t.Context(), ann, create(t, s, ann, definitionOf(operations, "")).ID, service.Call{})
		if err != nil || !slices.Equal(e.Result.Warnings, want) || len(e.Files) != 1 {
			t.Errorf("%s: %q, files %v, %v", operations, e.Result.Warnings, e.Files, err)
		}
	}
}
