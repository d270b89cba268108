package routine

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxNumberText bounds the length of a number in bytes, and MaxExponent its
// exponent, so that exact comparisons stay cheap.
const (
	MaxNumberText = 400
	MaxExponent   = 400
)

var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// IsNumber reports whether s is a number in JSON's spelling.
func IsNumber(s string) bool { return jsonNumber.MatchString(s) }

// FitsNumber reports whether a JSON number is within [MaxNumberText] and
// [MaxExponent].
func FitsNumber(s string) bool {
	if len(s) > MaxNumberText {
		return false
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return true
	}
	e, err := strconv.Atoi(s[i+1:])
	return err == nil && e <= MaxExponent && e >= -MaxExponent
}

// ExactNumber returns the exact value of a JSON number; false when it is empty or
// out of bounds, see [FitsNumber].
func ExactNumber(n json.Number) (*big.Rat, bool) {
	if n == "" || !FitsNumber(n.String()) {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// CanonicalNumber returns the same text for all spellings of a value: 1, 1.0 and
// 10e-1. The number must be one of JSON within bounds.
func CanonicalNumber(n string) string {
	sign, digits := "", n
	if strings.HasPrefix(n, "-") {
		sign, digits = "-", n[1:]
	}
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(digits[i+1:])
		digits = digits[:i]
	}
	whole, part, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+part, "0")
	exponent -= len(part)
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	return sign + short + "e" + strconv.Itoa(exponent+len(digits)-len(short))
}

// IsWholeNumber reports whether a JSON number within bounds is an integer in any
// spelling.
func IsWholeNumber(s string) bool {
	if !strings.ContainsAny(s, ".eE") {
		return true
	}
	r, ok := ExactNumber(json.Number(s))
	return ok && r.IsInt()
}

// Integer is an integer in any JSON spelling (2, 2.0, 2e0), as JSON Schema
// defines it.
type Integer int

// UnmarshalJSON refuses a number that is not an integer, or beyond 64 bits.
func (i *Integer) UnmarshalJSON(text []byte) error {
	r, ok := ExactNumber(json.Number(text))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return errors.New("not an integer")
	}
	*i = Integer(r.Num().Int64())
	return nil
}

// Milliseconds returns the duration of i milliseconds.
func (i Integer) Milliseconds() time.Duration { return time.Duration(i) * time.Millisecond }

// Seconds returns the duration of s seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
