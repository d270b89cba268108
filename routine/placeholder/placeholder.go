// Package placeholder reads and fills the templates of a routine: text with
// tokens such as {{city}} or {{cookie:sid||none}} in it. A template is split
// once, when a definition is read. A value is put in once, escaped for the
// place it lands in, and never looked at again: it cannot become a token, and
// it cannot change the structure of the URL, selector, script or expression
// around it.
package placeholder

import (
	"fmt"

	"github.com/google/uuid"
)

// Place is where in an operation a template stands: it decides how a value is
// escaped.
type Place int

// The places. What each does with values is said in its file.
const (
	Text  Place = iota // plain text: values as they are
	Value              // a string in a JSON value: exactly one token takes the typed value
	URL
	Selector
	Script
	Regexp
	Header
	Filename
)

// Source says where a token's value comes from. Those that read the page are
// also the prefixes of their tokens.
type Source string

// The sources.
const (
	Parameter         Source = "parameter"
	UUID              Source = "uuid"
	EpochMilliseconds Source = "epoch_milliseconds"
	SessionStorage    Source = "sessionStorage"
	LocalStorage      Source = "localStorage"
	Cookie            Source = "cookie"
	Meta              Source = "meta"
	WindowProperty    Source = "windowProperty"
)

// Token is one placeholder of a template.
type Token struct {
	Source Source
	// Name is the parameter's name, or the path behind the prefix; empty for
	// UUID and EpochMilliseconds.
	Name string
	// Fallback is the text behind "||", nil when there is none. It is used when
	// the value is missing or empty; FallbackText gives it.
	Fallback *string
	// Key is the inner text without the white space around its parts, as
	// placeholder_resolution shows it: "sessionStorage:empty||dflt".
	Key string
	// Raw is the token as written, braces included.
	Raw string
	// Offset is where Raw starts in the text, in bytes.
	Offset int
}

// FallbackText is what to use when the value is missing or empty: the fallback,
// or a fresh UUID where that is "uuid". False when the token has none.
func (t Token) FallbackText() (string, bool) {
	switch {
	case t.Fallback == nil:
		return "", false
	case *t.Fallback == string(UUID):
		return uuid.NewString(), true
	}
	return *t.Fallback, true
}

// The codes of faults.
const (
	// CodeUnknown: the inner text is no parameter name and has no prefix.
	CodeUnknown = "unknown_placeholder"
	// CodeUnknownPrefix: there is no such prefix.
	CodeUnknownPrefix = "unknown_prefix"
	// CodeEmpty: nothing stands between the braces, or nothing behind the prefix.
	CodeEmpty = "empty_placeholder"
	// CodeNotAllowed: this kind of token cannot stand in this place.
	CodeNotAllowed = "placeholder_not_allowed"
)

// Fault is what is wrong with a token, found when a definition is read.
type Fault struct {
	Offset  int // of the token in the text, in bytes
	Code    string
	Message string // what is wrong
	Hint    string // the likely cure; may be empty
}

// InvalidValueError tells that a value may not stand where its token does. It
// does not hold the value, which may be secret.
type InvalidValueError struct {
	// Token is the one to blame. It is zero for a file name that is none even
	// without a token.
	Token Token
	// Reason is a sentence without a full stop.
	Reason string
}

func (e *InvalidValueError) Error() string {
	if e.Token.Raw == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Token.Raw, e.Reason)
}

// Template is a text split into plain text and tokens. It is immutable and safe
// for concurrent use.
type Template struct {
	place Place
	text  string
	// texts are the plain parts, one more than there are holes.
	texts []string
	holes []hole
	whole whole
}

// hole is a token and how its value goes in.
type hole struct {
	Token
	// before and after were written beside the token and give way to its value:
	// quotes of the older dialect. They stay when nothing resolves the token.
	before, after string
	put           put
}

// put gives the text for a value, or the reason why it may not stand here.
type put func(v any) (text, reason string)

// whole judges a filled text and may tidy it. parts[i] is what was put into
// hole i.
type whole func(text string, parts []string) (tidy string, found []blame)

// blame is a reason why a filled text will not do, with the hole that makes it
// so; -1 for none.
type blame struct {
	hole   int
	reason string
}

// Tokens are the template's tokens, in order.
func (t *Template) Tokens() []Token {
	tokens := make([]Token, len(t.holes))
	for i, h := range t.holes {
		tokens[i] = h.Token
	}
	return tokens
}

// Literal tells that the template holds no token.
func (t *Template) Literal() bool { return len(t.holes) == 0 }
