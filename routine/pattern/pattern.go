// Package pattern compiles and matches the regular expressions that authors write in
// their routines. The dialect is ECMAScript's. Compilation and each match are bounded,
// so that no expression can hold up the service.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"rote/routine"

	"github.com/dlclark/regexp2/v2"
)

const (
	// MaxMatchTime is the time limit of one match. Without it an expression that
	// backtracks could keep a processor busy for hours.
	MaxMatchTime = 50 * time.Millisecond
	// MaxLength bounds the length of an expression in bytes, and maxDepth the nesting
	// of its groups. The time to compile grows with the third power of the nesting of
	// repeated groups.
	MaxLength = 4000
	maxDepth  = 20
)

// Pattern is a compiled expression. It is not anchored: it matches anywhere in a text
// unless it begins with ^ or ends with $.
type Pattern struct{ re *regexp2.Regexp }

// tick sets how often the regexp2 library compares a match's time with its limit. The
// library's own period is longer than MaxMatchTime.
var tick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(MaxMatchTime / 5) })

// Compile compiles an expression. Its errors continue a sentence about the expression,
// as in "it has more than 4000 characters"; [Problem] makes a problem of them.
func Compile(expr string) (Pattern, error) {
	tick()
	if len(expr) > MaxLength {
		return Pattern{}, fmt.Errorf("it has more than %d characters", MaxLength)
	}
	if err := checkGroups(expr); err != nil {
		return Pattern{}, err
	}
	re, err := regexp2.Compile(expr, regexp2.ECMAScript)
	if err != nil {
		return Pattern{}, errors.New(strings.TrimSuffix(strings.TrimPrefix(err.Error(), "error parsing regexp: "), " in `"+expr+"`"))
	}
	re.MatchTimeout = MaxMatchTime
	return Pattern{re}, nil
}

// Match reports whether text contains a match. The error is that the match took longer
// than MaxMatchTime, or too much memory.
func (p Pattern) Match(text string) (bool, error) {
	return p.re.MatchString(text)
}

// ecmaGroup matches what may follow the opening bracket of a group in ECMAScript:
// "?:", "?<name>", "?=" and so on, or anything but a question mark.
var ecmaGroup = regexp.MustCompile(`^(?:[^?]|$|\?(?::|=|!|<=|<!|<[\pL_$\\]|[ims]*(?:-[ims]*)?:))`)

// checkGroups refuses groups that the regexp2 library accepts and JavaScript does not,
// such as (?>a). A pattern is published in a tool's schema, which clients compile with
// their own JavaScript engine. It also refuses groups nested deeper than maxDepth.
func checkGroups(expr string) error {
	depth, class := 0, false
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == ')':
			depth--
		case c == '(':
			if depth++; depth > maxDepth {
				return fmt.Errorf("its groups stand in each other more than %d deep", maxDepth)
			}
			if !ecmaGroup.MatchString(expr[i+1:]) {
				return fmt.Errorf("JavaScript has no group that begins with %s", routine.Truncate(expr[i:], 4))
			}
		}
	}
	return nil
}

// Problem returns the problem of an expression that Compile refused with err. Its hint
// says how to write in JavaScript what the author probably meant.
func Problem(pointer string, err error) routine.Problem {
	p := routine.Problem{Pointer: pointer, Code: "pattern", Message: "is no ECMAScript regular expression: " + err.Error()}
	switch text := err.Error(); {
	case strings.Contains(text, "(?P"):
		p.Hint = "a named group is written (?<name>…)"
	case strings.Contains(text, "(?i"), strings.Contains(text, "(?s"), strings.Contains(text, "(?m"):
		p.Hint = "for the rest of the expression write (?i:…), or [Aa]"
	case strings.Contains(text, "(?>"), strings.Contains(text, "nested repetition"):
		p.Hint = "JavaScript has no possessive repetition or atomic groups: leave them out"
	case strings.Contains(text, "(?#"):
		p.Hint = "leave the comment out"
	}
	return p
}
