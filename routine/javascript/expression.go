package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// Expression returns the script without the semicolons and comments around its
// only expression. Lines and columns stay the same. A script that is not an
// expression is returned unchanged.
func Expression(script string) string {
	toks, problem := scan(script)
	if problem != nil {
		return script
	}
	list := toks.list
	for len(list) > 0 && list[0].tt == js.SemicolonToken {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].tt == js.SemicolonToken {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return script
	}
	start := list[0].start
	blank := func(r rune) rune {
		if strings.ContainsRune("\n\r\u2028\u2029", r) {
			return r
		}
		return ' '
	}
	return strings.Map(blank, script[:start]) + script[start:list[len(list)-1].end]
}
