package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// echo returns its parameters as they arrived.
const echo = `{"name":"echo","description":"Returns its parameters.","parameters":[{"name":"secret","type":"string","default":"","x-secret":true},
	{"name":"text","type":"string","default":""},{"name":"count","type":"integer","default":0}],
	"operations":[{"type":"js_evaluate","js":"(() => [{{secret}}, {{text}}, {{count}}])()","session_storage_key":"k"},{"type":"return","session_storage_key":"k"}]}`

// runWithInput runs a command line that reads input from standard input.
func (r *rote) runWithInput(input string, args ...string) (stdout, stderr string, code int) {
	r.t.Helper()
	c := r.command(args...)
	c.Stdin = strings.NewReader(input)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Values come from files and from standard input, so that a secret need not be
// on the command line, where every user of the machine can read it.
func TestParametersFromFiles(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	out, errs, code := r.runWithInput("42\n", "run", r.file("echo.json", echo), "-p", "secret=@"+r.file("secret", "s3cret\n"), "-p", "count=-", "-p", "text=@@home")
	var got any
	if json.Unmarshal([]byte(out), &got) != nil || !reflect.DeepEqual(got, []any{"s3cret", "@home", 42.0}) || code != 0 {
		t.Fatalf("exit %d, %q\n%s", code, out, errs)
	}
	for _, row := range []struct{ name, input, value, want string }{
		{"a file", "", "@" + r.file("one", "s3cret"), "s3cret"},
		{"one line break is dropped", "", "@" + r.file("lines", "a\n\nb\n\n"), "a\n\nb\n"},
		{"also as Windows writes it", "", "@" + r.file("crlf", "a\r\n"), "a"},
		{"nothing else is dropped", "", "@" + r.file("blank", " a \t\r"), " a \t\r"},
		{"an empty file", "", "@" + r.file("none", ""), ""},
		{"a file of the largest size", "", "@" + r.file("large", strings.Repeat("x", 1<<10)), strings.Repeat("x", 1<<10)},
		{"standard input", "s3cret\n", "-", "s3cret"},
		{"a dash of standard input", "-", "-", "-"},
		{"an at sign", "", "@@home", "@home"},
		{"an at sign alone", "", "@@", "@"},
		{"two at signs", "", "@@@home", "@@home"},
		{"an at sign elsewhere", "", "a@b", "a@b"},
		{"a dash with more", "", "-1", "-1"},
		{"empty", "", "", ""},
		{"an equals sign", "", "a=@b", "a=@b"},
		{"a line break on the command line", "", "a\n", "a\n"},
	} {
		c := runCommand{Routine: "x", Param: []string{"text=" + row.value}}
		values, err := c.parameters(strings.NewReader(row.input), 1<<10)
		var got map[string]string
		if err != nil || json.Unmarshal(values, &got) != nil || got["text"] != row.want || len(got) != 1 {
			t.Errorf("%s: %s, %v, want %q", row.name, values, err, row.want)
		}
	}
}

// A value that cannot be read is an error before anything runs. The error names
// the parameter and the file.
func TestUnreadableParameters(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	file := r.file("echo.json", echo)
	nowhere, invalid := filepath.Join(r.home, "nowhere"), r.file("latin1", "caf\xe9")
	for _, row := range []struct {
		name, input string
		args        []string
		says        string
	}{
		{"no file", "", []string{file, "-p", "text=@" + nowhere}, "-p text: open " + nowhere + ": no such file or directory"},
		{"a folder", "", []string{file, "-p", "text=@" + r.home}, "-p text: read " + r.home + ": is a directory"},
		{"no name", "", []string{file, "-p", "text=@"}, "-p text=@: name a file after @; write @@ for a value that begins with @"},
		{"no text", "", []string{file, "-p", "text=@" + invalid}, "-p text: " + invalid + " is not UTF-8 text"},
		{"no text on standard input", "\xff", []string{file, "-p", "text=-"}, "-p text: standard input is not UTF-8 text"},
		{"endless", "", []string{file, "-p", "text=@/dev/zero", "--max-body", "1MiB"}, "-p text: /dev/zero is larger than --max-body"},
		{"standard input twice", "x", []string{file, "-p", "text=-", "-p", "secret=-"}, "-p secret: standard input is already the value of text"},
		{"standard input twice, with the routine", echo, []string{"-", "-p", "text=-"}, "-p text: standard input is already the routine"},
		{"no number", "s3cret\n", []string{file, "-p", "count=-"}, "count"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, errs, code := r.runWithInput(row.input, append([]string{"run"}, row.args...)...)
			if code != 1 || out != "" || !strings.Contains(errs, row.says) || strings.Contains(errs, "js_evaluate") {
				t.Errorf("exit %d, %q\n%s\nwant %s", code, out, errs, row.says)
			}
		})
	}
}

// A value on the command line that is not text is refused rather than altered.
func TestArgumentsMustBeUTF8(t *testing.T) {
	r := newRote(t)
	if out, errs, code := r.run("run", r.file("echo.json", echo), "-p", "text=caf\xe9"); code != 2 || out != "" || !strings.Contains(errs, "argument 4 is not UTF-8 text") {
		t.Errorf("exit %d, %q\n%s", code, out, errs)
	}
}

// A secret that comes from a file or from standard input is in no argument and
// no environment variable of any process while the run lasts.
func TestSecretsAreNotInProcessLists(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	const secret = "nowhere-but-in-the-page"
	routine := r.file("slow.json", `{"name":"slow","description":"Waits.","parameters":[{"name":"secret","type":"string","x-secret":true},{"name":"site","type":"url"}],
		"operations":[{"type":"navigate","url":"{{site}}/"},{"type":"input_text","selector":"#q","text":"{{secret}}"},{"type":"sleep","timeout_seconds":30}]}`)
	for name, arrange := range map[string]func(*exec.Cmd){
		"a file":         func(c *exec.Cmd) { c.Args = append(c.Args, "-p", "secret=@"+r.file("secret", secret)) },
		"standard input": func(c *exec.Cmd) { c.Args = append(c.Args, "-p", "secret=-"); c.Stdin = strings.NewReader(secret) },
	} {
		t.Run(name, func(t *testing.T) {
			c := r.command("run", routine, "-p", "site="+r.shop)
			arrange(c)
			errs := &output{more: make(chan struct{}, 1)}
			c.Stderr = errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			errs.wait(t, func(text string) string {
				if strings.Contains(text, "3/3 sleep") {
					return text
				}
				return ""
			})
			if found := processes(t, routine); len(found) == 0 {
				t.Error("the run is in no process list: the search finds nothing")
			}
			if found := processes(t, secret); len(found) > 0 {
				t.Errorf("the secret is shown by ps:\n%s", strings.Join(found, "\n"))
			}
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
		})
	}
}
