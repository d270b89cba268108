package routine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxProblems is how many problems one answer lists.
	maxProblems = 100
	// maxKept is how many are kept to choose those from. Of a text with more
	// the rest is only counted, which bounds the work.
	maxKept = 300
	// maxPointer cuts pointers that lead through monstrous names.
	maxPointer = 2000
)

// report collects problems.
type report struct {
	list  []Problem
	count int
}

func (r *report) add(p Problem) {
	r.count++
	if len(r.list) < maxKept {
		if len(p.Pointer) > maxPointer {
			p.Pointer = strings.ToValidUTF8(p.Pointer[:maxPointer], "") + "…"
		}
		r.list = append(r.list, p)
	}
}

// full tells that further problems are only counted: their words and places are
// not worth finding.
func (r *report) full() bool { return len(r.list) >= maxKept }

// cut gives the problems, with what is beyond [maxProblems] summed up in a last
// one.
func (r *report) cut() []Problem {
	if len(r.list) <= maxProblems {
		return r.list
	}
	more := Problem{Code: "too_many", offset: r.list[maxProblems].offset,
		Message: fmt.Sprintf("%d more problems are not listed: mend these first", r.count-maxProblems)}
	return append(r.list[:maxProblems:maxProblems], more)
}

// finish gives the problems by place, each with its line and column in src.
func (r *report) finish(src string, start int) []Problem {
	slices.SortStableFunc(r.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	ps := r.cut()
	at, line, column := start, 1, 1
	for i := range ps {
		for at < min(ps[i].offset, len(src)) {
			_, size := utf8.DecodeRuneInString(src[at:])
			column++
			if src[at] == '\n' {
				line, column = line+1, 1
			}
			at += size
		}
		ps[i].Line, ps[i].Column = line, column
	}
	return ps
}

// invalidText is the error for the problems of a text, as finish gave them.
func invalidText(what string, problems []Problem, count int) *Error {
	e := invalid(what, problems)
	if count > len(problems) {
		e.Message = fmt.Sprintf("%d problems in the %s, first %s", count, what, problems[0])
	}
	return e
}

// unwrap makes pointers below prefix relative to it.
func (r *report) unwrap(prefix string) {
	for i := range r.list {
		if rest, ok := strings.CutPrefix(r.list[i].Pointer, prefix); ok && (rest == "" || rest[0] == '/') {
			r.list[i].Pointer = rest
		}
	}
}
