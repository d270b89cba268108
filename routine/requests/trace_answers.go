package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// source is a place in the answer of an earlier request.
type source struct {
	request *routine.Request
	path    string // empty for the whole answer
}

// searchAnswers finds values in the answers of the requests before the one with a number.
// Those of safe requests come first, then the oldest: they need the least before them.
func (t *tracer) searchAnswers(wanted map[string]bool, before int) map[string][]source {
	found := map[string][]source{}
	for i := range t.log {
		r := &t.log[i]
		if r.Number >= before || r.Status < 200 || r.Status >= 400 || len(wanted) == 0 {
			continue
		}
		last := func(value string) bool { // it has been found in this answer already
			all := found[value]
			return len(all) > 0 && all[len(all)-1].request == r
		}
		tree := answerTree(r)
		if text := string(r.Answer); tree == nil && wanted[text] {
			found[text] = append(found[text], source{r, ""})
		}
		if tree == nil {
			continue
		}
		tree.walk(nil, func(path []step, n *node) bool {
			if n.kind != '"' && n.kind != '0' || !wanted[n.text] || last(n.text) {
				return true
			}
			if text, ok := t.pathText(path); ok {
				found[n.text] = append(found[n.text], source{r, text})
			}
			return true
		})
	}
	for _, all := range found {
		slices.SortStableFunc(all, func(a, b source) int {
			switch safe := Safe(a.request); {
			case safe == Safe(b.request):
				return 0
			case safe:
				return -1
			}
			return 1
		})
	}
	return found
}

// pathText is a path as placeholders have it; false if they cannot have it.
func (t *tracer) pathText(path []step) (string, bool) {
	parts := make([]string, len(path))
	for i, s := range path {
		parts[i] = s.name
		if s.isIndex {
			parts[i] = strconv.Itoa(s.index)
		} else if !t.usable(s.name) || strings.Contains(s.name, ".") {
			return "", false
		}
	}
	return strings.Join(parts, "."), true
}

// usable reports whether a name can be part of a placeholder: it contains no secret and
// nothing that means something there.
func (t *tracer) usable(name string) bool {
	odd := strings.Contains(name, "||") || strings.ContainsAny(name, "{}\"\n\r") || strings.TrimSpace(name) != name
	return name != "" && !odd && !t.mask.holds(name) && !opaque(name)
}

// answerToken returns the placeholder of a value that earlier answers have, and makes the
// fetch of the first of these requests that can be one.
func (t *tracer) answerToken(all []source, depth int) (token, note string) {
	for _, s := range all {
		key, done := t.fetched[s.request.Number]
		if !done {
			if depth >= maxTraceDepth {
				continue
			}
			var err error
			if key, _, err = t.fetch(s.request, depth+1); err != nil {
				continue
			}
		}
		if s.path == "" {
			return "{{sessionStorage:" + key + "}}", fmt.Sprintf("answer of request %d", s.request.Number)
		}
		return "{{sessionStorage:" + key + "." + s.path + "}}", fmt.Sprintf("answer of request %d, path %s", s.request.Number, shownPath(s.path))
	}
	return "", ""
}
