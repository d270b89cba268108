package curl

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// word is one argument of a command. Variables of the shell are in it as marks, see [mark].
type word struct {
	text         string
	line, column int
	// shell is set if a part of it is the output of another command, which is not known.
	shell bool
}

// mark begins and ends the name of a variable in the text of a word: a character that texts do not
// have.
const mark = "\ue000"

// command is one command line.
type command struct {
	words []word
	// piped is set if the output goes to another command or to a file.
	piped bool
}

// lexer splits a text into commands as POSIX shells do, and knows the continuations of the shells
// of Windows.
type lexer struct {
	text         string
	at           int
	line, column int
	commands     []command
	word         *word
	chars        []byte // of the text of word
	words        int
}

// blanks are what documentation writes in the place of a value: {{token}}, <your-key>, YOUR_KEY.
var blanks = regexp.MustCompile(`\{\{\s*([A-Za-z_]\w*)\s*\}\}|<((?i:your|my|insert|api|access|token|key|user|id)[\w -]{0,40})>|\b(YOUR_[A-Z0-9_]+)\b`)

// maxWords is how many arguments all commands of a text may have. What is after them is not read:
// a command with as many is refused.
const maxWords = 10_000

func lex(text string) []command {
	text = strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(text, mark, ""), "\r\n", "\n"), "\ufeff")
	text = blanks.ReplaceAllString(text, mark+"$1$2$3"+mark)
	l := &lexer{text: text, line: 1, column: 1}
	l.commands = []command{{}}
	for l.at < len(l.text) && l.words <= maxWords {
		l.step()
	}
	l.endWord()
	return l.commands
}

// take consumes n bytes.
func (l *lexer) take(n int) string {
	n = min(n, len(l.text)-l.at)
	s := l.text[l.at : l.at+n]
	for _, c := range s {
		l.column++
		if c == '\n' {
			l.line++
			l.column = 1
		}
	}
	l.at += n
	return s
}

func (l *lexer) rest() string { return l.text[l.at:] }

func (l *lexer) add(s string) {
	l.begin()
	l.chars = append(l.chars, s...)
}

func (l *lexer) begin() {
	if l.word == nil {
		l.word = &word{line: l.line, column: l.column}
	}
}

func (l *lexer) endWord() {
	if l.word != nil {
		c := &l.commands[len(l.commands)-1]
		l.words++
		l.word.text, l.chars = string(l.chars), l.chars[:0]
		c.words = append(c.words, *l.word)
		l.word = nil
	}
}

func (l *lexer) endCommand() {
	l.endWord()
	if len(l.commands[len(l.commands)-1].words) > 0 {
		l.commands = append(l.commands, command{})
	}
}

// step consumes the next thing outside of quotes.
func (l *lexer) step() {
	rest := l.rest()
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "\\\n"), strings.HasPrefix(rest, "^\n"), strings.HasPrefix(rest, "`\n"):
		l.take(2)
		l.endWord()
	case c == ' ' || c == '\t':
		l.take(1)
		l.endWord()
	case c == '\n' || c == ';' || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
		l.take(1 + strings.Count(rest[:min(2, len(rest))], "&")/2 + strings.Count(rest[:min(2, len(rest))], "|")/2)
		l.endCommand()
	case c == '|' || c == '>' || c == '<':
		l.endWord()
		l.commands[len(l.commands)-1].piped = true
		l.take(1)
		for l.at < len(l.text) && !strings.ContainsRune("\n;", rune(l.text[l.at])) {
			l.take(1)
		}
	case c == '&':
		l.take(1)
	case c == '#' && l.word == nil:
		for l.at < len(l.text) && l.text[l.at] != '\n' {
			l.take(1)
		}
	case c == '\'':
		l.single()
	case strings.HasPrefix(rest, "$'"):
		l.ansi()
	case c == '"':
		l.double()
	case strings.HasPrefix(rest, "^\""):
		l.cmdQuoted()
	case c == '\\' || c == '^':
		l.take(1)
		l.add(l.character())
	case c == '$' || c == '`':
		l.expansion()
	default:
		l.begin()
		l.add(l.character())
	}
}

// character consumes one character.
func (l *lexer) character() string {
	if l.at >= len(l.text) {
		return ""
	}
	_, n := utf8.DecodeRuneInString(l.rest())
	return l.take(n)
}

func (l *lexer) single() {
	l.begin()
	l.take(1)
	for l.at < len(l.text) && l.text[l.at] != '\'' {
		l.add(l.character())
	}
	l.take(1)
}

func (l *lexer) double() {
	l.begin()
	l.take(1)
	for l.at < len(l.text) && l.text[l.at] != '"' {
		switch rest := l.rest(); {
		case strings.HasPrefix(rest, "\\\n"):
			l.take(2)
		case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("\"\\$`", rest[1]) >= 0:
			l.take(1)
			l.add(l.character())
		case strings.HasPrefix(rest, "^\""), strings.HasPrefix(rest, "^^"):
			l.take(1)
			l.add(l.character())
		case rest[0] == '$' || rest[0] == '`':
			l.expansion()
		default:
			l.add(l.character())
		}
	}
	l.take(1)
}

// cmdQuoted consumes a string as browsers copy it for cmd, where a caret escapes each special character: what
// cmd makes of it is read as programs of Windows read their arguments.
func (l *lexer) cmdQuoted() {
	l.begin()
	l.cmdCharacter()
	for l.at < len(l.text) {
		switch c := l.cmdCharacter(); c {
		case `"`:
			return
		case `\`:
			if next := strings.TrimPrefix(l.rest(), "^"); next != "" && (next[0] == '"' || next[0] == '\\') {
				c = l.cmdCharacter()
			}
			l.add(c)
		default:
			l.add(c)
		}
	}
}

// cmdCharacter consumes a character as cmd gives it to a program.
func (l *lexer) cmdCharacter() string {
	switch rest := l.rest(); {
	case strings.HasPrefix(rest, "^\n\n"):
		l.take(3)
		return "\n"
	case strings.HasPrefix(rest, "^\n"):
		l.take(2)
		return ""
	case strings.HasPrefix(rest, "^"):
		l.take(1)
	}
	return l.character()
}

// escapes are those of strings in $'…'.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", 'e': "\x1b"}

func (l *lexer) ansi() {
	l.begin()
	l.take(2)
	for l.at < len(l.text) && l.text[l.at] != '\'' {
		if l.text[l.at] != '\\' || l.at+1 >= len(l.text) {
			l.add(l.character())
			continue
		}
		l.take(1)
		c := l.text[l.at]
		digits := map[byte]int{'u': 4, 'U': 8, 'x': 2}[c]
		if end := min(l.at+1+digits, len(l.text)); digits > 0 {
			if n, err := strconv.ParseUint(l.text[l.at+1:end], 16, 32); err == nil {
				l.take(end - l.at)
				l.add(string(rune(n)))
				continue
			}
		}
		if e, known := escapes[c]; known {
			l.take(1)
			l.add(e)
			continue
		}
		l.add("\\" + l.character())
	}
	l.take(1)
}

// expansion consumes what the shell would replace: a variable, which becomes a mark, or the output
// of a command.
func (l *lexer) expansion() {
	l.begin()
	rest := l.rest()
	switch {
	case strings.HasPrefix(rest, "$("):
		l.word.shell = true
		for depth := 0; l.at < len(l.text); {
			c := l.take(1)
			depth += strings.Count(c, "(") - strings.Count(c, ")")
			if depth == 0 && c == ")" {
				return
			}
		}
	case rest[0] == '`':
		l.word.shell = true
		l.take(1)
		for l.at < len(l.text) && l.take(1) != "`" {
		}
	default:
		name := strings.TrimPrefix(strings.TrimPrefix(rest[1:], "{"), "env:")
		end := 0
		for end < len(name) && (name[end] == '_' || name[end] >= '0' && name[end] <= '9' || name[end]|32 >= 'a' && name[end]|32 <= 'z') {
			end++
		}
		if end == 0 || name[0] >= '0' && name[0] <= '9' {
			l.add(l.take(1))
			return
		}
		l.take(len(rest) - len(name) + end)
		if strings.HasPrefix(rest, "${") {
			for l.at < len(l.text) && l.take(1) != "}" {
			}
		}
		l.add(mark + name[:end] + mark)
	}
}
