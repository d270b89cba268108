package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/keyboard"
	"rote/routine/selector"
)

var (
	//go:embed secret_exposed.js
	secretExposedSource string
	secretExposedScript = withoutComments(secretExposedSource)
)

// releases are the secrets with rules that a run has typed into its pages. The run's first
// page keeps them, guarded by its mu.
type releases struct {
	// typed has each once.
	typed []routine.Release
	// loaders are those of the documents that may hold one of them: see noteReleased and
	// noteStarted.
	loaders map[string]bool
}

// noteReleased records that the page's document may hold the secrets of a release.
func (p *page) noteReleased(r routine.Release) {
	loader := p.now().loader
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	known := func(other routine.Release) bool {
		return other.Secret == r.Secret && slices.Equal(other.Texts, r.Texts)
	}
	if !slices.ContainsFunc(first.released.typed, known) {
		first.released.typed = append(first.released.typed, r)
	}
	if first.released.loaders == nil {
		first.released.loaders = map[string]bool{}
	}
	first.released.loaders[loader] = true
}

// noteStarted records a navigation to a document that may hold a secret: one of the history or
// one that is loaded again, whose fields the browser may restore, or one whose URL has the
// secret, as after a form that is sent with GET. p.mu is held.
func (p *page) noteStarted(e startedNavigating) {
	first := p.first()
	if first != p {
		first.mu.Lock()
		defer first.mu.Unlock()
	}
	typed := first.released.typed
	inURL := func(r routine.Release) bool { return newSecretSearch(&r).finds(e.URL) }
	if len(typed) > 0 && (e.restores() || slices.ContainsFunc(typed, inURL)) {
		first.released.loaders[e.LoaderID] = true
	}
}

// releasedSecrets are the secrets that the run has typed by rules.
func (p *page) releasedSecrets() []routine.Release {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return slices.Clone(first.released.typed)
}

// withReleased adds the texts that the run has typed by rules to the secrets that a picture or a
// description of the page must not show.
func (p *page) withReleased(secrets []string) []string {
	for _, r := range p.releasedSecrets() {
		for _, text := range r.Texts {
			if !slices.Contains(secrets, string(text)) {
				secrets = append(slices.Clip(secrets), string(text))
			}
		}
	}
	return secrets
}

// isLoaded reports whether the page's document may hold a secret.
func (p *page) isLoaded() bool {
	loader := p.now().loader
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return first.released.loaders[loader]
}

// soughtSecret is a secret that the helper searches for.
type soughtSecret struct {
	Name  string   `json:"name"`
	Texts []string `json:"texts"`
	// Fields reports whether only fields are searched: a page may show a username elsewhere.
	Fields bool `json:"fields"`
}

// checkExposed fails if a document of the run holds a secret that was typed by rules. doing is
// what may not be done then, as in "a script may not run". Each operation that could read the
// secret back calls it first. It costs nothing in a run that has typed no such secret.
func (p *page) checkExposed(ctx context.Context, doing string) error {
	return p.searchExposed(ctx, doing, nil)
}

// checkSelector fails if a selector compares what now holds a secret: by such selectors, an
// author could find out what it begins with. It is called after the search for an element,
// because a page may copy the secret meanwhile, and before anything is done with it.
func (p *page) checkSelector(ctx context.Context, css string) error {
	if !strings.ContainsAny(css, "[:") || len(p.releasedSecrets()) == 0 {
		return nil
	}
	tested := selector.TestedBy(css)
	if len(tested.Attributes) == 0 && !tested.Values {
		return nil
	}
	return p.searchExposed(context.WithoutCancel(ctx), routine.Quote(css)+" may not be searched", &tested)
}

// searchExposed is checkExposed for all places, or for those that a selector compares.
func (p *page) searchExposed(ctx context.Context, doing string, in *selector.Tested) error {
	typed := p.releasedSecrets()
	if len(typed) == 0 {
		return nil
	}
	for _, tab := range append([]*page{p.first()}, p.openPopups()...) {
		if !tab.isLoaded() {
			continue
		}
		for _, v := range append([]*frameView{tab.frames.top}, tab.currentFrames()...) {
			if err := v.searchExposed(ctx, typed, doing, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// searchExposed is that of page for one view. The view gets the texts of secrets that are for
// its host and no others.
func (v *frameView) searchExposed(ctx context.Context, typed []routine.Release, doing string, in *selector.Tested) error {
	origin := v.currentOrigin()
	var sought []soughtSecret
	for _, r := range typed {
		if !r.Rules.Allows(origin) {
			continue
		}
		s := soughtSecret{Name: r.Secret, Fields: r.Username}
		for _, text := range r.Texts {
			if text != "" {
				s.Texts = append(s.Texts, lineEnds.Replace(string(text)))
			}
		}
		sought = append(sought, s)
	}
	if len(sought) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, frameTime)
	defer cancel()
	found, err := inHelper[*struct{ Name, Where string }](bounded, v, secretExposedScript, sought, in)
	switch {
	case errors.Is(err, cdp.ErrGone): // and with it what it held
		return nil
	case err != nil && ctx.Err() == nil && bounded.Err() != nil:
		return routine.Errorf(routine.CodeSecretExposed, "%s while the page is too busy to show whether it holds secret %s: "+
			"submit the form or leave the page first", doing, sought[0].Name)
	case err != nil:
		return v.p.failure(ctx, err)
	case found == nil:
		return nil
	case found.Where != "the page":
		found.Where = `"` + found.Where + `"`
	}
	return routine.Errorf(routine.CodeSecretExposed, "%s while %s holds secret %s: submit the form or leave the page first", doing, found.Where, found.Name)
}

// copies reports whether a chord copies or cuts.
func copies(c keyboard.Chord) bool {
	var held keyboard.Modifier
	for _, m := range c.Modifiers {
		held |= m.Modifier()
	}
	switch strings.ToLower(c.Key.Name) {
	case "c", "x":
		return held&^keyboard.Shift == keyboard.Control || held&^keyboard.Shift == keyboard.Meta
	case "insert":
		return held == keyboard.Control
	case "delete":
		return held == keyboard.Shift
	}
	return false
}

// checkClipboard fails if a paste would insert a secret that was typed by rules, which the page
// has copied.
func (p *page) checkClipboard() error {
	first := p.first()
	first.mu.Lock()
	held, typed := first.clipboard, first.released.typed
	first.mu.Unlock()
	for _, r := range typed {
		for _, text := range r.Texts {
			quoted, _ := json.Marshal(string(text))
			if !r.Username && text != "" && strings.Contains(held, string(quoted[1:len(quoted)-1])) {
				return routine.Errorf(routine.CodeSecretExposed, "nothing may be pasted while the clipboard holds secret %s, which the page has copied: "+
					"copy something else first", r.Secret)
			}
		}
	}
	return nil
}
