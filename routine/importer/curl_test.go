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
