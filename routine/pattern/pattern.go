// Package pattern compiles and matches the regular expressions of authors, in the
// dialect of ECMAScript, with bounds on the time that either takes.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"rote/routine"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
)

const (
	// MaxMatchTime bounds one match of an author's expression, so that a
	// backtracking one cannot hold the service.
	MaxMatchTime = 50 * time.Millisecond
	// MaxLength and maxPatternDepth bound what is compiled: the library's work
	// grows with the third power of how deep repeated groups stand in each
	// other.
	MaxLength       = 4000
	maxPatternDepth = 20
)

// Pattern is an author's regular expression in ECMAScript's dialect,
// unanchored.
type Pattern struct{ re *regexp2.Regexp }

// tick makes the library's clock fine enough for MaxMatchTime.
var tick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(MaxMatchTime / 5) })

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

// Match fails when the expression takes too long on text, or too much memory.
func (p Pattern) Match(text string) (bool, error) {
	return p.re.MatchString(text)
}

// ecmaGroup is how a group of ECMAScript's can go on behind its bracket.
var ecmaGroup = regexp.MustCompile(`^(?:[^?]|$|\?(?::|=|!|<=|<!|<[\pL_$\\]|[ims]*(?:-[ims]*)?:))`)

// checkGroups refuses groups that the library knows and JavaScript does not: a
// pattern is published with a tool's schema, where clients compile it.
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
			if depth++; depth > maxPatternDepth {
				return fmt.Errorf("its groups stand in each other more than %d deep", maxPatternDepth)
			}
			if !ecmaGroup.MatchString(expr[i+1:]) {
				return fmt.Errorf("JavaScript has no group that begins with %s", routine.Truncate(expr[i:], 4))
			}
		}
	}
	return nil
}

// Problem says that an expression does not compile, and how what was
// meant is written in JavaScript.
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
