package definition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

// In the texts of tests these marks stand where a problem is expected, errors
// and warnings each in the order of the text.
const (
	errorMark   = "▸"
	warningMark = "▹"
)

// unmark gives the text without its marks, and the lines and columns of the
// marks of either kind.
func unmark(text string) (plain string, errors, warnings []string) {
	line, column := 1, 1
	var b strings.Builder
	for _, r := range text {
		place := fmt.Sprintf("%d:%d", line, column)
		switch string(r) {
		case errorMark:
			errors = append(errors, place)
			continue
		case warningMark:
			warnings = append(warnings, place)
			continue
		}
		b.WriteRune(r)
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return b.String(), errors, warnings
}

// placed joins places with "pointer code" lines.
func placed(t *testing.T, places, problems []string) []string {
	t.Helper()
	if len(places) != len(problems) {
		t.Fatalf("the row has %d marks for %d problems", len(places), len(problems))
	}
	out := make([]string, len(places))
	for i := range places {
		out[i] = places[i] + " " + problems[i]
	}
	return out
}

// listed are problems as tests expect them: "line:column pointer code".
func listed(ps []routine.Problem) []string {
	out := make([]string, 0, len(ps))
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Pointer, p.Code))
	}
	return out
}

// readable refuses messages that show how the program works inside.
func readable(t *testing.T, ps []routine.Problem) {
	t.Helper()
	for _, p := range ps {
		for _, bad := range []string{"Go struct", "Go value", "routine.", "%!", "json:", "jsontext", "<nil>", "\n"} {
			if strings.Contains(p.Message+p.Hint, bad) || p.Message == "" {
				t.Errorf("unreadable: %+v", p)
			}
		}
	}
}

// sameEachTime parses 20 times and gives the one answer.
func sameEachTime(t *testing.T, parse func() (*routine.Definition, []routine.Problem, error)) (*routine.Definition, []routine.Problem, []routine.Problem, error) {
	t.Helper()
	d, warnings, err := parse()
	var errors []routine.Problem
	if err != nil {
		errors = routine.AsError(err).Problems
	}
	for range 19 {
		_, w, e := parse()
		if diff := cmp.Diff(warnings, w, cmp.AllowUnexported(routine.Problem{})); diff != "" {
			t.Fatalf("warnings differ from run to run:\n%s", diff)
		}
		if e != nil && !slices.Equal(routine.AsError(e).Problems, errors) || (e == nil) != (err == nil) {
			t.Fatalf("problems differ from run to run: %v, %v", err, e)
		}
	}
	readable(t, errors)
	readable(t, warnings)
	return d, errors, warnings, err
}

// around puts operations into a routine that has nothing else wrong.
func around(operations string) string {
	return "{\n\t\"name\": \"n\", \"description\": \"d\",\n\t\"operations\": [" + operations + "]\n}"
}

// declaring puts a declaration into a routine that uses the parameter p.
func declaring(parameter string) string {
	return "{\n \"name\": \"n\", \"description\": \"d\",\n \"parameters\": [\n  " + parameter + "\n ],\n \"operations\": [{\"type\": \"press\", \"key\": \"{{p}}\"}, {\"type\": \"return_html\"}]\n}"
}

// checkMarked holds the problems of a marked text against the marks.
func checkMarked(t *testing.T, text string, errors, warnings []string) {
	t.Helper()
	plain, errorPlaces, warningPlaces := unmark(text)
	_, gotErrors, gotWarnings, _ := sameEachTime(t, func() (*routine.Definition, []routine.Problem, error) { return Parse([]byte(plain)) })
	if diff := cmp.Diff(placed(t, errorPlaces, errors), listed(gotErrors)); diff != "" {
		t.Errorf("errors (-want +got):\n%s%s", diff, plain)
	}
	if warnings == nil {
		return
	}
	if diff := cmp.Diff(placed(t, warningPlaces, warnings), listed(gotWarnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s%s", diff, plain)
	}
}
