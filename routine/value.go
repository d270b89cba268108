package routine

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rote/routine/placeholder"
)

// maxNumberText bounds a number's spelling, and maxExponent its exponent, so
// that comparing exactly stays cheap.
const (
	maxNumberText = 400
	maxExponent   = 400
)

// fault is what is wrong with a value: a stable code and a sentence that
// follows the parameter's name.
type fault struct{ code, message string }

func faultf(code, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// convert turns a decoded JSON value into the parameter's type, or says why it
// can't. Strings that spell a number, integer or boolean exactly are taken as
// such, because models send them. Numbers keep their digits.
func (p *Parameter) convert(v any) (any, *fault) {
	switch p.Type {
	case TypeInteger, TypeNumber:
		return p.convertNumber(v)
	case TypeBoolean:
		switch v {
		case true, "true":
			return true, nil
		case false, "false":
			return false, nil
		}
		return nil, faultf("type", "must be true or false, not %s", show(v))
	case TypeEnum:
		if len(p.rules().EnumValues) == 0 {
			return nil, faultf("type", "has no enum_values to choose from")
		}
		return v, nil // the list of values decides, see checkRules
	}
	s, ok := v.(string)
	if !ok {
		return nil, faultf("type", "must be a string, not %s", show(v))
	}
	return s, p.checkText(s)
}

// checkText checks what the textual types ask beyond being a string.
func (p *Parameter) checkText(s string) *fault {
	switch p.Type {
	case TypeDate:
		format := p.rules().Format
		if format == "" {
			format = "YYYY-MM-DD"
		}
		if !matchDate(format, s) {
			return faultf("format", "must be a date spelt %s, not %s", format, show(s))
		}
	case TypeDatetime:
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return faultf("format", "must be an RFC 3339 date-time with offset, as in 2031-02-03T04:05:06Z, not %s", show(s))
		}
	case TypeEmail:
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return faultf("format", "must be an e-mail address, as in ada@example.org, not %s", show(s))
		}
	case TypeURL:
		if u, err := url.Parse(s); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return faultf("format", "must be an absolute http or https URL, not %s", show(s))
		}
	}
	return nil
}

func (p *Parameter) convertNumber(v any) (any, *fault) {
	n, ok := v.(json.Number)
	if s, isText := v.(string); isText && json.Valid([]byte(s)) && s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') {
		n, ok = json.Number(s), true
	}
	what := "a number"
	if p.Type == TypeInteger {
		what = "an integer"
	}
	if !ok {
		return nil, faultf("type", "must be %s, not %s", what, show(v))
	}
	r, ok := exact(n)
	if !ok {
		return nil, faultf("type", "must be %s of at most %d digits and an exponent within ±%d", what, maxNumberText, maxExponent)
	}
	if p.Type == TypeInteger {
		if !r.IsInt() {
			return nil, faultf("type", "must be an integer, not %s", n)
		}
		if strings.ContainsAny(n.String(), ".eE") { // 3.0 means 3
			n = json.Number(r.Num().String())
		}
	}
	return n, nil
}

// checkRules applies the parameter's validation to a converted value.
func (p *Parameter) checkRules(v any) []fault {
	r := p.rules()
	var out []fault
	add := func(code, format string, args ...any) { out = append(out, *faultf(code, format, args...)) }
	text := placeholder.Format(v)
	if _, isText := v.(string); isText {
		n := utf8.RuneCountInString(text)
		if r.MinLength != nil && n < *r.MinLength {
			add("min_length", "must have at least %d characters, not %d", *r.MinLength, n)
		}
		if r.MaxLength != nil && n > *r.MaxLength {
			add("max_length", "must have at most %d characters, not %d", *r.MaxLength, n)
		}
	}
	if n, isNumber := v.(json.Number); isNumber {
		if x, ok := exact(n); ok {
			if low, ok := exact(r.MinValue); ok && x.Cmp(low) < 0 {
				add("min_value", "must be at least %s, not %s", r.MinValue, n)
			}
			if high, ok := exact(r.MaxValue); ok && x.Cmp(high) > 0 {
				add("max_value", "must be at most %s, not %s", r.MaxValue, n)
			}
		}
	}
	if r.Pattern != "" {
		re, err := compilePattern(r.Pattern)
		if err != nil {
			return out // the definition's own fault, found when it was read
		}
		switch ok, err := re.match(text); {
		case err != nil:
			add("pattern", "could not be matched with the pattern %s within %v: simplify the pattern or shorten the value", r.Pattern, maxMatchTime)
		case !ok:
			add("pattern", "must match the pattern %s", r.Pattern)
		}
	}
	if len(r.EnumValues) > 0 && !oneOf(text, r.EnumValues) {
		add("enum_values", "must be one of %s, not %s", strings.Join(p.enumTexts(), ", "), show(v))
	}
	return out
}

func (p *Parameter) rules() Validation {
	if p.Validation == nil {
		return Validation{}
	}
	return *p.Validation
}

// enumTexts are the values to choose from, as JSON.
func (p *Parameter) enumTexts() []string {
	var out []string
	for _, e := range p.rules().EnumValues {
		out = append(out, string(e))
	}
	return out
}

// Enum are the values to choose from, as text.
func (p *Parameter) Enum() []string {
	var out []string
	for _, e := range p.rules().EnumValues {
		out = append(out, textOf(e))
	}
	return out
}

func oneOf(text string, values []json.RawMessage) bool {
	for _, e := range values {
		if textOf(e) == text {
			return true
		}
	}
	return false
}

func textOf(raw json.RawMessage) string {
	var v any
	if unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return placeholder.Format(v)
}

// exact reads a JSON number without loss; false when it is empty, no number or
// out of the bounds above.
func exact(n json.Number) (*big.Rat, bool) {
	s := n.String()
	if s == "" || len(s) > maxNumberText {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// show is a value as an error message quotes it: short, and one line.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if r := []rune(string(text)); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return string(text)
}
