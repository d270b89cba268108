package requests

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
)

// pageToken returns the placeholder of a value that the page held. Pages with the URL that
// the request was sent from come first.
func (t *tracer) pageToken(r *routine.Request, value, name string) (token, note string) {
	var pages []*routine.PageValues
	for i := range t.from.Pages {
		if p := &t.from.Pages[i]; p.URL == r.PageURL {
			pages = append(pages, p)
		}
	}
	for i := range t.from.Pages {
		if p := &t.from.Pages[i]; p.URL != r.PageURL {
			pages = append(pages, p)
		}
	}
	for _, p := range pages {
		for _, find := range []func(*routine.PageValues, string, string) (string, string){
			t.metaToken, t.hiddenToken, t.cookieToken, t.storageToken, t.windowToken} {
			if token, note = find(p, value, name); token != "" {
				if t.page == "" {
					t.page = p.URL
				}
				return token, note
			}
		}
	}
	return "", ""
}

// namesWith returns the names whose value is the given one, sorted.
func namesWith(values map[string]string, value string) []string {
	var names []string
	for name, v := range values {
		if v == value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *tracer) metaToken(p *routine.PageValues, value, _ string) (token, note string) {
	for _, name := range namesWith(p.Metas, value) {
		if t.usable(name) {
			return "{{meta:" + name + "}}", "meta " + shownName(name)
		}
	}
	return "", ""
}

func (t *tracer) hiddenToken(p *routine.PageValues, value, name string) (token, note string) {
	for _, selector := range namesWith(p.HiddenFields, value) {
		if strings.Contains(selector, "{{") || t.mask.text(selector) != selector {
			continue
		}
		js := "(() => document.querySelector(" + string(encode(selector)) + ").value)()"
		return t.readToken(selector, name, js), "hidden field " + quoteName(selector)
	}
	return "", ""
}

// readToken makes a script that reads a value from the page, once, and returns the
// placeholder of its result.
func (t *tracer) readToken(what, name, js string) string {
	key, done := t.read[what]
	if !done {
		key = t.unusedName(parameterName(name))
		t.read[what] = key
		t.reads = append(t.reads, encode(struct {
			Type string `json:"type"`
			JS   string `json:"js"`
			Key  string `json:"session_storage_key"`
		}{"js_evaluate", js, key}))
	}
	return "{{sessionStorage:" + key + "}}"
}

func (t *tracer) cookieToken(p *routine.PageValues, value, name string) (token, note string) {
	for _, c := range p.Cookies {
		plain, err := url.PathUnescape(c.Value)
		if err != nil {
			plain = c.Value
		}
		front, _, has := strings.Cut(plain, "|")
		switch {
		case !t.usable(c.Name):
		case plain == value:
			return "{{cookie:" + c.Name + "}}", "cookie " + shownName(c.Name)
		case has && front == value && !c.HTTPOnly:
			js := "(() => { const n = " + string(encode(c.Name+"=")) +
				"; return decodeURIComponent(document.cookie.split('; ').find(c => c.startsWith(n)).slice(n.length)).split('|')[0]; })()"
			return t.readToken("cookie "+c.Name, name, js), "cookie " + shownName(c.Name) + ", up to |"
		}
	}
	return "", ""
}

func (t *tracer) storageToken(p *routine.PageValues, value, _ string) (token, note string) {
	for _, of := range []struct {
		name   string
		values map[string]string
	}{{"localStorage", p.LocalStorage}, {"sessionStorage", p.SessionStorage}} {
		for _, key := range slices.Sorted(maps.Keys(of.values)) {
			if path, ok := t.storagePath(key, of.values[key], value); ok {
				return "{{" + of.name + ":" + path + "}}", of.name + " " + shownPath(path)
			}
		}
	}
	return "", ""
}

// storagePath is the path of a value in the entry of a storage.
func (t *tracer) storagePath(key, text, value string) (string, bool) {
	if !t.usable(key) {
		return "", false
	}
	if text == value {
		return key, true
	}
	if !strings.Contains(text, value) && !strings.Contains(text, `\`) {
		return "", false
	}
	tree := parseJSON([]byte(text))
	if tree == nil {
		return "", false
	}
	found, ok := "", false
	tree.walk(nil, func(path []step, n *node) bool {
		if n.text != value || n.kind != '"' && n.kind != '0' {
			return true
		}
		if found, ok = t.pathText(path); ok && found == "" {
			found = key
		} else if ok = ok && !strings.Contains(key, "."); ok {
			found = key + "." + found
		}
		return !ok
	})
	return found, ok
}

func (t *tracer) windowToken(p *routine.PageValues, value, _ string) (token, note string) {
	for _, path := range namesWith(p.Window, value) {
		if t.usable(path) {
			return "{{windowProperty:" + path + "}}", "window." + shownPath(path)
		}
	}
	return "", ""
}

// keyOf is a session storage key for the answer of a request: the GraphQL operation's name,
// or the last word of the path. It has no secret.
func (m *mask) keyOf(r *routine.Request) string {
	if g := graphQLOf(r); g != nil && g.name != "" && m.text(g.name) == g.name {
		return parameterName(g.name)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return "answer"
	}
	parts := strings.Split(u.Path, "/")
	for _, part := range slices.Backward(parts) {
		part, _, _ = strings.Cut(part, ".")
		if plainWord.MatchString(part) && !tokenLike(part) && m.text(part) == part {
			return parameterName(part)
		}
	}
	return "answer"
}
