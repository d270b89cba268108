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
	// MaxNumberText bounds the length of a number in bytes and MaxExponent its
	// exponent, so that exact arithmetic stays cheap.
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

// ExactNumber returns the exact value of a JSON number. It returns false if the number
// is empty or exceeds the bounds of [FitsNumber].
func ExactNumber(n json.Number) (*big.Rat, bool) {
	if n == "" || !FitsNumber(n.String()) {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// CanonicalNumber returns one text for all spellings of a value: "1e0" for 1, 1.0 and
// 10e-1, "-25e-1" for -2.50, "0" for zero. The number must be one of JSON that
// [FitsNumber] accepts.
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

// IsWholeNumber reports whether a JSON number has an integer value, in any spelling
// such as 2.0 or 20e-1. It must be one that [FitsNumber] accepts.
func IsWholeNumber(s string) bool {
	if !strings.ContainsAny(s, ".eE") {
		return true
	}
	r, ok := ExactNumber(json.Number(s))
	return ok && r.IsInt()
}

// Integer is an int that decodes from any JSON spelling of an integer (2, 2.0, 2e0),
// as JSON Schema defines it.
type Integer int

// UnmarshalJSON fails if the number is not an integer or does not fit in 64 bits.
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
