package engine

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/spelling"
)

// SessionCookies says which cookies of a run belong to its saved session. The values of those that
// pages cannot read (HttpOnly) are masked like stored secrets in everything that the run gives,
// and are sent to the hosts of the session only.
type SessionCookies struct {
	// Name is the name of the session, and Hosts are its hosts.
	Name  string
	Hosts []string
	// Values are those of the HttpOnly cookies with which the run starts.
	Values []string
}

// owns reports whether a cookie is an HttpOnly cookie of the session. There may be no session.
func (s *SessionCookies) owns(c routine.Cookie) bool {
	if s == nil || !c.HTTPOnly {
		return false
	}
	host, domain := strings.CutPrefix(c.Domain, ".")
	return (&routine.SecretRules{Hosts: s.Hosts}).AllowsCookie(host, domain)
}

// hideSessionValues makes values of the session's cookies hidden in everything that the run gives, as
// they are and decoded.
func (r *runner) hideSessionValues(values []string) {
	var all []string
	for _, value := range values {
		if !r.hiddenCookies[value] {
			r.hiddenCookies[value] = true
			all = append(all, spelling.Cookie(value)...)
		}
	}
	if len(all) > 0 {
		r.hidden, r.stored = r.hidden.with(all), r.stored.with(all)
	}
}

// hideNewCookies hides the values of the session's cookies that the operation has set. While a
// document holds a typed secret the cookies cannot be read, but neither can anything else.
func (r *runner) hideNewCookies(ctx context.Context) {
	if r.session == nil {
		return
	}
	cookies, err := r.Page.Cookies(ctx)
	if err == nil {
		r.hideSessionCookies(cookies)
	}
}

// hideSessionCookies hides the values of those cookies that belong to the session.
func (r *runner) hideSessionCookies(cookies []routine.Cookie) {
	var values []string
	for _, c := range cookies {
		if r.session.owns(c) {
			values = append(values, c.Value)
		}
	}
	r.hideSessionValues(values)
}

// sessionCookie returns the value of an HttpOnly cookie of the session that the browser would
// send to the current page; false if the token stands for none. The operation gets the
// permission to send it to the session's hosts. CodeSecretDenied if the token is at a place where
// no secret may be.
func (r *runner) sessionCookie(ctx context.Context, t placeholder.Token, s operation.Site, of *placeholder.Template) (string, bool, error) {
	if r.session == nil || t.Source != placeholder.Cookie {
		return "", false, nil
	}
	cookies, err := r.Page.SentCookies(ctx)
	if err != nil {
		return "", false, err
	}
	at := slices.IndexFunc(cookies, func(c routine.Cookie) bool { return c.Name == t.Name })
	if at < 0 || !r.session.owns(cookies[at]) || cookies[at].Value == "" {
		return "", false, nil
	}
	i := slices.IndexFunc(of.Tokens(), func(other placeholder.Token) bool { return other.Offset == t.Offset })
	if !operation.TakesSecret(r.Record.Type, s, of, i, false) {
		return "", true, routine.Errorf(routine.CodeSecretDenied, "%s is not allowed in %s, because it is a cookie of session %s that pages cannot read: "+
			"it can be typed or sent like a secret", t.Raw, s.Pointer, r.session.Name)
	}
	r.HideCookies(cookies[at : at+1])
	text := cookies[at].Value
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	rules := &routine.SecretRules{Hosts: r.session.Hosts, Field: routine.FieldAny, Requests: true}
	r.use.release, err = combine(r.use.release, &routine.Release{Secret: "cookie " + t.Name + " of session " + r.session.Name, Rules: rules,
		Texts: []routine.Hidden{routine.Hidden(text)}})
	return text, true, err
}
