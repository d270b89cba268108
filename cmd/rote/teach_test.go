package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/lesson"
)

// fakeLessons keeps the requests for its one lesson. An operation on #gone fails.
type fakeLessons struct {
	requests []any
	kept     []lesson.Operation
	ended    bool
}

func (f *fakeLessons) info() lesson.Info { return lesson.Info{ID: "L", Operations: f.kept} }

func (f *fakeLessons) do(operations ...json.RawMessage) (steps []lesson.Step, ok bool) {
	for _, o := range operations {
		if strings.Contains(string(o), "#gone") {
			return append(steps, lesson.Step{Record: routine.OperationRecord{Type: "click"},
				Error: &lesson.StepError{Code: routine.CodeElementNotFound, Message: "nothing matches #gone"}}), false
		}
		f.kept = append(f.kept, lesson.Operation{Number: len(f.kept) + 1, Type: "click", Summary: "click", Definition: o})
		steps = append(steps, lesson.Step{OK: true, Number: len(f.kept), Record: routine.OperationRecord{Type: "click"}})
	}
	return steps, true
}

func (f *fakeLessons) Start(_ context.Context, _ routine.Principal, q lesson.StartRequest) (*lesson.Started, error) {
	q.Progress = nil
	f.requests = append(f.requests, q)
	steps, _ := f.do(json.RawMessage(`{"type":"navigate"}`))
	return &lesson.Started{Info: f.info(), Done: steps, Snapshot: look("page /")}, nil
}

func look(text string) *lesson.Snapshot {
	return &lesson.Snapshot{Seen: routine.Seen{Text: text, Extraction: &routine.Extraction{Operations: []json.RawMessage{
		json.RawMessage(`{"type":"js_evaluate"}`), json.RawMessage(`{"type":"return"}`)}}}}
}

func (f *fakeLessons) Snapshot(_ context.Context, _ routine.Principal, _ string, q lesson.SnapshotRequest) (*lesson.Snapshot, error) {
	f.requests = append(f.requests, q)
	if q.Scope == "#busy" {
		return nil, routine.Errorf(routine.CodeTimeout, "the page is busy")
	}
	return look("button \"Go\" | #go"), nil
}

func (f *fakeLessons) Try(_ context.Context, _ routine.Principal, _ string, q lesson.TryRequest) (*lesson.Tried, error) {
	q.Progress = nil
	f.requests = append(f.requests, q)
	steps, ok := f.do(q.Operations...)
	return &lesson.Tried{Info: f.info(), OK: ok, Steps: steps}, nil
}

func (f *fakeLessons) Undo(_ context.Context, _ routine.Principal, _ string, q lesson.UndoRequest) (*lesson.Undone, error) {
	q.Progress = nil
	f.requests = append(f.requests, q)
	f.kept = f.kept[:q.To]
	return &lesson.Undone{Info: f.info(), Snapshot: look("page /")}, nil
}

func (f *fakeLessons) Requests(_ context.Context, _ routine.Principal, _ string, q lesson.RequestsQuery) (*lesson.RequestList, error) {
	f.requests = append(f.requests, q)
	return &lesson.RequestList{}, nil
}

func (f *fakeLessons) Request(_ context.Context, _ routine.Principal, _ string, number int) (*lesson.RequestOperation, error) {
	f.requests = append(f.requests, number)
	return &lesson.RequestOperation{NotTried: "it acts"}, nil
}

func (f *fakeLessons) Save(_ context.Context, _ routine.Principal, _ string, q lesson.SaveRequest) (*lesson.Saved, error) {
	q.Progress = nil
	f.requests = append(f.requests, q)
	if q.Name == "unproved" {
		return &lesson.Saved{Saved: "draft", Proof: &lesson.Proof{}}, routine.Errorf(routine.CodeNotProved, "the proof failed")
	}
	return &lesson.Saved{Saved: true, Routine: &lesson.SavedRoutine{Name: q.Name, Version: 1}}, nil
}

func (f *fakeLessons) End(context.Context, routine.Principal, string) (lesson.Info, error) {
	f.ended = true
	return f.info(), nil
}

// teach answers lines as rote teach does, and returns what it prints.
func teach(t *testing.T, f *fakeLessons, lines string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := teachCommand{URL: "https://shop.example/"}
	err := c.serveLines(t.Context(), &lessonClient{lessons: f}, streams{in: strings.NewReader(lines), out: &out, err: io.Discard})
	if !f.ended {
		t.Errorf("%q: the lesson did not end", lines)
	}
	return out.String(), err
}

// Each command makes the calls that an agent would make.
func TestTeachCommands(t *testing.T) {
	tried := func(values map[string]json.RawMessage, operations ...string) lesson.TryRequest {
		q := lesson.TryRequest{Values: values}
		for _, o := range operations {
			q.Operations = append(q.Operations, json.RawMessage(o))
		}
		return q
	}
	for line, want := range map[string][]any{
		"look":              {lesson.SnapshotRequest{}},
		"look two words":    {lesson.SnapshotRequest{Find: "two words"}},
		"look in main form": {lesson.SnapshotRequest{Scope: "main form"}},
		"look inside":       {lesson.SnapshotRequest{Find: "inside"}},

		"requests":         {lesson.RequestsQuery{}},
		"requests 19.00 €": {lesson.RequestsQuery{Find: "19.00 €"}},
		"requests 3":       {3},

		"save find_lamps": {lesson.SaveRequest{Name: "find_lamps", Via: routine.ViaCLI}},
		`save 'find lamps' other={"q": "a chair"} prove=all version=2 Finds lamps = lights.`: {lesson.SaveRequest{Name: "find lamps", Prove: "all",
			OtherValues: map[string]json.RawMessage{"q": json.RawMessage(`"a chair"`)}, ExpectedVersion: new(2),
			Description: "Finds lamps = lights.", Via: routine.ViaCLI}},

		`click form[action="/a b"] button`: {tried(nil, `{"selector":"form[action=\"/a b\"] button","type":"click"}`)},
		`click '#a b'`:                     {tried(nil, `{"selector":"#a b","type":"click"}`)},
		`type #q lamp`:                     {tried(nil, `{"selector":"#q","text":"lamp","type":"input_text"}`)},
		`type input[name="a b"] as good as new`: {tried(map[string]json.RawMessage{"new": json.RawMessage(`"as good"`)},
			`{"selector":"input[name=\"a b\"]","text":"{{new}}","type":"input_text"}`)},
		`type 'form input' lamp as query`: {tried(map[string]json.RawMessage{"query": json.RawMessage(`"lamp"`)},
			`{"selector":"form input","text":"{{query}}","type":"input_text"}`)},
		`type #q "lamp as query"`: {tried(nil, `{"selector":"#q","text":"lamp as query","type":"input_text"}`)},
		`type #pin secret:PIN as pin`: {tried(map[string]json.RawMessage{"pin": json.RawMessage(`{"secret":"PIN"}`)},
			`{"selector":"#pin","text":"{{pin}}","type":"input_text"}`)},
		`do {"type":"press","key":"Enter"}`: {tried(nil, `{"key":"Enter","type":"press"}`)},
		`do {"type":"navigate","url":"{{u}}"} {"u":"https://a.example/","n":12345678901234567890}`: {tried(
			map[string]json.RawMessage{"u": json.RawMessage(`"https://a.example/"`), "n": json.RawMessage(`12345678901234567890`)},
			`{"type":"navigate","url":"{{u}}"}`)},
		`extract li.product`: {lesson.SnapshotRequest{Extract: "li.product"}, tried(nil, `{"type":"js_evaluate"}`, `{"type":"return"}`)},
		"undo":               {lesson.UndoRequest{To: 0}},
		"undo 1":             {lesson.UndoRequest{To: 0}},
		"help":               nil,
		"end":                nil,
		"  ":                 nil,
		"# a comment":        nil,
	} {
		f := &fakeLessons{}
		if out, err := teach(t, f, line); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		want = append([]any{lesson.StartRequest{URL: "https://shop.example/"}}, want...)
		if diff := cmp.Diff(want, f.requests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// A command that cannot be understood does nothing and says what to write. In a file or
// a pipe, the first failure is the last command.
func TestTeachErrors(t *testing.T) {
	for line, want := range map[string]string{
		"lok":                       `there is no command "lok"; did you mean "look"?`,
		"click":                     "click what?",
		"type #q":                   "type what?",
		"type '#q lamp":             "none at its end",
		`type #q "lamp`:             "no JSON string",
		"type #pin secret:PIN":      "needs a name for its parameter",
		"do click":                  "give the operation as JSON on one line",
		`do {"type":"press"} x`:     "an object with values",
		`do {"type":"press"} {} {}`: "text after the values",
		"extract":                   "extract what?",
		"save":                      "save under which name?",
		"save x other=1":            "other= needs an object",
		"save x version=new":        "version= needs a number",
		"save unproved":             "Proof FAILED",
		"undo 9":                    "there are only 1 operations",
		"undo x":                    "is no number of operations",
		"look in #busy":             "error: the page is busy [timeout]",
	} {
		f := &fakeLessons{}
		out, err := teach(t, f, line+"\nclick #go")
		if !errors.Is(err, errTeachFailed) || !strings.Contains(out, want) || strings.Contains(out, "click #go") || len(f.kept) > 1 {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	f := &fakeLessons{}
	if out, err := teach(t, f, "click #gone\nclick #go"); !errors.Is(err, errTeachFailed) || len(f.kept) != 1 ||
		!strings.Contains(out, "The lesson ended. Operations that were not saved: 1.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// From a pipe, the commands are printed too, so that the output can be read.
func TestTeachShowsCommands(t *testing.T) {
	out, err := teach(t, &fakeLessons{}, "look\nend\nclick #go\n")
	if err != nil || !strings.Contains(out, "\nrote> look\nbutton \"Go\" | #go\n") || !strings.Contains(out, "rote> end\n") || strings.Contains(out,
		"rote> click") {
		t.Errorf("%v\n%s", err, out)
	}
}

// With --json, each line is answered by one line, also a call that fails.
func TestTeachJSON(t *testing.T) {
	f := &fakeLessons{}
	var out bytes.Buffer
	lines := `{"tool":"take_snapshot"}

{"tool":"take_snapshot","arguments":{"lesson":"L","find":"x"}}
{"tool":"try_operation","arguments":{"operation":{"type":"click","selector":"#gone"}}}
{"tool":"try_operation","arguments":{"operations":[{"type":"click"}],"at":1,"keep":false}}
{"tool":"try_operation","arguments":{"link":1}}
{"tool":"try_operation"}
{"tool":"undo_operations","arguments":{"to":1,"replay":false}}
{"tool":"list_network_requests","arguments":{"id":7}}
{"tool":"save_lesson","arguments":{"name":"n"}}
{"tool":"save_lesson","arguments":{"name":"unproved"}}
{"tool":"dance"}
{"tool":"end_lesson"}
{"tool":"take_snapshot"}
`
	c := teachCommand{URL: "https://shop.example/", JSON: true}
	if err := c.serveJSON(t.Context(), &lessonClient{lessons: f}, streams{in: strings.NewReader(lines), out: &out, err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"tool":"start_lesson","ok":true,"text":`,
		`{"tool":"take_snapshot","ok":true,"text":"button \"Go\" | #go","answer":{"url":`, `{"tool":"take_snapshot","ok":true`,
		`{"tool":"try_operation","ok":false,`, `{"tool":"try_operation","ok":true`,
		`{"tool":"try_operation","ok":false,"error":{"code":"invalid","message":"invalid arguments of try_operation: json: unknown field \"link\"`,
		`{"tool":"try_operation","ok":false,"error":{"code":"invalid","message":"give either operation or operations"`,
		`{"tool":"undo_operations","ok":true`,
		`{"tool":"list_network_requests","ok":true,"text":"`, `{"tool":"save_lesson","ok":true,"text":"Saved: n`,
		`{"tool":"save_lesson","ok":false,"text":"`, `{"tool":"dance","ok":false,"error":{"code":"invalid","message":"there is no tool \"dance\"`,
		`{"tool":"end_lesson","ok":true`, `{"tool":"take_snapshot","ok":false,"error":{"code":"not_found"`,
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), &out)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) || !json.Valid([]byte(got[i])) {
			t.Errorf("line %d: %s\nwant %s", i+1, got[i], want[i])
		}
	}
	if !f.ended {
		t.Error("the lesson did not end")
	}
}

// An interrupt ends the lesson while rote teach waits for a line.
func TestTeachInterrupted(t *testing.T) {
	in, keepOpen := io.Pipe()
	defer keepOpen.Close()
	for _, asJSON := range []bool{false, true} {
		f := &fakeLessons{}
		ctx, cancel := context.WithCancel(t.Context())
		c := teachCommand{URL: "https://shop.example/", JSON: asJSON}
		serve, out := c.serveLines, &notifying{wrote: cancel}
		if asJSON {
			serve = c.serveJSON
		}
		if err := serve(ctx, &lessonClient{lessons: f}, streams{in: in, out: out, err: io.Discard}); err != nil || !f.ended {
			t.Errorf("JSON %v: %v, ended %v", asJSON, err, f.ended)
		}
	}
}

// notifying calls a function when something is written.
type notifying struct{ wrote func() }

func (n *notifying) Write(b []byte) (int, error) { n.wrote(); return len(b), nil }

func TestSecretFlag(t *testing.T) {
	for text, want := range map[string]secretFlag{
		"PIN@bank.example=/run/pin":             {name: "PIN", hosts: []string{"bank.example"}, file: "/run/pin"},
		"shop/PIN@a.example,*.b.example:8443=x": {project: "shop", name: "PIN", hosts: []string{"a.example", "*.b.example:8443"}, file: "x"},
		"acme/shop/pin-2@127.0.0.1:80=a=b@c":    {organization: "acme", project: "shop", name: "pin-2", hosts: []string{"127.0.0.1:80"}, file: "a=b@c"},
		"PIN@[::1]:80=x":                        {name: "PIN", hosts: []string{"[::1]:80"}, file: "x"},
	} {
		var got secretFlag
		if err := got.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(secretFlag{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"PIN", "PIN=x", "PIN@=x", "PIN@a.example", "PIN@a.example=", "@a.example=x",
		"PIN@*=x", "PIN@a.example,=x", "PIN@https://a.example=x",
		"a/b/c/PIN@a.example=x", "P N@a.example=x", "PIN@a b=x"} {
		if err := new(secretFlag).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// A secret is found only by callers of its project, without the line break at the end of
// its file.
func TestReadSecrets(t *testing.T) {
	r := newRote(t)
	flag := func(text string) (f secretFlag) {
		if err := f.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	g := &globals{Organization: "home", Project: "own"}
	find, err := readSecrets([]secretFlag{flag("PIN@a.example=" + r.file("a", "one\r\n")), flag("other/PIN@a.example=" + r.file("b", "two\n\n")),
		flag("acme/other/PIN@a.example=" + r.file("c", "three"))}, g)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[[2]string]string{{"home", "own"}: "one", {"home", "other"}: "two\n", {"acme", "other"}: "three", {"acme", "own"}: ""} {
		secret, ok := find(routine.Principal{UserID: "u", OrganizationID: key[0], ProjectID: key[1]})["PIN"]
		if string(secret.Fields[routine.ValueField]) != want || ok != (want != "") || ok && !slices.Equal(secret.Hosts, []string{"a.example", "http://a.example"}) {
			t.Errorf("%v: %+v", key, secret)
		}
	}
	for file, want := range map[string]string{r.file("empty", "\n"): "is empty", r.file("bytes", "\xff"): "not UTF-8", "absent": "no such file",
		r.file("large", strings.Repeat("x", maxSecret+1)): "more than"} {
		if _, err := readSecrets([]secretFlag{flag("PIN@a.example=" + file)}, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	twice := flag("PIN@a.example=" + r.file("a", "one"))
	if _, err := readSecrets([]secretFlag{twice, twice}, g); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Error(err)
	}
}

// The flags say what the lesson starts with.
func TestTeachStartsWith(t *testing.T) {
	for args, want := range map[string]string{
		"":                  `{"url":"https://shop.example/"}`,
		"--incognito":       `{"url":"https://shop.example/","incognito":true}`,
		"--no-incognito":    `{"url":"https://shop.example/","incognito":false}`,
		"--incognito=false": `{"url":"https://shop.example/","incognito":false}`,
		"--session shop":    `{"url":"https://shop.example/","session":"shop"}`,
	} {
		command, _, err := parse(append([]string{"teach", "https://shop.example/"}, strings.Fields(args)...), streams{out: io.Discard, err: io.Discard})
		if err != nil {
			t.Fatal(args, err)
		}
		if got := string(command.(*teachCommand).startCall().Arguments); got != want {
			t.Errorf("%s starts with %s, want %s", args, got, want)
		}
	}
}
