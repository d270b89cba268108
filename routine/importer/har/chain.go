package har

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/requests"
)

const (
	// maxBefore and maxAfter are how many requests around the target are looked at.
	maxBefore = 250
	maxAfter  = 50
	// maxAnswers is how many bytes of answers are searched for values.
	maxAnswers = 2 << 20
	// maxFirst is how many requests are repeated for their cookies.
	maxFirst = 4
)

// chain adds the operations of a request, and of those that it needs before it.
func (f *file) chain(target *entry) error {
	if target.Status == 0 {
		return routine.Errorf(routine.CodeInvalid, "line %d: request %d has no answer in the recording: give another one as the test%s",
			target.line, target.Number, f.examples())
	}
	if target.BodyTruncated {
		return routine.Errorf(routine.CodeInvalid, "line %d: request %d sends files, or a body that is too large or not whole in the recording",
			target.line, target.Number)
	}
	around := f.around(target)
	from := requests.Origins{Secrets: typedSecrets(around), Pages: f.pages(around, target)}
	needs := f.needs(around, target)
	from.Navigate = needs.page
	from.First = needs.first
	log := routine.RequestLog{}
	for _, e := range around {
		log.Requests = append(log.Requests, e.Request)
	}
	traced, err := requests.Trace(log, target.Number, from)
	if err != nil {
		e := routine.AsError(err)
		return routine.Errorf(routine.CodeInvalid, "line %d: %s; the requests with data are in the list of candidates: give another one as the test%s",
			target.line, e.Message, f.examples())
	}
	f.add(target, traced, needs)
	return nil
}

// around returns the requests that are looked at, with answers of at most maxAnswers bytes: those
// that are the nearest before the target.
func (f *file) around(target *entry) []*entry {
	var all []*entry
	at := 0
	for _, e := range f.entries {
		if e == target {
			at = len(all)
		} else if e.static || e.Status == 0 || origin(e.URL) == "" {
			continue
		}
		all = append(all, e)
	}
	all = all[max(0, at-maxBefore):min(len(all), at+maxAfter)]
	size := 0
	for _, e := range slices.Backward(all) {
		if size += len(e.Answer); size > maxAnswers || e.Number > target.Number {
			e.Answer, e.AnswerLost = nil, true
		}
	}
	return all
}

// needs is what a request needs before it for its cookies.
type needs struct {
	page    bool  // the page, which sets one
	first   []int // requests that set one, or that log in
	unknown bool  // the recording does not show where one comes from
}

func (f *file) needs(around []*entry, target *entry) needs {
	var n needs
	n.follow(around, target)
	if login := lastLogin(around, target); login != nil && !slices.Contains(n.first, login.Number) {
		n.first = append(n.first, login.Number)
		n.follow(around, login)
	}
	slices.Sort(n.first)
	return n
}

// follow adds what sets the cookies of a request, and what that needs itself.
func (n *needs) follow(around []*entry, target *entry) {
	for _, c := range target.sent {
		var by *entry
		for _, e := range around {
			if e.Number >= target.Number {
				break
			}
			if slices.ContainsFunc(e.set, func(s routine.Cookie) bool { return s.Name == c.Name && s.Value == c.Value }) {
				by = e
			}
		}
		switch {
		case by == nil:
			n.unknown = true
		case by.Kind == "document":
			n.page = true
		case !slices.Contains(n.first, by.Number) && len(n.first) < maxFirst && by.Status < 400 && !by.BodyTruncated:
			n.first = append(n.first, by.Number)
			n.follow(around, by)
		}
	}
}

// lastLogin is the last request before the target that has sent a password to its site; nil if
// there is none. Many tools leave cookies out of their files.
func lastLogin(around []*entry, target *entry) *entry {
	for _, e := range slices.Backward(around) {
		if e.Number < target.Number && e.Method == "POST" && e.Status < 400 && !e.BodyTruncated && site(e.host) == site(target.host) &&
			len(typedSecrets([]*entry{e})) > 0 {
			return e
		}
	}
	return nil
}

// typedSecrets are the values of fields that a person types secrets into, and of headers with
// credentials.
func typedSecrets(all []*entry) []string {
	var secrets []string
	add := func(name, value string) {
		if len(value) <= 200 && draft.IsSecret(name, value) && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	for _, e := range all {
		if e.Method == "GET" || e.Body == "" || len(e.Body) > maxEncoded {
			continue
		}
		if v, err := jsontree.Parse(e.Body); err == nil {
			eachText(v, "", add)
			continue
		}
		for pair := range strings.SplitSeq(e.Body, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(value); err == nil {
				add(name, plain)
			}
		}
	}
	return secrets
}

// eachText calls see with the texts of a value and the names of their members.
func eachText(v *jsontree.Value, name string, see func(name, value string)) {
	if v.Kind == jsontree.String {
		see(name, v.Text)
	}
	for _, item := range v.Items {
		eachText(item, name, see)
	}
	for _, field := range v.Fields {
		eachText(field.Value, field.Name, see)
	}
}

// add adds the operations of a traced request, with the account of each request that they make.
func (f *file) add(target *entry, traced *requests.Traced, n needs) {
	f.d.Parameters = traced.Parameters
	for _, p := range traced.Parameters {
		if value, ok := traced.Values[p.Name].(string); ok {
			f.d.Hide(value, "{{"+p.Name+"}}")
		}
	}
	numbers := traced.Numbers
	for _, raw := range append(slices.Clone(traced.Before), traced.Operation) {
		var o struct{ Type, URL string }
		_ = json.Unmarshal(raw, &o) // it has just been made
		switch o.Type {
		case "navigate":
			f.page(o.URL, target)
		case "fetch":
			e := f.entries[numbers[0]-1]
			f.d.Step(e.line, e.column, "request "+e.shown())
			numbers = numbers[1:]
		}
		f.d.Add(draft.Operation{Type: o.Type, URL: o.URL, Raw: raw})
		for _, p := range traced.Parameters {
			if strings.Contains(string(raw), "{{"+p.Name+"}}") {
				f.d.Change("secret", "the value of %s is not kept: a call gives it", p.Name)
			}
		}
	}
	f.d.Add(draft.Operation{Type: "return", Raw: traced.Return})
	if n.unknown {
		f.d.Change("cookie", "it had cookies that no answer of the recording sets: a fetch has those of the page; a saved session has a login")
	}
	for _, w := range traced.Warnings {
		f.d.Change("warning", "%s", w)
	}
	for _, note := range traced.Notes {
		if !strings.HasPrefix(note, `"{{`) { // those of parameters are said where they are used
			f.d.Change("traced", "%s", note)
		}
	}
}

// page begins the account of the page that the routine goes to first. The line is that of the
// request if the page is not in the file.
func (f *file) page(address string, target *entry) {
	for _, e := range f.entries {
		if e.Kind == "document" && e.URL == address && e.Number <= target.Number {
			f.d.Step(e.line, e.column, "page "+e.shown())
			return
		}
	}
	page := entry{Request: routine.Request{Method: "GET", URL: address}}
	f.d.Step(target.line, target.column, "page "+page.shown())
}
