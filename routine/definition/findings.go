package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

const (
	// maxProblems bounds the problems in one answer.
	maxProblems = 100
	// maxKept bounds the problems that are kept to choose those from. Further ones are
	// only counted, which bounds the work.
	maxKept = 300
	// maxPointer bounds the length of a pointer in bytes, in case of very long field
	// names.
	maxPointer = 2000
)

// finding is a problem with its position in the document.
type finding struct {
	routine.Problem
	// offset is the byte offset in the document; 0 if it is still to be computed from
	// the pointer.
	offset int
	// within is the byte offset plus one inside the string at the pointer, or negated
	// inside its key; 0 if the problem concerns the whole value.
	within int
	// script is the script in which within counts; empty if the string is not a
	// script.
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

// truncated returns the findings. It replaces those beyond [maxProblems] by one that
// says how many there are.
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

// byPosition returns the problems in the order of doc's text, with the line and column
// of those in the part of the text that the caller wrote.
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

// invalidText returns the error for a text with count problems, of which problems are
// the listed ones.
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
