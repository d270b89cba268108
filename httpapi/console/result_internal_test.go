package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/stopwatch"
)

// A result of the largest size does not block its page, whatever it is.
func TestLargeResultIsShownInPart(t *testing.T) {
	const largest = 32 << 20
	fill := func(start, part, end string) json.RawMessage {
		return json.RawMessage(start + strings.Repeat(part, (largest-len(start)-len(end))/len(part)) + end)
	}
	pages := (&console{base: "/console", assets: newAssets()}).parseTemplates()
	for name, r := range map[string]*routine.Result{
		"rows":            {Data: fill(`[{"a":1}`, `,{"sku":"a-1","name":"A \"lamp\"","price":42.50,"stock":null}`, `]`)},
		"wide rows":       {Data: fill(`[{"a":1`, `,"\u0041":"+++++++++++++++++++++++++++"`, `}]`)},
		"a long cell":     {Data: fill(`[{"a":"`, `\"`, `"}]`)},
		"text":            {Data: fill(`"`, `<a href=\"x\">`, `"`)},
		"escaped text":    {Data: fill(`"`, `\ud83d\ude00`, `"`)},
		"numbers":         {Data: fill(`[1`, `,1.50`, `]`)},
		"nested":          {Data: fill(`{"a":[{}`, `,{"b":["<>"]}`, `]}`)},
		"deep":            {Data: json.RawMessage(strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000))},
		"file of text":    {IsBase64: true, ContentType: "text/html; charset=utf-8", Data: fill(`"`, `PGI+`, `"`)},
		"file of unknown": {IsBase64: true, ContentType: "application/x-unknown", Data: fill(`"`, `PGI+`, `"`)},
	} {
		var page bytes.Buffer
		v := &runView{Execution: &routine.Execution{ID: "run"}}
		var err error
		took := stopwatch.Time(func() {
			v.Data = newResultView(r)
			err = pages["execution"].ExecuteTemplate(&page, "run-result", v)
		})
		if err != nil {
			t.Fatal(err)
		}
		if took > time.Second {
			t.Errorf("%s: shown after %v", name, took)
		}
		if page.Len() > 600_000 || page.Len() < 100 {
			t.Errorf("%s: the page has %d bytes", name, page.Len())
		}
		if (name == "rows" || name == "text" || name == "numbers") && v.Data.Size != int64(len(r.Data)) {
			t.Errorf("%s: %d bytes", name, v.Data.Size)
		}
	}
}

func TestResultView(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`null`: "", `""`: "text", `"<b>"`: "text", `1.50`: "tree", `true`: "tree", `{}`: "tree", `[]`: "tree", `[1]`: "tree",
		`{"a":{"b":[1,2]}}`: "tree", `[{"a":1}]`: "table", `[{"a":{}}]`: "tree", `[{"a":1},2]`: "tree",
	} {
		got := ""
		if v := newResultView(&routine.Result{Data: json.RawMessage(data)}); v != nil {
			got = v.Kind
		}
		if got != want {
			t.Errorf("%s is shown as %s, want %s", data, got, want)
		}
	}
	v := newResultView(&routine.Result{Data: json.RawMessage(`[{"z":12345678901234567890,"a":42.50},{"b":"x","a":null}]`)})
	if got := v.Table; strings.Join(got.Columns, " ") != "z a b" || got.Rows[0][0].Text != "12345678901234567890" || got.Rows[0][1].Text != "42.50" ||
		!got.Rows[0][2].Missing || got.Rows[1][1].Text != "null" || got.Count != 2 || got.MoreRows {
		t.Errorf("%+v", v.Table)
	}
}

func TestWriteCSV(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := writeCSV(&text, []byte(`[{"a":"x,\"y\"","b":{"c":[1.50]}},{"=b":-1,"a":"-1"}]`)); err != nil {
		t.Fatal(err)
	}
	if want := "a,b,'=b\n\"x,\"\"y\"\"\",\"{\"\"c\"\":[1.50]}\",\n'-1,,-1\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	for _, data := range []string{`{}`, `[1]`, `[{"a":1}`, ``, `"x"`} {
		if err := writeCSV(&text, []byte(data)); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("%s: %v", data, err)
		}
	}
}
