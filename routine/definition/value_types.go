package definition

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"rote/routine"
	"strconv"
	"strings"
	"time"
	"unicode"
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
func (j *judge) convert(v any) (any, *fault) {
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

// checkText checks what the textual types ask beyond being a string.
func (j *judge) checkText(s string) *fault {
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

// rfc3339 is what time.Parse does not insist on: two digits and a point. RFC 3339
// allows t and z too.
var rfc3339 = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$`)

func isDatetime(s string) bool {
	_, err := time.Parse(time.RFC3339, strings.ToUpper(s))
	return err == nil && rfc3339.MatchString(s)
}

// maxEmail is what RFC 3696 allows: 64 characters, @, 255 characters.
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

func (j *judge) convertNumber(v any) (any, *fault) {
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

// spelledNumber is v as a number, or as a string that spells one exactly.
func spelledNumber(v any) (json.Number, bool) {
	if s, ok := v.(string); ok && routine.IsNumber(s) {
		return json.Number(s), true
	}
	n, ok := v.(json.Number)
	return n, ok
}
