package definition

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest/stopwatch"
)

// definitionWith has the parameters, each used, and the operations.
func definitionWith(t *testing.T, parameters, operations string) *routine.Definition {
	t.Helper()
	d, _, err := Parse([]byte(`{"name": "n", "description": "d", "parameters": [` + parameters + `], "operations": [` + operations + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bound is what Bind makes of values: JSON, or "pointer code" of each problem.
func bound(d *routine.Definition, given string) (values routine.Values, problems []string) {
	values, err := Bind(d, json.RawMessage(given))
	if err != nil {
		for _, p := range routine.AsError(err).Problems {
			problems = append(problems, p.Pointer+" "+p.Code)
		}
	}
	return values, problems
}

const pressP = `{"type": "press", "key": "{{p}}"}`

func TestValuesOfEachType(t *testing.T) {
	n := func(digits string) json.Number { return json.Number(digits) }
	for _, row := range []struct {
		rules string // of the parameter p
		given string
		want  any // a value, or the code of the fault
	}{
		{`"type": "string"`, `""`, ""},
		{`"type": "string"`, `" a\u0000é "`, " a\x00é "},
		{`"type": "string"`, `5`, fail("type")},
		{`"type": "string"`, `{"a": 1}`, fail("type")},
		{`"type": "integer"`, `12`, n("12")},
		{`"type": "integer"`, `"12"`, n("12")},
		{`"type": "integer"`, `-0`, n("-0")},
		{`"type": "integer"`, `3.0`, n("3")},
		{`"type": "integer"`, `"1e3"`, n("1000")},
		{`"type": "integer"`, `123456789012345678901234567890`, n("123456789012345678901234567890")},
		{`"type": "integer"`, `3.5`, fail("type")},
		{`"type": "integer"`, `" 12"`, fail("type")},
		{`"type": "integer"`, `"12 "`, fail("type")},
		{`"type": "integer"`, `"12\n"`, fail("type")},
		{`"type": "integer"`, `"+12"`, fail("type")},
		{`"type": "integer"`, `"012"`, fail("type")},
		{`"type": "integer"`, `"0x10"`, fail("type")},
		{`"type": "integer"`, `"1_000"`, fail("type")},
		{`"type": "integer"`, `"1/2"`, fail("type")},
		{`"type": "integer"`, `"١٢"`, fail("type")},
		{`"type": "integer"`, `""`, fail("type")},
		{`"type": "integer"`, `true`, fail("type")},
		{`"type": "integer"`, `[1]`, fail("type")},
		{`"type": "number"`, `12345678901234567890.10`, n("12345678901234567890.10")},
		{`"type": "number"`, `"12345678901234567890.10"`, n("12345678901234567890.10")},
		{`"type": "number"`, `1E+2`, n("1E+2")},
		{`"type": "number"`, `"NaN"`, fail("type")},
		{`"type": "number"`, `"Infinity"`, fail("type")},
		{`"type": "number"`, `"1e999"`, fail("type")},
		{`"type": "number"`, `1e999`, fail("number_range")},
		{`"type": "number"`, `".5"`, fail("type")},
		{`"type": "number", "min_value": 0.1`, `0.1`, n("0.1")},
		{`"type": "number", "min_value": 0.1`, `0.09999999999999999999`, fail("min_value")},
		{`"type": "number", "max_value": 10`, `10.00000000000000000001`, fail("max_value")},
		{`"type": "boolean"`, `true`, true},
		{`"type": "boolean"`, `"false"`, false},
		{`"type": "boolean"`, `"True"`, fail("type")},
		{`"type": "boolean"`, `1`, fail("type")},
		{`"type": "date"`, `"2032-02-29"`, "2032-02-29"},
		{`"type": "date"`, `"2031-02-29"`, fail("format")},
		{`"type": "date"`, `"2031-2-03"`, fail("format")},
		{`"type": "date"`, `"2031-02-03 "`, fail("format")},
		{`"type": "date"`, `"2031-02-03T00:00:00Z"`, fail("format")},
		{`"type": "date"`, `20310203`, fail("type")},
		{`"type": "date", "format": "DD/MM/YYYY"`, `"03/02/2031"`, "03/02/2031"},
		{`"type": "date", "format": "DD/MM/YYYY"`, `"13/13/2031"`, fail("format")},
		{`"type": "date", "format": "YYYY-MM-DDTHH:mm:ss"`, `"2031-02-03T24:00:00"`, fail("format")},
		{`"type": "date", "format": "MM/DD"`, `"02/29"`, "02/29"},
		{`"type": "date", "format": "HH.mm"`, `"23.59"`, "23.59"},
		{`"type": "datetime"`, `"2031-02-03T04:05:06Z"`, "2031-02-03T04:05:06Z"},
		{`"type": "datetime"`, `"2031-02-03t04:05:06.789+05:30"`, "2031-02-03t04:05:06.789+05:30"},
		{`"type": "datetime"`, `"2031-02-03T4:05:06Z"`, fail("format")},
		{`"type": "datetime"`, `"2031-02-03T04:05:06,5Z"`, fail("format")},
		{`"type": "datetime"`, `"2031-02-03T04:05:06"`, fail("format")},
		{`"type": "datetime"`, `"2031-02-03T04:05:06+25:00"`, fail("format")},
		{`"type": "email"`, `"ada@example.org"`, "ada@example.org"},
		{`"type": "email"`, `"a+b@sub.example.org"`, "a+b@sub.example.org"},
		{`"type": "email"`, `"Ada <ada@example.org>"`, fail("format")},
		{`"type": "email"`, `"ada@example.org\r\nBcc: x@y.z"`, fail("format")},
		{`"type": "email"`, `" ada@example.org"`, fail("format")},
		{`"type": "email"`, `"ada@example.org,b@example.org"`, fail("format")},
		{`"type": "email"`, `"ada"`, fail("format")},
		{`"type": "email"`, `"@example.org"`, fail("format")},
		{`"type": "email"`, `"` + strings.Repeat("(", 1<<16) + `a@b.c"`, fail("format")},
		{`"type": "url"`, `"https://a.example/b?c=d#e"`, "https://a.example/b?c=d#e"},
		{`"type": "url"`, `"HTTP://a.example:8080"`, "HTTP://a.example:8080"},
		{`"type": "url"`, `"http://[::1]:80/"`, "http://[::1]:80/"},
		{`"type": "url"`, `"ftp://a.example"`, fail("format")},
		{`"type": "url"`, `"javascript:alert(1)"`, fail("format")},
		{`"type": "url"`, `"//a.example"`, fail("format")},
		{`"type": "url"`, `"/a"`, fail("format")},
		{`"type": "url"`, `"https://"`, fail("format")},
		{`"type": "url"`, `"https://:80/"`, fail("format")},
		{`"type": "url"`, `"https://a.example:99999/"`, fail("format")},
		{`"type": "url"`, `"https://a.example\\@b.example"`, fail("format")},
		{`"type": "url"`, `"https:\\\\a.example"`, fail("format")},
		{`"type": "url"`, `" https://a.example"`, fail("format")},
		{`"type": "url"`, `"https://a.example/ b"`, fail("format")},
		{`"type": "url"`, `"https://a.example/\n"`, fail("format")},
		{`"type": "enum", "enum_values": ["a", "1", "true"]`, `"a"`, "a"},
		{`"type": "enum", "enum_values": ["a", "1", "true"]`, `"A"`, fail("enum_values")},
		{`"type": "enum", "enum_values": ["a", "1", "true"]`, `"a "`, fail("enum_values")},
		{`"type": "enum", "enum_values": ["a", "1", "true"]`, `1`, fail("enum_values")},
		{`"type": "enum", "enum_values": ["a", "1", "true"]`, `true`, fail("enum_values")},
		{`"type": "enum", "enum_values": ["{\"a\":1}"]`, `{"a": 1}`, fail("enum_values")},
		{`"type": "enum", "enum_values": [1, 2.50, true]`, `2.5`, n("2.50")},
		{`"type": "enum", "enum_values": [1, 2.50, true]`, `"1"`, n("1")},
		{`"type": "enum", "enum_values": [1, 2.50, true]`, `"true"`, true},
		{`"type": "enum", "enum_values": [1, 2.50, true]`, `["1"]`, fail("enum_values")},
		{`"type": "integer", "enum_values": [1, "2"]`, `2`, n("2")},
		{`"type": "integer", "enum_values": [1, "2"]`, `3`, fail("enum_values")},
		{`"type": "number", "enum_values": [1.5]`, `1.50`, n("1.50")},
		{`"type": "string", "enum_values": ["a"]`, `"b"`, fail("enum_values")},
		{`"min_length": 2, "max_length": 3`, `"éé"`, "éé"},
		{`"min_length": 2, "max_length": 3`, `"é"`, fail("min_length")},
		{`"min_length": 2, "max_length": 3`, `"😀😀😀😀"`, fail("max_length")},
		{`"pattern": "b"`, `"abc"`, "abc"},
		{`"pattern": "^[A-Z]{3}$"`, `"ABC\n"`, fail("pattern")},
		{`"pattern": "^[A-Z]{3}$"`, `"ABC\nDEF"`, fail("pattern")},
		{`"pattern": "^\\d+$"`, `"١٢"`, fail("pattern")},
		{`"type": "integer", "pattern": "^[0-9]{4}$"`, `1234`, n("1234")},
	} {
		t.Run(row.rules+" "+routine.Truncate(row.given, 60), func(t *testing.T) {
			d := definitionWith(t, `{"name": "p", `+row.rules+`}`, pressP)
			values, problems := bound(d, `{"p": `+row.given+`}`)
			if code, failing := row.want.(fail); failing {
				if diff := cmp.Diff([]string{"/p " + string(code)}, problems); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff(routine.Values{"p": row.want}, values); diff != "" || problems != nil {
				t.Errorf("(-want +got)\n%s%s", diff, problems)
			}
		})
	}
}

// fail is the code of the fault that a row expects.
type fail string

func TestMissingAndNullValues(t *testing.T) {
	for _, row := range []struct {
		rules, given string
		want         any
	}{
		{`"type": "integer"`, `{}`, fail("required")},
		{`"type": "integer"`, ``, fail("required")},
		{`"type": "integer"`, `{"p": null}`, fail("required")},
		{`"type": "integer", "required": false`, `{}`, nil},
		{`"type": "integer", "required": false`, `{"p": null}`, nil},
		{`"type": "integer", "default": 7.0`, `{}`, json.Number("7")},
		{`"type": "integer", "required": false, "default": "8"`, `{"p": null}`, json.Number("8")},
		{`"type": "string", "default": ""`, `{}`, ""},
		{`"type": "string", "default": "a"`, `{"p": "b"}`, "b"},
		{`"type": "string", "default": null`, `{}`, fail("required")},
	} {
		d := definitionWith(t, `{"name": "p", `+row.rules+`}`, pressP)
		values, problems := bound(d, row.given)
		if code, failing := row.want.(fail); failing {
			if diff := cmp.Diff([]string{"/p " + string(code)}, problems); diff != "" {
				t.Errorf("%s %s: %s", row.rules, row.given, diff)
			}
		} else if diff := cmp.Diff(routine.Values{"p": row.want}, values); diff != "" || problems != nil {
			t.Errorf("%s %s: %s%s", row.rules, row.given, diff, problems)
		}
	}
}

func TestAllFaultsOfACallAtOnce(t *testing.T) {
	d := definitionWith(t, `{"name": "count", "type": "integer", "max_value": 9}, {"name": "word", "min_length": 3, "pattern": "^[a-z]+$"},
		{"name": "day", "type": "date"}, {"name": "size", "type": "enum", "enum_values": ["s", "l"]}`,
		`{"type": "press", "key": "{{count}}{{word}}{{day}}{{size}}"}`)
	_, err := Bind(d, json.RawMessage(`{"zz~/": 1, "coutn": 5, "word": "A", "size": "m", "count": 10, "count": 11}`))
	var got []string
	for _, p := range routine.AsError(err).Problems {
		got = append(got, p.Pointer+" "+p.Code+": "+p.Message+" | "+p.Hint)
	}
	want := []string{
		`/count duplicate_key: key "count" stands here twice: remove one | `,
		`/count max_value: "count" must be at most 9, not 10 | `,
		`/coutn unknown_parameter: "coutn" is not a parameter of this routine | did you mean "count"?`,
		`/day required: "day" is required | `,
		`/size enum_values: "size" must be one of "s", "l", not "m" | `,
		`/word min_length: "word" must have at least 3 characters, not 1 | `,
		`/word pattern: "word" must match the pattern ^[a-z]+$ | `,
		`/zz~0~1 unknown_parameter: "zz~/" is not a parameter of this routine | its parameters are count, word, day, size`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if routine.CodeOf(err) != routine.CodeInvalid || !strings.HasPrefix(err.Error(), "8 problems in the parameters, first /count") {
		t.Errorf("%v: %v", routine.CodeOf(err), err)
	}
}

func TestParametersThatAreNoObject(t *testing.T) {
	d := definitionWith(t, `{"name": "p"}`, pressP)
	for given, want := range map[string]string{
		`[]`: " type", `5`: " type", `null`: " type", `{"p": }`: "/p json_syntax", `{"p": "a"} x`: " trailing_text", "{\"p\": \"\xff\"}": "/p invalid_utf8",
		`{"p": "\udc00"}`: "/p lone_surrogate", `{"p": ` + strings.Repeat("[", 5000): "/p" + strings.Repeat("/0", 63) + " too_deep",
	} {
		if _, problems := bound(d, given); len(problems) == 0 || problems[0] != want {
			t.Errorf("%s: %q, want %q", routine.Truncate(given, 40), problems, want)
		}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `"u%d": 1, `, i)
	}
	_, problems := bound(d, `{`+many.String()+`"p": "a"}`)
	if len(problems) != maxProblems+1 || problems[maxProblems] != " too_many" {
		t.Errorf("5000 unknown names: %d problems, last %q", len(problems), problems[len(problems)-1])
	}
}

// A value that its place cannot take is refused before a browser is touched.
func TestValuesThatTheirPlaceCannotTake(t *testing.T) {
	for _, row := range []struct {
		name, operation, given string
		want                   []string
	}{
		{"line break in a header", `{"type": "fetch", "endpoint": {"url": "/", "headers": {"a": "b {{p}}"}}}`, "a\r\nc: d", []string{"/p invalid_value"}},
		{"slash in a host", `{"type": "navigate", "url": "https://{{p}}.example/"}`, "evil.example/x", []string{"/p invalid_value"}},
		{"dot segment in a path", `{"type": "navigate", "url": "https://a.example/{{p}}/b"}`, "..", []string{"/p invalid_value"}},
		{"header beyond Latin-1", `{"type": "fetch", "endpoint": {"url": "/", "headers": {"X": "a {{p}}"}}}`, "Ω", []string{"/p invalid_value"}},
		{"header of Latin-1", `{"type": "fetch", "endpoint": {"url": "/", "headers": {"X": "{{p}}"}}}`, "é", nil},
		{"no file name", `{"type": "download", "filename": "{{p}}", "endpoint": {"url": "/"}}`, "..", []string{"/p invalid_value"}},
		{"both of two", `{"type": "navigate", "url": "https://{{p}}.{{q}}.example/"}`, "a/b", []string{"/p invalid_value", "/q invalid_value"}},
		{"in two places", `{"type": "fetch", "endpoint": {"url": "https://{{p}}.example", "headers": {"a": "{{p}}"}}}`, "a/\nb", []string{"/p invalid_value", "/p invalid_value"}},
		{"two keys become one", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"a": 1, "{{p}}": 2}}}`, "a", []string{"/p invalid_value"}},
		{"two templated keys become one", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"é": 1, "{{p}}": 2}}}`, "é", []string{"/p invalid_value"}},
		{"all that is well", `{"type": "fetch", "endpoint": {"url": "/{{p}}?a={{p}}", "method": "POST", "headers": {"a": "{{p}}"},
			"body": {"a": 1, "{{p}}": "{{p}}"}}}, {"type": "click", "selector": "#{{p}}"}`, `x"'\<>&?#%/é`, nil},
	} {
		d := definitionWith(t, `{"name": "p"}, {"name": "q", "default": "c/d"}`, row.operation)
		text, _ := json.Marshal(row.given)
		if _, problems := bound(d, `{"p": `+string(text)+`}`); !cmp.Equal(problems, row.want) {
			t.Errorf("%s: %q, want %q", row.name, problems, row.want)
		}
	}
	d := definitionWith(t, `{"name": "p"}`, `{"type": "press", "key": "a"}, {"type": "navigate", "url": "https://{{p}}.example/"}`)
	_, err := Bind(d, json.RawMessage(`{"p": "a/b"}`))
	if message := routine.AsError(err).Problems[0].Message; !strings.HasPrefix(message, `"p" does not fit where operation 2 (navigate) puts it, at /url: `) {
		t.Errorf("the message does not say where: %s", message)
	}
}

// A secret value is nowhere: not in the ledger, not in a message.
func TestSecretsAreMasked(t *testing.T) {
	const secret = "hunter2hunter2"
	declared := []routine.Parameter{{Name: "a", Secret: true}, {Name: "b"}, {Name: "c", Secret: true}, {Name: "d"}}
	got := string(routine.Values{"a": secret, "b": json.Number("12345678901234567890.10"), "c": nil, "d": nil}.Mask(declared))
	if want := `{"a":"***","b":12345678901234567890.10}`; got != want {
		t.Errorf("masked %s, want %s", got, want)
	}
	for _, rules := range []string{`"type": "integer"`, `"type": "number"`, `"type": "boolean"`, `"type": "date"`, `"type": "datetime"`, `"type": "email"`, `"type": "url"`,
		`"type": "enum", "enum_values": ["a"]`, `"enum_values": ["a"]`, `"max_length": 3`, `"pattern": "^a$"`, `"min_length": 99`} {
		d := definitionWith(t, `{"name": "p", "x-secret": true, `+rules+`}`, pressP)
		for _, given := range []string{secret, secret + "@"} {
			if _, err := Bind(d, json.RawMessage(`{"p": "`+given+`"}`)); err == nil || strings.Contains(fmt.Sprint(err, routine.AsError(err).Problems), "hunter") {
				t.Errorf("%s: %v", rules, err)
			}
		}
	}
	for _, rules := range []string{`"type": "enum", "enum_values": ["hunter2"]`, `"enum_values": ["hunter2"]`, `"pattern": "^hunter2$"`, `"pattern": "^(hunter2|(a+)+$)"`,
		`"type": "integer", "max_value": 4711`, `"type": "number", "min_value": 4711`} {
		d := definitionWith(t, `{"name": "p", "x-secret": true, `+rules+`}`, pressP)
		for _, given := range []string{`"` + strings.Repeat("a", 40) + `!"`, "1", "9999"} {
			_, err := Bind(d, json.RawMessage(`{"p": `+given+`}`))
			if strings.ContainsAny(rules, "h") && err == nil ||
				err != nil && regexp.MustCompile("hunter|4711").MatchString(fmt.Sprint(err, routine.AsError(err).Problems)) {
				t.Errorf("%s: %v", rules, err)
			}
		}
	}
	for _, operation := range []string{`{"type": "navigate", "url": "https://{{p}}.example/"}`, `{"type": "fetch", "endpoint": {"url": "/", "headers": {"a": "{{p}}"}}}`,
		`{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"a\n/hunter2": 1, "{{p}}": 2}}}`} {
		d := definitionWith(t, `{"name": "p", "x-secret": true}`, operation)
		_, err := Bind(d, json.RawMessage(`{"p": "a\n/hunter2"}`))
		if err == nil || strings.Contains(strings.ReplaceAll(fmt.Sprint(err, routine.AsError(err).Problems), "/endpoint/body/{{p}}", ""), "hunter") {
			t.Errorf("%s: %v", operation, err)
		}
	}
	_, _, err := Parse([]byte(declaring(`{"name": "p", "type": "integer", "x-secret": true, "default": "hunter2"}`)))
	if err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("default: %v", err)
	}
}

// A call is answered even if the author's expression backtracks without end.
func TestPatternsNeverHang(t *testing.T) {
	var parameters, values, keys strings.Builder
	for i, pattern := range slowPatterns {
		expr, _ := json.Marshal(pattern)
		text, _ := json.Marshal(strings.Repeat("a", 50_000) + "!")
		fmt.Fprintf(&parameters, `{"name": "p%d", "pattern": %s},`, i, expr)
		fmt.Fprintf(&values, `"p%d": %s,`, i, text)
		fmt.Fprintf(&keys, "{{p%d}}", i)
	}
	d := definitionWith(t, strings.TrimSuffix(parameters.String(), ","), `{"type": "press", "key": "`+keys.String()+`"}`)
	var problems []string
	if took := stopwatch.Time(func() { _, problems = bound(d, `{`+strings.TrimSuffix(values.String(), ",")+`}`) }); took > 5*time.Second {
		t.Errorf("%d patterns took %v", len(slowPatterns), took)
	}
	if len(problems) == 0 {
		t.Error("no pattern was given up")
	}
	for _, p := range problems {
		if !strings.HasSuffix(p, " pattern") {
			t.Errorf("unexpected problem %s", p)
		}
	}
}

// slowPatterns take a backtracking matcher years with some texts.
var slowPatterns = slices.Repeat([]string{`^(a+)+$`, `^(a|aa)+$`, `^(a*)*b`, `(.*)*x`, `(x+x+)+y`}, 3)

func TestStoredSecretsAreForLessons(t *testing.T) {
	for _, rules := range []string{`"type": "string", "x-secret": true`, `"type": "integer"`, `"type": "boolean"`,
		`"type": "enum", "validation": {"enum_values": ["a"]}`} {
		_, err := Bind(definitionWith(t, `{"name": "p", `+rules+`}`, pressP), json.RawMessage(`{"p": {"secret": "SHOP_PIN"}}`))
		want := `"p" must be the value itself: {"secret": NAME} names a stored secret, which only lessons can use`
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SHOP_PIN") {
			t.Errorf("%s: %v", rules, err)
		}
	}
	for _, given := range []string{`{"secret": 5}`, `{"secret": "a", "more": 1}`, `["secret"]`} {
		_, err := Bind(definitionWith(t, `{"name": "p", "type": "string"}`, pressP), json.RawMessage(`{"p": `+given+`}`))
		if err == nil || !strings.Contains(err.Error(), "must be a string, not") {
			t.Errorf("%s: %v", given, err)
		}
	}
}
