package definition

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// uploading is a definition that hands in the files of two parameters.
const uploading = `{"name":"n","description":"d","parameters":[{"name":"cv","type":"x-files"},{"name":"more","type":"x-files","required":false}],
	"operations":[{"type":"navigate","url":"https://a.example"},{"type":"input_text","selector":"#f","text":"","x-files":"cv"},
	{"type":"input_text","selector":"#g","text":"","x-files":"more"},{"type":"return_html"}]}`

func fileOf(name, kind string, data []byte) string {
	return fmt.Sprintf(`{"name":%s,"type":%s,"base64":%q}`, routine.JSONText(name), routine.JSONText(kind), base64.StdEncoding.EncodeToString(data))
}

// A call's files are decoded, and refused where they break a limit, with words that
// name the file and the limit and show no content.
func TestFilesOfACall(t *testing.T) {
	t.Parallel()
	d, warnings, err := Parse([]byte(uploading))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	pdf := fileOf("cv.pdf", "application/pdf", []byte("%PDF"))
	half := fileOf("half.bin", "application/octet-stream", make([]byte, routine.MaxInputFileBytes/2))
	for _, row := range []struct {
		name, values string
		want         string // in the first problem; empty: none
	}{
		{"a list", `{"cv":[` + pdf + `]}`, ""},
		{"one object", `{"cv":` + pdf + `}`, ""},
		{"JSON in a string", `{"cv":` + routine.JSONText(`[`+pdf+`]`) + `}`, ""},
		{"an empty file", `{"cv":[` + fileOf("empty.txt", "text/plain", nil) + `]}`, ""},
		{"a name that is not ASCII", `{"cv":[` + fileOf("Lebenslauf Müller 日本.pdf", "application/pdf", nil) + `]}`, ""},
		{"a type with parameters", `{"cv":[` + fileOf("a.txt", "text/plain; charset=utf-8", nil) + `]}`, ""},
		{"as many bytes as there may be", `{"cv":[` + half + `,` + half + `]}`, ""},
		{"the same in two parameters", `{"cv":[` + half + `],"more":[` + half + `]}`, ""},
		{"an optional one is null", `{"cv":[` + pdf + `],"more":null}`, ""},
		{"none", `{}`, `"cv" is required`},
		{"an empty list", `{"cv":[]}`, "must hold at least one file"},
		{"a text", `{"cv":"hello"}`, "must be a list of files"},
		{"a number", `{"cv":1}`, "must be a list of files"},
		{"a list of texts", `{"cv":["aGk="]}`, "file 1 must be an object"},
		{"no name", `{"cv":[{"type":"text/plain","base64":""}]}`, "file 1 needs the field name"},
		{"no type", `{"cv":[{"name":"a","base64":""}]}`, "file 1 needs the field type"},
		{"no content", `{"cv":[` + pdf + `,{"name":"a","type":"text/plain"}]}`, "file 2 needs the field base64"},
		{"another field", `{"cv":[{"name":"a","type":"text/plain","base64":"","path":"/etc/passwd"}]}`, `file 1 has no field "path"`},
		{"an empty name", `{"cv":[` + fileOf("", "text/plain", nil) + `]}`, "the name of file 1 must be the name of a file"},
		{"a path", `{"cv":[` + fileOf("../a.txt", "text/plain", nil) + `]}`, "must have no path"},
		{"a Windows path", `{"cv":[` + fileOf(`C:\a.txt`, "text/plain", nil) + `]}`, "must have no path"},
		{"dots", `{"cv":[` + fileOf("..", "text/plain", nil) + `]}`, "must be the name of a file"},
		{"a line end in the name", `{"cv":[` + fileOf("a\nb.txt", "text/plain", nil) + `]}`, "control characters"},
		{"a NUL in the name", `{"cv":[` + fileOf("a\x00.txt", "text/plain", nil) + `]}`, "control characters"},
		{"a long name", `{"cv":[` + fileOf(strings.Repeat("a", 256), "text/plain", nil) + `]}`, "at most 255 bytes, not 256"},
		{"no media type", `{"cv":[` + fileOf("a.pdf", "pdf", nil) + `]}`, "the type of file 1 (a.pdf) must be a media type"},
		{"an empty type", `{"cv":[` + fileOf("a.pdf", "", nil) + `]}`, "must be a media type"},
		{"a type with a line end", `{"cv":[` + fileOf("a.pdf", "text/plain\r\nx: y", nil) + `]}`, "must be a media type"},
		{"no base64", `{"cv":[{"name":"a.pdf","type":"text/plain","base64":"SECRET!"}]}`, "file 1 (a.pdf) is not base64"},
		{"base64 of URLs", `{"cv":[{"name":"a.pdf","type":"text/plain","base64":"_-8="}]}`, "is not base64"},
		{"base64 without padding", `{"cv":[{"name":"a.pdf","type":"text/plain","base64":"aGk"}]}`, "is not base64"},
		{"base64 with line ends", `{"cv":[{"name":"a.pdf","type":"text/plain","base64":"aG\nk="}]}`, "is not base64"},
		{"a data URL", `{"cv":[{"name":"a.pdf","type":"text/plain","base64":"data:text/plain;base64,aGk="}]}`, "base64 alone"},
		{"too many", `{"cv":[` + strings.TrimSuffix(strings.Repeat(pdf+",", 11), ",") + `]}`, "at most 10 files, not 11"},
		{"a large one", `{"cv":[` + fileOf("large.bin", "application/octet-stream", make([]byte, routine.MaxInputFileBytes+1)) + `]}`,
			"file 1 (large.bin) is too large: the files of a call have at most 2.5 MiB together"},
		{"large together", `{"cv":[` + half + `,` + half + `,` + pdf + `]}`, "file 3 (cv.pdf) is too large"},
		{"large in two parameters", `{"cv":[` + half + `,` + pdf + `],"more":` + half + `}`, "file 1 (half.bin)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Bind(d, []byte(row.values))
			problems := errorProblems(err)
			switch {
			case row.want == "" && err != nil:
				t.Fatal(err, problems)
			case row.want == "":
			case len(problems) != 1 || !strings.Contains(problems[0].Message, row.want):
				t.Fatalf("%v, want %q", problems, row.want)
			case strings.Contains(problems[0].Message, "SECRET"):
				t.Error("the content is shown")
			}
		})
	}
}

// The record of a file identifies it without its content.
func TestFilesAreKeptWithoutTheirContent(t *testing.T) {
	t.Parallel()
	d, _, err := Parse([]byte(uploading))
	if err != nil {
		t.Fatal(err)
	}
	values, err := Bind(d, []byte(`{"cv":`+fileOf("cv.txt", "text/plain", []byte("hello"))+`}`))
	if err != nil {
		t.Fatal(err)
	}
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	if got, want := string(values.Mask(d.Parameters)), `{"cv":[{"name":"cv.txt","type":"text/plain","size":5,"sha256":"`+sum+`"}]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	secret := append([]routine.Parameter(nil), d.Parameters...)
	secret[0].Secret = true
	if got := string(values.Mask(secret)); got != `{"cv":"***"}` {
		t.Error(got)
	}
}

// The schema of such a parameter says exactly what a call hands in.
func TestSchemaOfFiles(t *testing.T) {
	t.Parallel()
	d, _, err := Parse([]byte(uploading))
	if err != nil {
		t.Fatal(err)
	}
	s := schemaOf(&d.Parameters[0])
	if got := routine.JSONText(s); got != `{"type":"array","items":`+inputFileSchema+`,"minItems":1,"maxItems":10}` {
		t.Error(got)
	}
	if len(s.Notes) != 1 || s.Notes[0] != "Files to upload, together at most 2.5 MiB." {
		t.Error(s.Notes)
	}
}
