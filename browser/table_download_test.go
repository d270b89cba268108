package browser

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"rote/routine"
)

// sends answers with a file.
func sends(name, contentType, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		fmt.Fprint(w, text)
	}
}

// brings clicks, waits as at the end of a run, and wants these files: "name type
// text" each.
func brings(want ...string) func(a *attempt) error {
	return func(a *attempt) error {
		if err := a.onTab("#b"); err != nil {
			return err
		}
		files, err := a.p.tabs.Files(a.ctx, true)
		if err != nil {
			return err
		}
		var got []string
		for _, f := range files {
			if f.Size != int64(len(f.Data)) {
				a.t.Errorf("%s has size %d and %d bytes", f.Name, f.Size, len(f.Data))
			}
			got = append(got, f.Name+" "+f.ContentType+" "+string(f.Data))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			return fmt.Errorf("files %q, want %q", got, want)
		}
		return nil
	}
}

func TestClicksBringFiles(t *testing.T) {
	t.Parallel()
	const save = `const save = (blob, name) => { const a = document.createElement('a'); a.href = URL.createObjectURL(blob); a.download = name; a.click()
		URL.revokeObjectURL(a.href) }`
	csv := map[string]any{"f": sends("a.csv", "text/csv", "a,b")}
	rows := []row{
		{name: "a link to an attachment", html: `<a id=b href=f>x</a>`, site: csv, do: brings("a.csv text/csv a,b")},
		{name: "a link with download", html: `<a id=b href=f download=b.csv>x</a>`, site: map[string]any{"f": func(w http.ResponseWriter,
			_ *http.Request) {
			fmt.Fprint(w, "plain")
		}},
			do: brings("b.csv text/csv plain")},
		{name: "a link to an attachment in another window", html: `<a id=b href=f target=_blank>x</a>`, site: csv, do: brings("a.csv text/csv a,b"),
			warns: "popup"},
		{name: "a window for an attachment", html: opens(`window.open('f')`), site: csv, do: brings("a.csv text/csv a,b"), warns: "popup"},
		{name: "a form", html: `<form action=f method=post><button id=b>x</button></form>`, site: csv, do: brings("a.csv text/csv a,b")},
		{name: "a frame", html: opens(`document.body.append(Object.assign(document.createElement('iframe'), {src: 'f'}))`), site: csv,
			do: brings("a.csv text/csv a,b")},
		{name: "a frame of another site", html: `<iframe src="CROSS/in"></iframe>`, site: map[string]any{"in": `<a id=b href=f>x</a>`,
			"f": csv["f"]}, do: brings("a.csv text/csv a,b")},
		{name: "a redirect", html: `<a id=b href=r>x</a>`, site: map[string]any{"f": csv["f"], "r": func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, "f", http.StatusFound)
		}},
			do: brings("a.csv text/csv a,b")},
		{name: "a blob link",
			html: `<a id=b download=a.json>x</a><script>b.href = URL.createObjectURL(new Blob(['{}'], {type: 'application/json'}))</script>`,
			do:   brings("a.json application/json {}")},
		{name: "a data link", html: `<a id=b download=a.txt href="data:text/plain,hello">x</a>`, do: brings("a.txt text/plain hello")},
		{name: "a data link without a name", html: `<a id=b download href="data:text/plain,hello">x</a>`, do: brings("download.txt text/plain hello")},
		{name: "a file that a script makes", html: `<script>` + save + `</script>` + opens(`save(new Blob(['x,y']), 'made.csv')`),
			do: brings("made.csv text/csv x,y")},
		{name: "a file that a script fetches first",
			html: `<script>` + save + `</script>` + opens(`fetch('f').then(r => r.blob()).then(b => setTimeout(() => save(b, 'later.csv'), 50))`),
			site: csv,
			do:   brings("later.csv text/csv a,b")},
		{name: "two at once", html: `<script>` + save + `</script>` + opens(`save(new Blob(['1']), 'a.txt'); save(new Blob(['2']), 'a.txt')`),
			do: brings("a.txt text/plain 1", "a.txt text/plain 2")},
		{name: "one soon after the other", html: `<script>` + save + `</script>` + opens(`save(new Blob(['1']), 'a.txt');
			setTimeout(() => save(new Blob(['2']), 'b.txt'), 30)`), do: brings("a.txt text/plain 1", "b.txt text/plain 2")},
		{name: "one soon after the other while the page is busy", html: `<script>` + save + `</script>` + opens(`save(new Blob(['1']), 'a.txt');
			setTimeout(() => { for (const begun = performance.now(); performance.now() < begun + 300;); }, 10);
			setTimeout(() => save(new Blob(['2']), 'b.txt'), 30)`), do: brings("a.txt text/plain 1", "b.txt text/plain 2")},
		{name: "an empty file", html: `<a id=b href=f>x</a>`, site: map[string]any{"f": sends("e.bin", "application/octet-stream", "")},
			do: brings("e.bin application/octet-stream ")},
		{name: "none", html: b + `>x</button>`, do: brings(), log: "b;"},
		{name: "one that breaks off", html: `<a id=b href=f>x</a>`, site: map[string]any{"f": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=a.csv")
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "a,b")
		}}, do: brings(), code: routine.CodeNetworkError, words: `the file "a.csv" did not arrive`},
		{name: "one that is too large", html: `<a id=b href=f>x</a>`, site: map[string]any{"f": sends("a.csv", "text/csv", strings.Repeat("x",
			2000))}, code: routine.CodeResultTooLarge, words: "raise --max-result",
			do: func(a *attempt) error {
				a.p.mu.Lock()
				a.p.downloads.maxBytes = 1000
				a.p.mu.Unlock()
				return brings()(a)
			}},
		{name: "too many",
			html: opens(`for (let i = 0; i < 25; i++) document.body.append(Object.assign(document.createElement('iframe'), {src: 'f'}))`), site: csv,
			warns: "a run is sent 20 files at most",
			do: func(a *attempt) error {
				if err := a.onTab("#b"); err != nil {
					return err
				}
				got := 0
				eventually(a.t, testTime, "twenty five downloads", func() bool {
					files, err := a.p.tabs.Files(a.ctx, true)
					if err != nil {
						a.t.Fatal(err)
					}
					got += len(files)
					a.p.mu.Lock()
					defer a.p.mu.Unlock()
					return got+len(a.p.downloads.refused) >= 25
				})
				if got != maxDownloads {
					return fmt.Errorf("%d files", got)
				}
				return nil
			}},
	}
	for i := range rows {
		if rows[i].log == "" && rows[i].code == "" {
			rows[i].then, rows[i].is = `1`, `1`
		}
	}
	holds(t, rows)
}

// The downloads of a run are deleted from the disk when it ends.
func TestDownloadsLeaveNothing(t *testing.T) {
	p := mustOpen(t, shared)
	if _, err := p.Navigate(testContext(t), site(t, map[string]any{"/": `<a id=b href=f>x</a><a id=c href=f>x</a>`, "/f": sends("a.csv",
		"text/csv", "a,b")})+"/"); err != nil {
		t.Fatal(err)
	}
	a := &attempt{t: t, p: p, ctx: testContext(t)}
	if err := brings("a.csv text/csv a,b")(a); err != nil {
		t.Fatal(err)
	}
	if err := a.onTab("#c"); err != nil { // a file that no operation reads
		t.Fatal(err)
	}
	soon(t, "the second file has arrived", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.downloads.list) == 2 && p.downloads.list[1].ended != ""
	})
	dir := p.downloadDirectory()
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	p.Close()
	soon(t, "the directory is removed", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
}
