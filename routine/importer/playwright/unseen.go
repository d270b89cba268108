package playwright

import (
	"regexp"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// declaration matches the declaration of a variable without a value.
var declaration = regexp.MustCompile(`^(?:(?:private|public|protected|internal|static|final|readonly|declare|let|var)\s+)*` +
	`(?:[A-Z][\w.]*\??\s+\w+|\w+[!?]?\s*:\s*[A-Z][\w.]*(?:\s*\|\s*\w+)*);?$`)

// notUnderstood accounts for a statement of which nothing is known, if it has to do with the page.
func (r *reader) notUnderstood(s *chain.Statement) {
	c := s.Value.Calls
	awaited := c != nil && s.Value.Kind == chain.Calls && c.Await && len(c.Members) == 1 && r.elsewhere(c)
	if !awaited && !s.Names(r.touches) || !s.Returns && declaration.MatchString(s.Shown()) {
		return
	}
	r.step(s.Line, s.Column, s.Shown())
	if r.lost != "" {
		return
	}
	for _, name := range s.Vars {
		if r.variable(name).kind == nothing {
			r.vars[name] = object{kind: unseen}
		}
	}
	if c != nil && s.Value.Kind == chain.Calls && r.elsewhere(c) {
		r.d.Drop("not_understood", "%s is not in this file: with its code in front of the test it is read", draft.Shown(c.Base))
		return
	}
	r.d.Drop("not_understood", "this is no call of Playwright or Puppeteer that can be carried as it is")
}

// elsewhere reports whether a chain begins with what another file gives.
func (r *reader) elsewhere(c *chain.Chain) bool {
	if r.variable(c.Base).kind == unseen {
		return true
	}
	return len(c.Members) == 1 && c.Members[0].Called && c.Members[0].Name == "" && r.functions[c.Base] == nil && r.variable(c.Base).kind == nothing
}

// given are the fixtures of the runners of tests that are no code of another file.
var given = map[string]bool{"page": true, "context": true, "browser": true, "request": true, "browserName": true, "isMobile": true, "baseURL": true,
	"playwright": true, "base_url": true, "browser_name": true, "tmp_path": true, "monkeypatch": true, "capsys": true, "self": true}

// provide gives a test, or a fixture, the fixtures that it names: those of the file are read, others
// are not.
func (r *reader) provide(params []param, depth int) {
	for _, p := range params {
		for _, name := range append(p.parts, p.name) {
			if name == "" || given[name] || depth > maxInside {
				continue
			}
			f := r.functions[name]
			switch {
			case f != nil && f.fixture && f.called: // it is there already
			case f != nil && f.fixture:
				f.called = true
				r.provide(f.params, depth+1)
				r.vars[name] = r.call(f, nil, nil)
			case r.language == chain.JavaScript && len(p.parts) > 0 && f == nil, r.language == chain.Python && f == nil && !p.page:
				if r.variable(name).kind == nothing {
					r.vars[name] = object{kind: unseen}
				}
			}
		}
	}
}

// fixtures declares the functions that an extended test gives to tests.
func (r *reader) fixtures(v *chain.Value) {
	m := v.Calls.Last()
	if m.Name != "extend" || len(m.Args) != 1 {
		return
	}
	for i := range m.Args[0].Fields {
		f := &m.Args[0].Fields[i]
		fixture := &f.Value
		if fixture.Kind == chain.List && len(fixture.Parts) > 0 {
			fixture = &fixture.Parts[0]
		}
		if fixture.Kind == chain.Function && len(r.functions) < 1000 {
			r.functions[f.Name] = functionOf(f.Name, fixture)
			r.functions[f.Name].fixture = true
		}
	}
}
