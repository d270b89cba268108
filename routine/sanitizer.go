package routine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	markdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/ohler55/ojg/jp"
	"golang.org/x/net/html"
)

// sanitizerStep shrinks a response before it is stored, so that an agent reads
// the part it needs.
type sanitizerStep struct {
	Type     string   `json:"type"`
	Path     string   `json:"path"`
	Paths    []string `json:"paths"`
	MaxChars int      `json:"max_chars"`

	exprs []jp.Expr
}

// parseSanitizer reads data_sanitizer: one step or a list applied in order.
func parseSanitizer(raw json.RawMessage) ([]sanitizerStep, []Problem) {
	switch firstByte(raw) {
	case '{':
		var s sanitizerStep
		if err := unmarshal(raw, &s); err != nil {
			return nil, []Problem{{Pointer: "/data_sanitizer", Code: "type", Message: err.Error()}}
		}
		problems := s.prepare("/data_sanitizer")
		return []sanitizerStep{s}, problems
	case '[':
		var steps []sanitizerStep
		if err := unmarshal(raw, &steps); err != nil {
			return nil, []Problem{{Pointer: "/data_sanitizer", Code: "type", Message: err.Error()}}
		}
		var problems []Problem
		for i := range steps {
			problems = append(problems, steps[i].prepare("/data_sanitizer/"+strconv.Itoa(i))...)
		}
		return steps, problems
	}
	return nil, nil
}

// sanitizerFields are the fields that go with each type.
var sanitizerFields = map[string]string{
	"json_path": "path or paths", "drop": "paths", "truncate": "max_chars", "html_to_text": "", "html_to_markdown": "",
}

// prepare compiles the step's paths and checks that it has what its type needs.
func (s *sanitizerStep) prepare(pointer string) []Problem {
	var problems []Problem
	add := func(at, code, format string, args ...any) {
		problems = append(problems, Problem{Pointer: pointer + at, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	has := map[string]bool{"path or paths": s.Path != "" || len(s.Paths) > 0, "paths": len(s.Paths) > 0, "max_chars": s.MaxChars > 0, "": true}
	need := sanitizerFields[s.Type]
	switch {
	case !has[need]:
		add("", "required", "%s needs %s", s.Type, need)
	case s.Path != "" && len(s.Paths) > 0:
		add("/paths", "conflict", "give path or paths, not both")
	case s.Path != "" && s.Type != "json_path":
		add("/path", "unknown_field", "%s has no path", s.Type)
	case len(s.Paths) > 0 && s.Type != "json_path" && s.Type != "drop":
		add("/paths", "unknown_field", "%s has no paths", s.Type)
	case s.MaxChars > 0 && s.Type != "truncate":
		add("/max_chars", "unknown_field", "%s has no max_chars", s.Type)
	}
	paths, at := s.Paths, func(i int) string { return "/paths/" + strconv.Itoa(i) }
	if s.Path != "" {
		paths, at = []string{s.Path}, func(int) string { return "/path" }
	}
	for i, p := range paths {
		expr, err := jp.ParseString(p)
		if err != nil {
			add(at(i), "json_path", "is no JSONPath: %v", err)
		}
		s.exprs = append(s.exprs, expr)
	}
	return problems
}

func (s *sanitizerStep) apply(text string) (string, error) {
	switch s.Type {
	case "json_path":
		return s.pick(text)
	case "drop":
		return s.drop(text)
	case "truncate":
		if utf8.RuneCountInString(text) > s.MaxChars {
			return string([]rune(text)[:s.MaxChars]), nil
		}
		return text, nil
	case "html_to_text":
		return htmlText(text)
	case "html_to_markdown":
		return markdown.ConvertString(text)
	}
	return "", Errorf(CodeInternal, "sanitizer %q", s.Type)
}

// pick keeps what the paths select: with path, the value, or a list when it
// matches several; with paths, an object of them.
func (s *sanitizerStep) pick(text string) (string, error) {
	doc, err := sanitizerJSON(s.Type, text)
	if err != nil {
		return "", err
	}
	if s.Path != "" {
		return compact(selected(s.exprs[0], doc)), nil
	}
	out := map[string]any{}
	for i, p := range s.Paths {
		out[p] = selected(s.exprs[i], doc)
	}
	return compact(out), nil
}

// selected is the one value of a path that names one, else the list of matches.
func selected(x jp.Expr, doc any) any {
	values := x.Get(doc)
	if x.Normal() {
		if len(values) == 0 {
			return nil
		}
		return values[0]
	}
	if values == nil {
		values = []any{}
	}
	return values
}

func (s *sanitizerStep) drop(text string) (string, error) {
	doc, err := sanitizerJSON(s.Type, text)
	if err != nil {
		return "", err
	}
	for _, x := range s.exprs {
		if doc, err = x.Remove(doc); err != nil {
			return "", Errorf(CodeInvalid, "data_sanitizer drop %s: %w", x, err)
		}
	}
	return compact(doc), nil
}

func sanitizerJSON(step, text string) (any, error) {
	var doc any
	if err := unmarshal([]byte(text), &doc); err != nil {
		return nil, Errorf(CodeInvalid, "data_sanitizer %s needs a JSON response; this one begins %s", step, show(text))
	}
	return doc, nil
}

// htmlText is what a reader of the page would see: the text of the body, its
// blocks on lines of their own.
func htmlText(text string) (string, error) {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", Errorf(CodeInvalid, "data_sanitizer html_to_text: %w", err)
	}
	var lines []string
	var line strings.Builder
	flush := func() {
		if s := strings.Join(strings.Fields(line.String()), " "); s != "" {
			lines = append(lines, s)
		}
		line.Reset()
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			line.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && hiddenText[n.Data] {
			return
		}
		block := n.Type == html.ElementNode && !inlineText[n.Data]
		if block {
			flush()
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if block {
			flush()
		} else if n.Type == html.ElementNode && (n.Data == "td" || n.Data == "th") {
			line.WriteByte(' ')
		}
	}
	walk(doc)
	flush()
	return strings.Join(lines, "\n"), nil
}

var hiddenText = map[string]bool{"script": true, "style": true, "noscript": true, "template": true, "head": true, "svg": true}

var inlineText = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "cite": true, "code": true, "data": true,
	"dfn": true, "em": true, "font": true, "i": true, "img": true, "ins": true, "del": true, "kbd": true, "label": true, "mark": true, "q": true, "s": true,
	"samp": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "td": true, "th": true, "time": true, "tt": true, "u": true, "var": true}
