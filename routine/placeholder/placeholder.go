// Package placeholder parses and fills the templates of a routine: text with
// tokens such as {{city}} or {{cookie:sid||none}}. A template is parsed once,
// when a definition is read. A value is inserted once, escaped for its context,
// and never parsed again: it cannot become a token, and it cannot change the
// structure of the URL, selector, script or regular expression around it.
package placeholder

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// Place is the context of a template. It decides how values are escaped.
type Place int

// The places. The file of each says how it escapes values.
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

// Source is where a token's value comes from. Sources that read the page are
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
	// Secret is the value of a stored secret's field, TOTP the one-time code of its key, and
	// SentCode a one-time code that a site sends by mail or SMS and that a person gives.
	Secret   Source = "secret"
	TOTP     Source = "totp"
	SentCode Source = "code"
)

// FromSecret reports whether tokens of the source stand for a text of a stored secret.
func (s Source) FromSecret() bool { return slices.Contains(secretPrefixes, s) }

// Token is one placeholder of a template.
type Token struct {
	Source Source
	// Name is the parameter's name, or the path after the prefix: for Secret, the name of
	// the secret, optionally followed by a dot and the name of its field. It is empty for
	// UUID and EpochMilliseconds.
	Name string
	// Fallback is the text after "||", or nil. It is used if the value is missing
	// or empty; see FallbackText.
	Fallback *string
	// Key is the text between the braces with normalized white space, as shown in
	// placeholder_resolution: "sessionStorage:empty||dflt".
	Key string
	// Raw is the token as written, with its braces.
	Raw string
	// Offset is the byte offset of Raw in the text.
	Offset int
}

// FallbackText returns the text to use if the value is missing or empty: the
// fallback, or a new UUID if the fallback is "uuid". It returns false if the
// token has no fallback.
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
	// CodeUnknown means that the text between the braces is not a parameter name
	// and has no prefix.
	CodeUnknown = "unknown_placeholder"
	// CodeUnknownPrefix means that there is no such prefix.
	CodeUnknownPrefix = "unknown_prefix"
	// CodeEmpty means that there is no text between the braces or after the prefix.
	CodeEmpty = "empty_placeholder"
	// CodeNotAllowed means that this kind of token is not allowed in this place.
	CodeNotAllowed = "placeholder_not_allowed"
	// CodeSecretName means that the text after secret:, totp: or code: cannot be the name
	// of a secret.
	CodeSecretName = "secret_name"
)

// Fault is a problem with a token that was found when the template was parsed.
type Fault struct {
	Offset  int // of the token in the text, in bytes
	Code    string
	Message string // what is wrong
	Hint    string // how to fix it; may be empty
}

// InvalidValueError says that a value is not allowed at its token. It does not
// contain the value, which may be secret.
type InvalidValueError struct {
	// Token is the token with the invalid value. It is zero for a file name that is
	// invalid without any token.
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

// Template is parsed text with tokens. It is immutable and safe for concurrent
// use.
type Template struct {
	place Place
	text  string
	// texts are the parts between the holes. There is one more than there are
	// holes.
	texts      []string
	holes      []hole
	checkWhole wholeCheck
}

// hole is a token and how its value is escaped.
type hole struct {
	Token
	// before and after are characters around the token that its value replaces:
	// double quotes of an older syntax. They stay if the token is not resolved.
	before, after string
	escape        escaper
	inQuery       bool // of a URL
}

// escaper returns the text to insert for a value, or the reason why the value
// is not allowed.
type escaper func(v any) (text, reason string)

// wholeCheck checks a filled text and may clean it up. parts[i] is what was
// inserted into hole i.
type wholeCheck func(text string, parts []string) (tidy string, found []rejection)

// rejection is a reason why a filled text is not allowed, with the hole that
// caused it, or -1.
type rejection struct {
	hole   int
	reason string
}

// Tokens returns the template's tokens in order.
func (t *Template) Tokens() []Token {
	tokens := make([]Token, len(t.holes))
	for i, h := range t.holes {
		tokens[i] = h.Token
	}
	return tokens
}

// Literal reports whether the template contains no token.
func (t *Template) Literal() bool { return len(t.holes) == 0 }
