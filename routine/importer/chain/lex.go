// Package chain reads scripts that drive a browser, as code generators write them in JavaScript,
// TypeScript, Python, Java and C#. It knows statements of calls that follow one another, such as
// page.getByRole("button").click(), literals and blocks. It executes nothing.
package chain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Language is the language of a script.
type Language int

// The languages, as far as they differ for the reader.
const (
	JavaScript Language = iota
	Python
	Java
	CSharp
)

// Kinds of tokens.
type tokenKind int

const (
	identifier tokenKind = iota
	text                 // a string, also a template
	number
	regex
	punctuation // one character, or "=>" or "->"
	end         // the end of a line of Python
)

// token is one word of a script.
type token struct {
	kind         tokenKind
	text         string // of a string: its value
	flags        string // of a regular expression; "$" for a string with expressions in it
	line, column int
	start, stop  int  // offsets in the source
	fresh        bool // the first of its line
	pair         int  // of a bracket: the index of the other one
}

// lexer splits a source into tokens.
type lexer struct {
	src      string
	at       int
	line     int
	begin    int // offset of the line
	fresh    bool
	language Language
	tokens   []token
	open     []int // indexes of the brackets that are open
	noRegex  int   // offset up to which no regular expression ends
}

// MaxTokens is how many tokens of a script are read.
const MaxTokens = 50_000

func lex(src string, language Language) []token {
	l := &lexer{src: src, line: 1, fresh: true, language: language}
	for l.at < len(src) && len(l.tokens) < MaxTokens {
		l.next()
	}
	for _, i := range l.open {
		l.tokens[i].pair = len(l.tokens)
	}
	return l.tokens
}

func (l *lexer) next() {
	c := l.src[l.at]
	rest := l.src[l.at:]
	switch {
	case c == '\n':
		if l.language == Python && len(l.open) == 0 && len(l.tokens) > 0 && l.tokens[len(l.tokens)-1].kind != end {
			l.add(end, "", 1)
			l.at--
		}
		l.at++
		l.line, l.begin, l.fresh = l.line+1, l.at, true
	case c == ' ' || c == '\t' || c == '\r' || c == '\\' || strings.HasPrefix(rest, "\uFEFF"):
		l.at++
	case l.language == Python && c == '#', l.language != Python && strings.HasPrefix(rest, "//"):
		l.skip(strings.IndexByte(rest, '\n'))
	case l.language != Python && strings.HasPrefix(rest, "/*"):
		i := strings.Index(rest, "*/")
		if i >= 0 {
			i += 2
		}
		l.skip(i)
	case c == '\'' || c == '"' || c == '`':
		l.str("")
	case c == '/' && l.language == JavaScript && l.regexHere():
		l.regex()
	case c >= '0' && c <= '9':
		n := 1
		for n < len(rest) && (isWord(rune(rest[n])) || rest[n] == '.') {
			n++
		}
		l.add(number, strings.ReplaceAll(rest[:n], "_", ""), n)
	default:
		l.word(rest)
	}
}

// skip goes on n bytes; to the end if n is negative.
func (l *lexer) skip(n int) {
	if n < 0 {
		n = len(l.src) - l.at
	}
	part := l.src[l.at : l.at+n]
	if lines := strings.Count(part, "\n"); lines > 0 {
		l.line += lines
		l.begin = l.at + strings.LastIndexByte(part, '\n') + 1
	}
	l.at += n
}

func isWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// word reads a name, the prefix of a string, or punctuation.
func (l *lexer) word(rest string) {
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !isWord(r) || r == '$' && l.language == CSharp {
			break
		}
		n += size
	}
	if n > 0 && n <= 2 && n < len(rest) && (rest[n] == '"' || rest[n] == '\'') && l.language == Python {
		l.at += n
		l.str(strings.ToLower(rest[:n]))
		return
	}
	if n > 0 {
		l.add(identifier, rest[:n], n)
		return
	}
	if l.language == CSharp {
		for n < len(rest) && (rest[n] == '$' || rest[n] == '@') {
			n++
		}
		if n > 0 && n < len(rest) && rest[n] == '"' {
			l.at += n
			l.str(rest[:n])
			return
		}
	}
	if strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, "->") {
		l.add(punctuation, "=>", 2)
		return
	}
	_, size := utf8.DecodeRuneInString(rest)
	l.add(punctuation, rest[:size], size)
	l.bracket()
}

// bracket pairs the bracket that has just been added with the one that opened.
func (l *lexer) bracket() {
	i := len(l.tokens) - 1
	t := &l.tokens[i]
	switch t.text {
	case "(", "[", "{":
		l.open = append(l.open, i)
	case ")", "]", "}":
		opened := map[string]string{")": "(", "]": "[", "}": "{"}[t.text]
		for len(l.open) > 0 {
			o := l.open[len(l.open)-1]
			l.open = l.open[:len(l.open)-1]
			l.tokens[o].pair, t.pair = i, o
			if l.tokens[o].text == opened {
				return
			}
		}
	}
}

func (l *lexer) add(kind tokenKind, value string, size int) {
	l.tokens = append(l.tokens, token{kind: kind, text: value, line: l.line, column: l.at - l.begin + 1, start: l.at, stop: l.at + size,
		fresh: l.fresh, pair: -1})
	l.at += size
	l.fresh = false
}

// regexHere reports whether a slash begins a regular expression and does not divide.
func (l *lexer) regexHere() bool {
	if len(l.tokens) == 0 {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == punctuation && last.text != ")" && last.text != "]" && last.text != "}" || last.text == "return" && last.kind == identifier
}

func (l *lexer) regex() {
	class, i := false, l.at+1
	for ; l.at >= l.noRegex && i < len(l.src) && l.src[i] != '\n'; i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			n := i + 1
			for n < len(l.src) && l.src[n] >= 'a' && l.src[n] <= 'z' {
				n++
			}
			source, flags := l.src[l.at+1:i], l.src[i+1:n]
			l.add(regex, source, n-l.at)
			l.tokens[len(l.tokens)-1].flags = flags
			return
		}
	}
	l.noRegex = max(l.noRegex, i)
	l.add(punctuation, "/", 1)
}

// str reads a string. prefix is what stands before it: r and f of Python, @ and $ of C#.
func (l *lexer) str(prefix string) {
	rest := l.src[l.at:]
	quote := rest[:1]
	if triple := strings.Repeat(quote, 3); l.language != JavaScript && strings.HasPrefix(rest, triple) {
		quote = triple
	}
	raw := strings.Contains(prefix, "r") || strings.Contains(prefix, "@") || quote == `"""` && l.language == CSharp
	doubled := strings.Contains(prefix, "@") // a quote in it is written twice
	var b strings.Builder
	i := len(quote)
	for i < len(rest) {
		switch {
		case doubled && strings.HasPrefix(rest[i:], `""`):
			b.WriteByte('"')
			i += 2
			continue
		case strings.HasPrefix(rest[i:], quote):
			l.finish(prefix, quote, b.String(), i+len(quote))
			return
		case rest[i] == '\n' && len(quote) == 1 && quote != "`" && !raw:
			l.finish(prefix, quote, b.String(), i) // it has no end
			return
		case rest[i] == '\\' && !raw:
			value, size := unescape(rest[i:])
			if quote == "`" && value == "$" {
				value = "\x00$" // no expression begins
			}
			b.WriteString(value)
			i += size
			continue
		}
		b.WriteByte(rest[i])
		i++
	}
	l.finish(prefix, quote, b.String(), i)
}

func (l *lexer) finish(prefix, quote, value string, size int) {
	line, begin := l.line, l.begin
	start := l.at
	l.add(text, value, size)
	l.at = start
	l.line, l.begin = line, begin
	l.skip(size)
	if quote == "`" || strings.ContainsAny(prefix, "f$") {
		l.tokens[len(l.tokens)-1].flags = "$"
	}
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", '0': "", '\n': ""}

// unescape returns what an escape stands for, and its length.
func unescape(s string) (string, int) {
	if len(s) < 2 {
		return "", len(s)
	}
	if value, known := escapes[s[1]]; known {
		return value, 2
	}
	digits, from := 0, 2
	switch s[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
		if strings.HasPrefix(s[2:], "{") {
			from = 3
			digits = max(strings.IndexByte(s, '}')-3, 0)
		}
	}
	if digits > 0 && digits <= 6 && from+digits <= len(s) {
		var r rune
		for _, c := range strings.ToLower(s[from : from+digits]) {
			i := strings.IndexRune("0123456789abcdef", c)
			if i < 0 {
				return s[1:2], 2
			}
			r = r<<4 | rune(i)
		}
		return string(r), from + digits + from - 2
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[1 : 1+size], 1 + size
}
