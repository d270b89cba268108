package main

import (
	"fmt"
	"io"
	"strings"

	"rote/routine"
)

// printEvidence prints the state of the page at the time the run failed.
func printEvidence(w io.Writer, e *routine.Evidence) {
	if e == nil {
		return
	}
	fmt.Fprintf(w, "the page was at %s %q\n", e.URL, e.Title)
	if e.Text != "" {
		fmt.Fprintf(w, "it says: %s\n", e.Text)
	}
	printList(w, "it has", e.Elements, func(x routine.Element) string {
		if x.Problem == "" {
			return x.String()
		}
		return x.String() + ", which " + x.Problem
	})
	printList(w, "its console", e.Console, func(line string) string { return line })
	printList(w, "its failed requests", e.FailedRequests, func(f routine.FailedRequest) string {
		why := f.Error
		if f.Status > 0 {
			why = fmt.Sprint(f.Status)
		}
		return strings.TrimSpace(f.Method + " " + f.URL + ": " + why)
	})
}

func printList[T any](w io.Writer, title string, items []T, line func(T) string) {
	for i, item := range items {
		if i == 0 {
			fmt.Fprintf(w, "%s:\n", title)
		}
		fmt.Fprintf(w, "  %s\n", line(item))
	}
}
