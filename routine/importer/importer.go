// Package importer makes routines of recordings that other tools have made. It executes nothing of
// them and accounts for each of their steps: carried, changed or dropped.
package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/importer/curl"
	"rote/routine/importer/draft"
	"rote/routine/importer/har"
	"rote/routine/importer/jsontree"
	"rote/routine/importer/playwright"
	"rote/routine/importer/recorder"
	"rote/routine/importer/side"
	"rote/routine/lesson/parameters"
)

// MaxSource is the size of the largest recording, in bytes. Files of requests, which have all
// answers in them, may be larger where they are read from a disk: up to MaxRequests.
const (
	MaxSource   = 2 << 20
	MaxRequests = 20 << 20
)

// Request is a recording to import.
type Request struct {
	// Source is the text of the recording.
	Source string `json:"source"`
	// Kind is one of [Kinds]; empty: it is found from the text.
	Kind string `json:"kind"`
	// Test selects one of several tests of the recording by its name, or one of the requests of a
	// HAR file by its number or a part of its method and URL.
	Test string `json:"test"`
	// Name is the name of the routine; empty: the title of the recording.
	Name string `json:"name"`
	// Large permits HAR files of up to MaxRequests bytes.
	Large bool `json:"-"`
}

// Imported is the routine that a recording became.
type Imported struct {
	Kind    string          `json:"kind"`
	Title   string          `json:"title"`
	Routine json.RawMessage `json:"routine"`
	// Valid reports whether the routine can be saved. If not, Errors says why.
	Valid    bool              `json:"valid"`
	Errors   []routine.Problem `json:"errors"`
	Warnings []routine.Problem `json:"warnings"`
	// Parameters are literals of the routine that could become parameters.
	Parameters []parameters.Proposal `json:"parameters"`
	Report     Report                `json:"report"`
}

// Report is the account of all steps.
type Report struct {
	Steps   int          `json:"steps"`
	Carried int          `json:"carried"`
	Changed int          `json:"changed"`
	Dropped int          `json:"dropped"`
	Items   []draft.Item `json:"items"`
	// Candidates are the requests of a HAR file that could have been meant, at most 20, the best
	// first.
	Candidates []draft.Candidate `json:"candidates,omitempty"`
}

// Import makes a routine of a recording. An error is a [routine.Error] with CodeInvalid or
// CodeTooLarge, and with the place of what cannot be read.
func Import(q Request) (*Imported, error) {
	if err := checkSize(q); err != nil {
		return nil, err
	}
	opened, err := open(q)
	if err != nil {
		return nil, err
	}
	kind := opened.kind
	if q.Test != "" && (kind == recorder.Kind || kind == curl.Kind) {
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: a recording of the kind %s has no tests to choose from: leave the test out", kind)
	}
	d, err := opened.read(q.Test)
	if err != nil {
		return nil, err
	}
	d.Finish()
	title := routine.Truncate(routine.OneLine(routine.PlainText(d.Title)), 180)
	name := cmp.Or(strings.TrimSpace(q.Name), title, "imported "+kind)
	r := &Imported{Kind: kind, Title: title, Errors: []routine.Problem{}, Warnings: []routine.Problem{}, Parameters: d.Proposals(), Report: ReportOf(d)}
	r.Routine = d.Definition(name, describe(kind, title, d))
	_, warnings, err := definition.Parse(r.Routine)
	r.Valid = err == nil
	r.Warnings = append(r.Warnings, withoutPlaces(warnings)...)
	if err != nil {
		r.Errors = append(r.Errors, withoutPlaces(routine.AsError(err).Problems)...)
	}
	return r, nil
}

// entries matches what a HAR file begins with.
var entries = regexp.MustCompile(`^\x{feff}?\s*\{\s*"log"\s*:`)

// checkSize returns an error if the recording is too large.
func checkSize(q Request) error {
	limit := MaxSource
	if q.Large && (q.Kind == har.Kind || q.Kind == "" && entries.MatchString(q.Source)) {
		limit = MaxRequests
	}
	if len(q.Source) > limit {
		return routine.Errorf(routine.CodeTooLarge, "the recording has %d bytes, the limit is %d: "+
			"a HAR file of up to %d MiB can be imported with the command rote import", len(q.Source), limit, MaxRequests>>20)
	}
	return nil
}

// Tests returns the names of the tests of a recording: each can be imported by its name.
// CodeInvalid if the recording is of a kind that has no tests.
func Tests(q Request) ([]string, error) {
	if err := checkSize(q); err != nil {
		return nil, err
	}
	opened, err := open(q)
	if err == nil && opened.tests == nil {
		err = routine.Errorf(routine.CodeInvalid, "line 1: a recording of the kind %s has no tests by name", opened.kind)
	}
	return opened.tests, err
}

// recording is a recording whose kind is known.
type recording struct {
	kind  string
	tests []string // the names of its tests; nil if it has none
	read  func(test string) (*draft.Draft, error)
}

// open finds the kind of a recording.
func open(q Request) (recording, error) {
	if q.Kind != "" && !slices.Contains(Kinds, q.Kind) {
		return recording{}, routine.Errorf(routine.CodeInvalid, "%s is no kind of recording: it is one of %s",
			routine.Quote(routine.Truncate(q.Kind, 40)), strings.Join(Kinds, ", "))
	}
	if q.Kind == curl.Kind || q.Kind == "" && curl.Matches(q.Source) {
		return recording{kind: curl.Kind, read: func(string) (*draft.Draft, error) { return curl.Read(q.Source) }}, nil
	}
	if kind := cmp.Or(q.Kind, playwright.Matches(q.Source)); kind == playwright.Kind || kind == playwright.Puppeteer {
		return recording{kind, playwright.Tests(q.Source), func(test string) (*draft.Draft, error) { return playwright.Read(q.Source, test) }}, nil
	}
	root, err := jsontree.Parse(q.Source)
	if err != nil && q.Kind == "" && !strings.Contains(q.Source, `"steps"`) && !strings.Contains(q.Source, `"commands"`) && !entries.MatchString(q.Source) {
		if otherCopy.MatchString(q.Source) {
			return recording{}, errOtherCopy
		}
		return recording{}, errUnknownKind
	}
	switch {
	case err != nil:
		return recording{}, err
	case q.Kind == har.Kind || q.Kind == "" && har.Matches(root):
		return recording{kind: har.Kind, read: func(test string) (*draft.Draft, error) { return har.Read(root, test) }}, nil
	case q.Kind == side.Kind || q.Kind == "" && side.Matches(root):
		return recording{side.Kind, side.Tests(root), func(test string) (*draft.Draft, error) { return side.Read(root, test) }}, nil
	}
	return recording{kind: recorder.Kind, read: func(string) (*draft.Draft, error) { return recorder.Read(root) }}, nil
}

// errUnknownKind is the error for a text that is of no kind.
var errUnknownKind = routine.Errorf(routine.CodeInvalid, "line 1: this is no recording that can be imported: give the JSON of Chrome's Recorder, "+
	"a .side file of Selenium IDE, a HAR file, commands of cURL, or a script of Playwright or Puppeteer")

// otherCopy matches the other forms in which browsers copy a request: for PowerShell, and as a call of fetch.
var otherCopy = regexp.MustCompile(`(?m)^(?:await )?fetch\("|^Invoke-(?:WebRequest|RestMethod) `)

var errOtherCopy = routine.Errorf(routine.CodeInvalid, "line 1: this is a request for PowerShell or for fetch: copy it in the browser as cURL, for bash or cmd")

// Kinds are the kinds of recordings.
var Kinds = []string{recorder.Kind, side.Kind, har.Kind, curl.Kind, playwright.Kind, playwright.Puppeteer}

// titles name the tools that make the recordings.
var titles = map[string]string{recorder.Kind: "a recording of Chrome's Recorder", side.Kind: "a test of Selenium IDE",
	har.Kind: "the requests of a HAR file", curl.Kind: "commands of cURL", playwright.Kind: "a test of Playwright", playwright.Puppeteer: "a script of Puppeteer"}

// describe is the description of the routine.
func describe(kind, title string, d *draft.Draft) string {
	text := "Imported from " + titles[kind]
	if title != "" {
		text += ": " + title
	}
	if site := d.Site(); site != "" {
		text += ", on " + site
	}
	return text + "."
}

// withoutPlaces removes lines and columns: the text of the routine is not the caller's.
func withoutPlaces(problems []routine.Problem) []routine.Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	return problems
}

// ReportOf is the account of a draft.
func ReportOf(d *draft.Draft) Report {
	r := Report{Steps: len(d.Items), Items: d.Items, Candidates: d.Candidates}
	if r.Items == nil {
		r.Items = []draft.Item{}
	}
	for _, item := range d.Items {
		switch item.What {
		case draft.Carried:
			r.Carried++
		case draft.Changed:
			r.Changed++
		default:
			r.Dropped++
		}
	}
	return r
}

// Summary is the account in one line.
func (r Report) Summary() string {
	return fmt.Sprintf("%d steps: %d carried, %d changed, %d dropped", r.Steps, r.Carried, r.Changed, r.Dropped)
}
