package requests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

const (
	// maxTraceDepth bounds how many requests a value is followed back through.
	maxTraceDepth = 4
	// maxFetches bounds the requests that are needed before the traced one.
	maxFetches = 8
	// maxLeaves bounds the values of one request that are traced; further ones stay as
	// they are.
	maxLeaves = 400
	// minTraced is the length of the shortest value that is traced without having been
	// typed. Shorter ones are found everywhere by chance.
	minTraced = 6
	// maxTraced is that of the longest.
	maxTraced = 8 << 10
	// maxOperationBytes bounds all operations of a traced request together, maxParameters
	// the values that were found nowhere, and maxNotes the notes.
	maxOperationBytes = 32 << 10
	maxParameters     = 20
	maxNotes          = 40
)

// Typed is a text that was typed, chosen or given as the value of a parameter.
type Typed struct {
	// Name is that of the parameter; empty for a literal text of an operation.
	Name  string
	Value any // string, json.Number or bool
	// Operation is the number of the operation that used it; 0: none so far.
	Operation int
}

// Origins is what the values of a request may have come from.
type Origins struct {
	Typed []Typed
	// Pages are what the page held before and after the operations, the oldest first.
	Pages []routine.PageValues
	// Secrets are the texts that must not be shown and must not become part of an
	// operation.
	Secrets []string
	// Keys are names of parameters and session storage keys that are in use.
	Keys []string
	// WithoutHeaders are names of headers that the request is made without.
	WithoutHeaders []string
	// Navigate makes the chain begin with a navigation to the page also when no value
	// needs it.
	Navigate bool
	// First are the numbers of requests that are made before the request although no value of
	// it comes from their answers: they log in, or set a cookie.
	First []int
}

// Traced is a request as operations.
type Traced struct {
	Request *routine.Request
	// Before are the operations that the request needs before it, Operation is the request
	// itself, and Return makes its answer the result.
	Before    []json.RawMessage
	Operation json.RawMessage
	Return    json.RawMessage
	// Notes say where the values of the placeholders come from, as in
	// "X-CSRF-Token: answer of request 3, path csrf".
	Notes []string
	// Warnings are reasons why the operations may fail later.
	Warnings []string
	// Parameters are those to be declared for values that were not found and that must not
	// be literals. Values are what the page sent; they are secret.
	Parameters []routine.Parameter
	Values     routine.Values
	// Optional are the names of headers that the site may not need, Credentials those of
	// them that look like credentials, which it most likely needs.
	Optional, Credentials []string
	// Acting are the requests of the operations that may change something on the site, as
	// in "POST /orders"; none if all are safe.
	Acting []string
	// Numbers are those of the requests that the fetch operations make, in their order.
	Numbers []int
	// Shape and Sample describe the answer that the page got, with secrets masked.
	Shape, Sample string
}

// tracer turns one request into operations.
type tracer struct {
	log  []routine.Request
	from Origins
	mask *mask

	fetches []json.RawMessage
	reads   []json.RawMessage // scripts that read values from the page
	fetched map[int]string    // session storage keys of answers by request number
	read    map[string]string // session storage keys of scripts by selector or cookie
	used    map[string]bool   // keys and parameter names
	params  map[string]string // names of new parameters by value
	page    string            // the URL of the page that values are read from
	out     *Traced
}

// Trace turns the request with a number into operations. Each value of it that a run
// cannot repeat is traced to where it comes from, by comparison: a parameter, an earlier
// answer, the page. CodeNotFound if there is no such request, CodeInvalid if it cannot be
// an operation.
func Trace(log routine.RequestLog, number int, from Origins) (*Traced, error) {
	at := slices.IndexFunc(log.Requests, func(r routine.Request) bool { return r.Number == number })
	if at < 0 {
		return nil, routine.Errorf(routine.CodeNotFound, "there is no request %d", number)
	}
	r := &log.Requests[at]
	t := &tracer{log: log.Requests, from: from, mask: newMask(from.Secrets), fetched: map[int]string{}, read: map[string]string{},
		used: map[string]bool{"uuid": true, "epoch_milliseconds": true}, params: map[string]string{},
		out: &Traced{Request: r, Values: routine.Values{}}}
	t.mask.harvest(log.Requests, at)
	for _, key := range from.Keys {
		t.used[key] = true
	}
	for _, typed := range from.Typed {
		t.used[typed.Name] = true
	}
	for _, p := range from.Pages {
		for key := range p.SessionStorage {
			t.used[key] = true
		}
	}
	if err := t.request(r); err != nil {
		return nil, err
	}
	if err := t.bound(); err != nil {
		return nil, err
	}
	if tree := answerTree(r); tree != nil {
		t.out.Shape = routine.Truncate(shaper{t.mask, false}.of([]*node{tree}, 0), maxShape)
	}
	t.out.Sample = sample(r, t.mask)
	return t.out, nil
}

// bound returns an error if the operations are too large to be shown or have too many
// values that were found nowhere, and leaves out notes if there are too many.
func (t *tracer) bound() error {
	bytes := len(t.out.Operation)
	for _, o := range t.out.Before {
		bytes += len(o)
	}
	switch r := t.out.Request; {
	case bytes > maxOperationBytes:
		return refused(r, fmt.Sprintf("its operations would have %s. Use the controls of the page", byteSize(int64(bytes))))
	case len(t.out.Parameters) > maxParameters:
		return refused(r, fmt.Sprintf("it has %d values that nothing on the page explains. Use the controls of the page", len(t.out.Parameters)))
	}
	if more := len(t.out.Notes) - maxNotes; more > 0 {
		t.out.Notes = append(t.out.Notes[:maxNotes:maxNotes], fmt.Sprintf("… and %d more", more))
	}
	return nil
}

// request makes the operations of the traced request.
func (t *tracer) request(r *routine.Request) error {
	t.first()
	key, operation, err := t.fetch(r, 0)
	if err != nil {
		return err
	}
	t.out.Operation = operation
	t.out.Return = encode(struct {
		Type string `json:"type"`
		Key  string `json:"session_storage_key"`
	}{"return", key})
	page := t.page
	if page == "" && (t.from.Navigate || !sameOrigin(r.URL, r.PageURL)) {
		page = r.PageURL
	}
	if page != "" {
		t.navigate(page)
	}
	t.out.Before = append(t.out.Before, t.reads...)
	t.out.Before = append(t.out.Before, t.fetches[:len(t.fetches)-1]...)
	return nil
}

// first makes the operations of the requests that are made before in any case.
func (t *tracer) first() {
	for i := range t.log {
		r := &t.log[i]
		if _, done := t.fetched[r.Number]; done || !slices.Contains(t.from.First, r.Number) {
			continue
		}
		if _, _, err := t.fetch(r, 1); err != nil {
			t.warn("request " + strconv.Itoa(r.Number) + ", which was made before it, is left out: " + routine.AsError(err).Message)
		}
	}
}

// navigate begins the operations with a navigation to a page, with what was typed in its
// URL as placeholders.
func (t *tracer) navigate(page string) {
	address, err := t.address(page, func(l leaf) template {
		return t.typedQuietly(l)
	})
	if err != nil || !strings.HasPrefix(page, "http") {
		t.out.Warnings = append(t.out.Warnings, "it needs the page that it was sent from: go there first, as the kept operations do")
		return
	}
	t.out.Before = append(t.out.Before, encode(struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}{"navigate", address}))
}

// fetch makes the fetch operation of a request, after those of the requests whose answers
// it needs. It returns the key of its answer.
func (t *tracer) fetch(r *routine.Request, depth int) (string, json.RawMessage, error) {
	if len(t.fetches) >= maxFetches {
		return "", nil, routine.Errorf(routine.CodeInvalid, "request %d needs the answers of more than %d requests", t.out.Request.Number, maxFetches)
	}
	var leaves []leaf
	collect := func(l leaf) template { leaves = append(leaves, l); return l.literal() }
	if _, err := t.endpoint(r, collect); err != nil {
		return "", nil, err
	}
	found := t.searchAnswers(wantedValues(leaves, r), r.Number)
	whole := t.wholeURL(r, leaves, found, depth)
	elsewhere := map[string]bool{} // values of the query, the headers and the body
	for _, l := range leaves {
		elsewhere[l.value] = elsewhere[l.value] || l.place != inPath
	}
	e, err := t.endpoint(r, func(l leaf) template {
		switch {
		case whole != "" && (l.place == inPath || l.place == inQuery):
			return l.literal()
		case l.place == inPath && plainWord.MatchString(l.value) && !tokenLike(l.value) && elsewhere[l.value]: // a search for "news" in /api/news
			return l.literal()
		}
		return t.resolve(r, l, found, depth)
	})
	if err != nil {
		return "", nil, err
	}
	if whole != "" {
		e.URL = whole
	}
	if !Safe(r) {
		t.out.Acting = append(t.out.Acting, r.Method+" "+urlTemplate(r.URL, r.PageURL, t.mask))
	}
	key := t.unusedName(t.mask.keyOf(r))
	operation := encode(struct {
		Type     string    `json:"type"`
		Endpoint *endpoint `json:"endpoint"`
		Key      string    `json:"session_storage_key"`
	}{"fetch", e, key})
	t.fetches = append(t.fetches, operation)
	t.fetched[r.Number] = key
	t.out.Numbers = append(t.out.Numbers, r.Number)
	return key, operation, nil
}

// wholeURL returns the placeholder of the URL of a request if an earlier answer has it as a
// whole, as links to the next page are, and a part of it is found nowhere else.
func (t *tracer) wholeURL(r *routine.Request, leaves []leaf, found map[string][]source, depth int) string {
	unknown := slices.ContainsFunc(leaves, func(l leaf) bool {
		return (l.place == inPath || l.place == inQuery) && l.worth() && len(found[l.value]) == 0 && t.typedQuietly(l) == nil
	})
	if !unknown {
		return ""
	}
	forms := []string{r.URL}
	if sameOrigin(r.URL, r.PageURL) {
		forms = append(forms, pathAndQuery(r.URL))
	}
	for _, form := range forms {
		if token, note := t.answerToken(found[form], depth); token != "" {
			t.note("url", note)
			return token
		}
	}
	return ""
}

// shownPath is a path for a note.
func shownPath(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err != nil {
			parts[i] = shownName(p)
		}
	}
	return strings.Join(parts, ".")
}

// note adds where the value under a name comes from, once.
func (t *tracer) note(name, origin string) {
	text := shownName(t.mask.text(name)) + ": " + origin
	if strings.HasPrefix(name, "{{") {
		text = `"` + name + `": ` + origin
	}
	if !slices.Contains(t.out.Notes, text) {
		t.out.Notes = append(t.out.Notes, text)
	}
}

// unusedName is a name that no parameter and no key has, made of another one.
func (t *tracer) unusedName(name string) string {
	free := name
	for n := 2; t.used[free]; n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	t.used[free] = true
	return free
}
