package definition

import (
	"cmp"
	"fmt"
	"rote/routine"
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

// finding is a problem together with its position in the text that was read.
type finding struct {
	routine.Problem
	// offset is the position in the text, in bytes; 0 where it is still to be
	// found from the pointer.
	offset int
	// within is one more than the byte offset inside the string that the pointer
	// names, or, negated, inside the key; 0: the problem is about all of it.
	within int
	// script is the script that within counts in; empty: the string is none.
	script string
}

// report collects findings.
type report struct {
	list  []finding
	count int
}

func (r *report) add(f finding) {
	r.count++
	if len(r.list) < maxKept {
		if len(f.Pointer) > maxPointer {
			f.Pointer = strings.ToValidUTF8(f.Pointer[:maxPointer], "") + "…"
		}
		r.list = append(r.list, f)
	}
}

// full reports whether further problems are only counted, so that their messages
// and positions are not needed.
func (r *report) full() bool { return len(r.list) >= maxKept }

// truncated returns the findings, with what is beyond [maxProblems] summed up in
// a last one.
func (r *report) truncated() []finding {
	if len(r.list) <= maxProblems {
		return r.list
	}
	more := finding{offset: r.list[maxProblems].offset, Problem: routine.Problem{Code: "too_many",
		Message: fmt.Sprintf("%d more problems are not listed: mend these first", r.count-maxProblems)}}
	return append(r.list[:maxProblems:maxProblems], more)
}

// byPointer returns the problems sorted by their pointers.
func (r *report) byPointer() []routine.Problem {
	slices.SortStableFunc(r.list, func(a, b finding) int { return strings.Compare(a.Pointer, b.Pointer) })
	return problemsOf(r.truncated())
}

// byPosition returns the problems of doc in the order of its text, each with its
// line and column in what the caller wrote of it.
func (r *report) byPosition(doc *document) []routine.Problem {
	slices.SortStableFunc(r.list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	list := r.truncated()
	at, line, column := doc.start, 1, 1
	for i := range list {
		for at < min(list[i].offset, len(doc.src)) {
			_, size := utf8.DecodeRuneInString(doc.src[at:])
			column++
			if doc.src[at] == '\n' {
				line, column = line+1, 1
			}
			at += size
		}
		if doc.own == 0 || list[i].offset < doc.own {
			list[i].Line, list[i].Column = line, column
		}
	}
	return problemsOf(list)
}

func problemsOf(list []finding) []routine.Problem {
	var problems []routine.Problem
	for _, f := range list {
		problems = append(problems, f.Problem)
	}
	return problems
}

// invalidText is the error for the problems of a text, of which count were found.
func invalidText(what string, problems []routine.Problem, count int) *routine.Error {
	e := routine.Invalid(what, problems)
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
