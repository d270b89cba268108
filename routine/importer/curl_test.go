package importer

import (
	"strings"
	"testing"

	"rote/routine"
)

// What browsers copy for cmd of Windows is the same request as what they copy for other shells.
func TestCommandsForCmd(t *testing.T) {
	posix := `curl 'https://x.test/find?q=%E5%A8&n=1' \
  -H 'Authorization: Bearer planted-Secret' \
  -H 'x-note: a "b" c:\d $1' \
  --data-raw $'{"a":1,"b":"x \\"y\\"\n"}'`
	cmd := `curl ^"https://x.test/find?q=^%^E5^%^A8^&n=1^" ^` + "\r\n" +
		`  -H ^"Authorization: Bearer planted-Secret^" ^` + "\r\n" +
		`  -H ^"x-note: a ^\^"b^\^" c:^\^\d ^$1^" ^` + "\r\n" +
		`  --data-raw ^"^{^\^"a^\^":1,^\^"b^\^":^\^"x ^\^\^\^"y^\^\^\^"^` + "\n\n" + `^\^"^}^"`
	var want string
	for _, source := range []string{posix, cmd} {
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, r)
		if want == "" {
			want = string(r.Routine)
		}
		if got := string(r.Routine); got != want || r.Report.Dropped > 0 || strings.Contains(string(routine.RawJSON(r)), "planted-Secret") {
			t.Errorf("%s\nis %s\nwant %s\n%+v", source, got, want, r.Report.Items)
		}
	}
	if !strings.Contains(want, `"x-note":"a \"b\" c:\\d $1"`) || !strings.Contains(want, `q=%E5%A8`) {
		t.Error(want)
	}
}

// The other forms in which browsers copy requests are told which one to take.
func TestOtherCopies(t *testing.T) {
	for _, source := range []string{"fetch(\"https://x.test/a\", {\n  \"method\": \"GET\"\n});",
		"$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\nInvoke-WebRequest -UseBasicParsing -Uri \"https://x.test/a\" `\n-Method \"POST\""} {
		if _, err := Import(Request{Source: source}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), "copy it in the browser as cURL") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A body with several parts, as browsers copy it, has the fields, and says that the contents of files are not there.
func TestCopiedForms(t *testing.T) {
	const form = `curl 'https://x.test/form' -H 'Content-Type: multipart/form-data; boundary=----Web1' --data-raw $'------Web1\r\nContent-Disposition: ` +
		`form-data; name="user"\r\n\r\nada\r\n------Web1\r\nContent-Disposition: form-data; name="password"\r\n\r\nplanted-Secret\r\n------Web1\r\n` +
		`Content-Disposition: form-data; name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\r\n------Web1--\r\n\''`
	r, err := Import(Request{Source: strings.Replace(form, `\''`, `'`, 1)})
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, r)
	text := string(routine.RawJSON(r))
	if strings.Contains(text, "planted-Secret") || !strings.Contains(text, "{{password}}") || !r.Valid ||
		!strings.Contains(text, "the contents of the file photo") {
		t.Error(text)
	}
}
