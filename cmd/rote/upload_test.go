package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rote/routine"
)

// uploadPage is a form as sites have it: the input is hidden, a label is its button,
// and a script sends what was chosen.
const uploadPage = `<label id=choose>Choose a file<input type=file name=f accept=".pdf,image/*" multiple hidden></label>
	<button id=send>Send</button><p id=p></p><script>send.onclick = async () => {
		const body = new FormData()
		for (const f of document.querySelector('input').files) body.append('f', f)
		p.textContent = await (await fetch('/up', {method: 'POST', body})).text()
		p.className = 'done'
	}</script>`

// A routine that takes files is described, called and answered over REST and MCP; the
// site gets the very bytes, and the ledger does not keep them.
func TestFilesAreUploadedOverBothFrontEnds(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, uploadPage)
			return
		}
		if err := r.ParseMultipartForm(8 << 20); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		for _, h := range r.MultipartForm.File["f"] {
			f, err := h.Open()
			if err != nil {
				http.Error(w, err.Error(), 500)
				return
			}
			sum := sha256.New()
			n, _ := io.Copy(sum, f)
			fmt.Fprintf(w, "%s %s %d %x;", h.Filename, h.Header.Get("Content-Type"), n, sum.Sum(nil))
		}
	}))
	t.Cleanup(pages.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(pages.URL, "http://"))
	status, created := s.call("POST", "/routines/", `{"name":"apply","description":"Sends documents.",
		"parameters":[{"name":"document","type":"x-files","description":"What to send"}],"operations":[
		{"type":"navigate","url":"`+pages.URL+`"},
		{"type":"input_text","selector":"#choose","text":"","x-files":"document"},
		{"type":"click","selector":"#send"},
		{"type":"return_html","scope":"element","selector":"p.done"}]}`)
	if status != 201 {
		t.Fatal(status, created)
	}
	large := bytes.Repeat([]byte("\x00%PDF\xff\r\n"), routine.MaxInputFileBytes/8)
	small := []byte("hello")
	file := func(name, kind string, data []byte) string {
		return fmt.Sprintf(`{"name":%q,"type":%q,"base64":%q}`, name, kind, base64.StdEncoding.EncodeToString(data))
	}
	execute := fmt.Sprintf("/routines/%v/execute", created["id"])
	call := func(files string) string { return `{"parameters":{"document":[` + files + `]}}` }
	sent := func(name, kind string, data []byte) string {
		return fmt.Sprintf("%s %s %d %x;", name, kind, len(data), sha256.Sum256(data))
	}

	status, e := s.call("POST", execute, call(file("cv.pdf", "application/pdf", large)))
	if want := sent("cv.pdf", "application/pdf", large); status != 201 || !strings.Contains(fmt.Sprint(e["result"]), want) {
		t.Fatalf("%d %.1000v, want %s", status, e, want)
	}
	kept := fmt.Sprintf("[map[name:cv.pdf sha256:%x size:%v type:application/pdf]]", sha256.Sum256(large), float64(len(large)))
	if _, e = s.call("GET", fmt.Sprintf("/executions/%v", e["execution_id"]), ""); fmt.Sprint(e["parameters"].(map[string]any)["document"]) != kept {
		t.Errorf("the ledger keeps %.1000v", e["parameters"])
	}
	arguments := `{"document":[` + file("a.png", "image/png", small) + `,` + file("b.pdf", "application/pdf", large[:1<<20]) + `]}`
	out := s.tool("apply", arguments)
	want := sent("a.png", "image/png", small) + sent("b.pdf", "application/pdf", large[:1<<20])
	if !strings.HasPrefix(out, "200") || !strings.Contains(out, want) {
		t.Errorf("%.1000s", out)
	}
	if out := s.tool("apply", `{"document":[`+file("notes.txt", "text/plain", small)+`]}`); !strings.Contains(out,
		"takes only .pdf,image/*: notes.txt (text/plain) is none of these") {
		t.Errorf("%.1000s", out)
	}
	if out := s.tool("apply", `{"document":[{"name":"../cv.pdf","type":"application/pdf","base64":"aGVsbG8="}]}`); !strings.Contains(out, "must have no path") {
		t.Errorf("%.1000s", out)
	}
	status, e = s.call("POST", execute, call(file("cv.pdf", "application/pdf", make([]byte, routine.MaxInputFileBytes+1))))
	if status != 400 || !strings.Contains(fmt.Sprint(e), "file 1 (cv.pdf) is too large: the files of a call have at most 2.5 MiB together") {
		t.Errorf("%d %.1000v", status, e)
	}
	key := []string{"Idempotency-Key", "k"}
	if status, e, err := s.try("POST", execute, call(file("cv.pdf", "application/pdf", small)), key...); err != nil || status != 201 {
		t.Errorf("%d %.1000v %v", status, e, err)
	}
	if status, e, err := s.try("POST", execute, call(file("cv.pdf", "application/pdf", []byte("HELLO"))), key...); err != nil || status != 422 {
		t.Errorf("other content under the same key: %d %.1000v %v", status, e, err)
	}
	status, described := s.call("GET", fmt.Sprintf("/routines/%v/openapi.json", created["id"]), "")
	if shape := fmt.Sprint(described); status != 200 || !strings.Contains(shape, "maxItems:10") || !strings.Contains(shape, "together at most 2.5 MiB") ||
		!strings.Contains(shape, "required:[name type base64]") {
		t.Errorf("%d %.3000s", status, shape)
	}
}
