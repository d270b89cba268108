package definition

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rote/routine"
)

// fault is what is wrong with a value: a stable code, and a message that continues a
// sentence beginning with the parameter's name.
type fault struct{ code, message string }

func faultf(code, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// convert converts a decoded JSON value to the parameter's type. It accepts strings
// that spell a number, integer or boolean exactly, because language models send them.
// Numbers keep their digits.
func (j *valueChecker) convert(v any) (any, *fault) {
	if namesStoredSecret(v) {
		return nil, faultf("type", `must be the value itself: {"secret": NAME} names a stored secret, which only lessons can use`)
	}
	switch j.Type {
	case routine.TypeInteger, routine.TypeNumber:
		return j.convertNumber(v)
	case routine.TypeBoolean:
		switch v {
		case true, "true":
			return true, nil
		case false, "false":
			return false, nil
		}
		return nil, faultf("type", "must be true or false, not %s", j.show(v))
	case routine.TypeEnum:
		return j.choose(v)
	case routine.TypeFiles:
		return convertFiles(v)
	}
	s, ok := v.(string)
	if !ok {
		return nil, faultf("type", "must be a string, not %s", j.show(v))
	}
	return s, j.checkText(s)
}

// namesStoredSecret reports whether a value is an object like {"secret": "NAME"}, with which
// lessons use a secret that the operator has stored.
func namesStoredSecret(v any) bool {
	object, ok := v.(map[string]any)
	_, named := object["secret"].(string)
	return ok && named && len(object) == 1
}

// checkText checks the format of the textual types, such as email and url.
func (j *valueChecker) checkText(s string) *fault {
	switch j.Type {
	case routine.TypeDate:
		format := j.Rules().Format
		if format == "" {
			format = "YYYY-MM-DD"
		}
		if !matchDate(format, s) {
			return faultf("format", "must be a date spelt %s, not %s", format, j.show(s))
		}
	case routine.TypeDatetime:
		if !isDatetime(s) {
			return faultf("format", "must be an RFC 3339 date-time with offset, as in 2031-02-03T04:05:06Z, not %s", j.show(s))
		}
	case routine.TypeEmail:
		if !isEmail(s) {
			return faultf("format", "must be an e-mail address, as in ada@example.org, not %s", j.show(s))
		}
	case routine.TypeURL:
		if !isWebURL(s) {
			return faultf("format", "must be an absolute http or https URL, not %s", j.show(s))
		}
	}
	return nil
}

// rfc3339 checks what time.Parse does not: that all fields have two digits and that
// the fraction follows a point. RFC 3339 also allows the lower-case letters t and z.
var rfc3339 = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$`)

func isDatetime(s string) bool {
	_, err := time.Parse(time.RFC3339, strings.ToUpper(s))
	return err == nil && rfc3339.MatchString(s)
}

// maxEmail is the limit of RFC 3696 in bytes: 64 before the @, 255 after it.
const maxEmail = 320

func isEmail(s string) bool {
	if len(s) > maxEmail {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && !strings.HasSuffix(s, "]")
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	port, err := strconv.Atoi("0" + u.Port())
	// A browser takes a backslash for a slash, which net/url does not.
	return err == nil && port < 1<<16 && !strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r) })
}

func (j *valueChecker) convertNumber(v any) (any, *fault) {
	n, ok := spelledNumber(v)
	what := "a number"
	if j.Type == routine.TypeInteger {
		what = "an integer"
	}
	if !ok {
		return nil, faultf("type", "must be %s, not %s", what, j.show(v))
	}
	r, ok := routine.ExactNumber(n)
	if !ok {
		return nil, faultf("type", "must be %s of at most %d digits and an exponent within ±%d", what, routine.MaxNumberText, routine.MaxExponent)
	}
	if j.Type == routine.TypeInteger {
		if !r.IsInt() {
			return nil, faultf("type", "must be an integer, not %s", j.show(v))
		}
		if strings.ContainsAny(n.String(), ".eE") { // 3.0 means 3
			n = json.Number(r.Num().String())
		}
	}
	return n, nil
}

// spelledNumber returns v as a number if it is one or a string that spells one
// exactly.
func spelledNumber(v any) (json.Number, bool) {
	if s, ok := v.(string); ok && routine.IsNumber(s) {
		return json.Number(s), true
	}
	n, ok := v.(json.Number)
	return n, ok
}
