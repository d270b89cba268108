package browser

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"rote/routine"
)

var (
	//go:embed secret_insert.js
	secretInsertSource string
	// secretInsertScript is a function that inserts a text with secrets. It is sent when it is
	// needed, so that other runs do not pay for it.
	secretInsertScript = withoutComments(secretInsertSource)
)

// insertRules are the rules of a release as the helper checks them. Origins are those that
// the text may go to, as far as they were judged.
type insertRules struct {
	Field    routine.FieldRule `json:"field"`
	Username bool              `json:"username"`
	Code     bool              `json:"code"`
	Origins  []string          `json:"origins"`
}

// insertion is the outcome of an attempt to insert a text. How is as that of fieldState, or
// "ask" or "denied".
type insertion struct {
	How    string        `json:"how"`
	Why    string        `json:"why"`    // of "denied"
	Places []secretPlace `json:"places"` // of "ask"
	Boxes  bool          `json:"boxes"`  // the text was divided among several fields
	Whole  bool          `json:"whole"`  // these have all of it
}

// secretPlace is a place that the text of a field reaches.
type secretPlace struct {
	What   string `json:"what"` // as in "is in a frame of"
	Origin string `json:"origin"`
}

// maxJudgements bounds how often the origins of a field are judged, which may change each time.
const maxJudgements = 3

// insertSecret inserts the text of t, which has secrets, into the field that was clicked. The
// helper is told first which origins are allowed and inserts only if the field reaches no
// others. It gets the text only if its own origin is allowed.
func (p *page) insertSecret(ctx context.Context, s actionPoint, t routine.Typing) (insertion, error) {
	if t.Release.Rules == nil {
		return inHelper[insertion](ctx, s.view, secretInsertScript, t.Text, t.Clear, nil)
	}
	rules := insertRules{Field: t.Release.Rules.Field, Username: t.Release.Username, Code: t.Release.Code, Origins: []string{}}
	if origin := s.view.currentOrigin(); t.Release.Rules.Allows(origin) {
		rules.Origins = append(rules.Origins, origin)
	}
	for range maxJudgements {
		text := ""
		if len(rules.Origins) > 0 {
			text = t.Text
			p.noteReleased(*t.Release)
			if err := p.watchSecret(ctx, t.Release); err != nil {
				return insertion{}, err
			}
		}
		done, err := inHelper[insertion](ctx, s.view, secretInsertScript, text, t.Clear, rules)
		switch {
		case err != nil:
			return done, err
		case done.How == "denied":
			return done, deniedField(t, done.Why)
		case done.How != "ask":
			return done, nil
		}
		for _, place := range done.Places {
			if !t.Release.Rules.Allows(place.Origin) {
				return done, deniedPlace(t, place)
			}
			if !slices.Contains(rules.Origins, place.Origin) {
				rules.Origins = append(rules.Origins, place.Origin)
			}
		}
	}
	return insertion{}, routine.Errorf(routine.CodeSecretDenied, "the page changes where %q leads to again and again, so secret %s was not typed: "+
		"look what the page does with the field", t.Selector, t.Release.Secret)
}

// currentOrigin is the origin of the view's document; empty if it is not known.
func (v *frameView) currentOrigin() string {
	v.p.mu.Lock()
	defer v.p.mu.Unlock()
	return v.origin
}

// deniedPlace is the error for a field whose text would reach another host.
func deniedPlace(t routine.Typing, place secretPlace) error {
	hosts := strings.Join(t.Release.Rules.Hosts, ", ")
	if host, http := strings.CutPrefix(place.Origin, "http://"); http && t.Release.Rules.Allows("https://"+host) {
		return routine.Errorf(routine.CodeSecretDenied, "the field %q %s %s, which is not https, and secret %s is for %s: "+
			"use the https address of the site, or give the secret the host http://%s",
			t.Selector, place.What, routine.ShownURL(place.Origin), t.Release.Secret, hosts, host)
	}
	return routine.Errorf(routine.CodeSecretDenied, "the field %q %s %s, and secret %s is for %s: "+
		"correct the routine, or give the secret this host if the site is trusted",
		t.Selector, place.What, routine.ShownURL(strings.TrimPrefix(place.Origin, "https://")), t.Release.Secret, hosts)
}

// deniedField is the error for a field of a kind that the rules do not allow.
func deniedField(t routine.Typing, why string) error {
	if t.Release.Rules == nil {
		return routine.Errorf(routine.CodeElementNotActionable, "%q %s", t.Selector, why)
	}
	return routine.Errorf(routine.CodeSecretDenied, `the field %q %s, and secret %s is for %s with field_rule %q: `+
		`name another field, or set its field_rule to "any"`,
		t.Selector, why, t.Release.Secret, strings.Join(t.Release.Rules.Hosts, ", "), t.Release.Rules.Field)
}

// checkRelease returns an error if the secrets of t must not be typed anywhere.
func checkRelease(t routine.Typing) error {
	if t.Release == nil || t.Release.Rules == nil || t.Release.Rules.Field != routine.FieldNone {
		return nil
	}
	return routine.Errorf(routine.CodeSecretDenied, `secret %s is not typed into any field (field_rule "none"), also not into %q on %s: `+
		`use it in a request, or set its field_rule to "password"`, t.Release.Secret, t.Selector, strings.Join(t.Release.Rules.Hosts, ", "))
}
