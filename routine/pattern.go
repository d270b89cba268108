package routine

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// maxMatchTime bounds one match of an author's expression, so that a
// backtracking one cannot hold the service.
const maxMatchTime = 100 * time.Millisecond

// pattern is an author's regular expression in ECMAScript's dialect,
// unanchored.
type pattern struct{ re *regexp2.Regexp }

func compilePattern(expr string) (pattern, error) {
	re, err := regexp2.Compile(expr, regexp2.ECMAScript)
	if err != nil {
		return pattern{}, err
	}
	re.MatchTimeout = maxMatchTime
	return pattern{re}, nil
}

// match fails when the expression takes longer than maxMatchTime on text.
func (p pattern) match(text string) (bool, error) {
	return p.re.MatchString(text)
}
