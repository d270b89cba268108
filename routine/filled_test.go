package routine_test

import (
	"strings"
	"testing"

	"rote/routine"
)

// A value that is put in often is bounded by what that would write, before
// anything is written.
func TestFilledOperationsAreBounded(t *testing.T) {
	value := `{"p": "` + strings.Repeat("x", 1<<20) + `"}`
	fetch := func(tokens int) string {
		return `{"type": "fetch", "endpoint": {"url": "/a", "method": "POST", "body": "` + strings.Repeat("{{p}} ", tokens) + `"}}`
	}
	for name, row := range map[string]struct {
		operations string
		fits       bool
	}{
		"as much as there may be": {fetch(32), true},
		"in one text":             {fetch(33), false},
		"in many texts":           {fetch(20) + "," + fetch(13), false},
		"in many values":          {`{"type": "fetch", "endpoint": {"url": "/a", "method": "POST", "body": [` + strings.Repeat(`"{{p}}",`, 33) + `1]}}`, false},
	} {
		_, err := routine.Bind(parse(t, definition(row.operations, `{"name": "p"}`)), []byte(value))
		if (err == nil) != row.fits {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			continue
		}
		problems := routine.AsError(err).Problems
		if len(problems) != 1 || problems[0].Pointer != "/p" || !strings.Contains(problems[0].Message, "more than 33554432 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So is what the page holds.
func TestFilledSessionValuesAreBounded(t *testing.T) {
	page := fakePage{session: map[string]string{"k": strings.Repeat("x", 20<<20)}}
	_, err := runOnce(t, page, `{"type": "input_text", "selector": "a", "text": "{{sessionStorage:k}}{{sessionStorage:k}}"}`, "", `{}`)
	if err == nil || !strings.Contains(err.Error(), "{{sessionStorage:k}} does not fit here: with it values take more than 33554432 bytes") {
		t.Error(err)
	}
}

// A header of nothing but a parameter without value is left out.
func TestHeaderWithoutValueIsDropped(t *testing.T) {
	var did []string
	_, err := runOnce(t, fakePage{did: &did}, `{"type":"fetch","endpoint":{"url":"/a","headers":{"X-Opt":"{{q}}","X-Quoted":"\"{{q}}\"","X-Part":"a{{q}}","X-Given":"{{n}}"}}}`,
		`{"name":"q","required":false},{"name":"n","type":"integer"}`, `{"n":1}`)
	if want := "fetch GET /a map[X-Given:1 X-Part:a X-Quoted:] no body"; err != nil || strings.Join(did, "|") != want {
		t.Errorf("%q, want %q: %v", did, want, err)
	}
}

// What a download is called can be used as a file's name as it is.
func TestFilenameHasNoPathAndNoControlCharacters(t *testing.T) {
	page := fakePage{response: routine.Response{URL: "https://a.test/x", Status: 200}}
	for written, want := range map[string]string{`a/b.pdf`: "b.pdf", `..\\..\\x.sh`: "x.sh", `a\nb\u0085`: "ab", `a/\n{{p}}`: "q.pdf", `a\n{{p}}`: "aq.pdf"} {
		e, err := runOnce(t, page, `{"type":"download","endpoint":{"url":"https://a.test/x"},"filename":"`+written+`"}`, `{"name":"p","required":false,"default":"q.pdf"}`, `{}`)
		if err != nil || e.Result.Filename != want {
			t.Errorf("%s: %q, want %q: %v", written, e.Result.Filename, want, err)
		}
	}
}
