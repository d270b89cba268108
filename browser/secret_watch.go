package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/spelling"
)

// secretWatch are the stored secrets that a run has typed into its pages. From then on the
// sessions of the run pause all requests, and one that has such a secret, in any of the
// spellings, and leads to a host that is not the secret's is refused. The service workers of the
// pages are bypassed, because what they ask for pauses no page.
//
// The watch lasts until the run ends: a page can keep a copy, and send it when it is left. It
// does not see WebSockets, WebRTC, prefetches over https, what workers of several pages ask for,
// and copies that a page has changed in another way. Only a secret that confines the run stops
// these. A value never changes; the run's first page keeps it.
type secretWatch struct{ secrets []*secretSearch }

// minWatched is the length in bytes of the shortest text that is searched in requests. A
// shorter one would be found in most of them.
const minWatched = 4

// secretSearch finds the texts of a release.
type secretSearch struct {
	release *routine.Release
	written []string // in all spellings
}

func newSecretSearch(r *routine.Release) *secretSearch {
	s := &secretSearch{release: r}
	for _, text := range r.Texts {
		if text != "" {
			s.written = append(s.written, spelling.All(string(text))...)
		}
	}
	return s
}

// finds reports whether the text has one of the secrets, also after percent-encoding.
func (s *secretSearch) finds(text string) bool {
	decoded := routine.DecodedURL(text)
	return slices.ContainsFunc(s.written, func(w string) bool { return strings.Contains(text, w) || strings.Contains(decoded, w) })
}

// foundIn reports whether a request has one of the secrets.
func (s *secretSearch) foundIn(e *pausedHop) bool {
	if s.finds(e.Request.URL) {
		return true
	}
	for name, value := range e.Request.Headers {
		if s.finds(name) || s.finds(value) {
			return true
		}
	}
	var body []byte
	for _, piece := range e.Request.Body {
		body = append(body, piece.Bytes...)
	}
	return s.finds(string(body))
}

// watchSecret makes the run refuse requests that have a stored secret and lead to a host that
// is not the secret's. It is called before the secret is typed into a page, and returns when
// the requests of that page are paused.
func (p *page) watchSecret(ctx context.Context, r *routine.Release) error {
	if r.Rules == nil {
		return nil
	}
	if err := p.confine(r); err != nil {
		return err
	}
	watched := *r
	watched.Texts = slices.DeleteFunc(slices.Clone(r.Texts), func(t routine.Hidden) bool { return len(t) < minWatched })
	first := p.first()
	first.mu.Lock()
	before, now := first.watch.Load(), &secretWatch{}
	if before != nil {
		now.secrets = slices.Clip(before.secrets)
	}
	if slices.ContainsFunc(now.secrets, func(s *secretSearch) bool {
		return s.release.Secret == r.Secret && slices.Equal(s.release.Texts, watched.Texts)
	}) {
		first.mu.Unlock()
		return nil
	}
	now.secrets = append(now.secrets, newSecretSearch(&watched))
	first.watch.Store(now)
	first.mu.Unlock()
	if before != nil {
		return nil
	}
	p.proxy.FetchAhead(false)
	for _, own := range append(p.openPopups(), first) {
		if own == p {
			continue
		}
		for _, f := range own.pauseForWatch() {
			f.Forget()
		}
	}
	for _, f := range p.pauseForWatch() {
		if _, err := p.Await(ctx, f); err != nil && !p.usable() {
			return err
		}
	}
	return nil
}

// pauseForWatch makes the sessions of a page and of its frames pause all requests, and the
// page's requests bypass its service worker. It returns the answers, which may be errors for
// frames that are gone.
func (p *page) pauseForWatch() []*cdp.Future {
	pause := proto.FetchEnable{Patterns: p.pausePatterns()}
	asked := p.SendAll(pause, proto.NetworkSetBypassServiceWorker{Bypass: true})
	for _, session := range (guardAdapter{p}).FrameSessions() {
		asked = append(asked, p.i.client.Send(session, pause.ProtoReq(), pause))
	}
	return asked
}

// isWatched reports whether the run watches its requests for secrets. It takes no lock.
func (p *page) isWatched() bool { return p.first().watch.Load() != nil }

// leak is the secret that a paused request would carry to a host which is not the secret's; nil
// if there is none. It runs on the reading goroutine.
func (p *page) leak(e *pausedHop) *routine.Release {
	var all []*secretSearch
	if w := p.first().watch.Load(); w != nil {
		all = w.secrets
	}
	if sent := p.sending.Load(); sent != nil && sent.search.release.Rules != nil {
		all = append(slices.Clip(all), sent.search)
	}
	to, err := url.Parse(e.Request.URL)
	if len(all) == 0 || err == nil && to.Scheme != "http" && to.Scheme != "https" { // it reaches no host
		return nil
	}
	for _, s := range all {
		if !s.release.Rules.Allows(e.Request.URL) && s.foundIn(e) {
			return s.release
		}
	}
	return nil
}

// confine limits what the run may reach from now on to the hosts of a secret that says so.
func (p *page) confine(r *routine.Release) error {
	if r.Rules == nil || !r.Rules.Confine {
		return nil
	}
	hosts := make([]string, len(r.Rules.Hosts))
	for i, host := range r.Rules.Hosts {
		hosts[i] = strings.TrimPrefix(host, "http://")
	}
	if err := p.proxy.Confine(hosts, "it is outside the hosts of secret "+r.Secret+", to which the run is confined"); err != nil {
		return routine.Errorf(routine.CodeSecretDenied, "the hosts of secret %s: %w", r.Secret, err)
	}
	return nil
}

// noteLeak notes a request that was refused because of a secret, for Denials, and if it was that
// of a document, for refusedDocument.
func (p *page) noteLeak(e *pausedHop, r *routine.Release) {
	why := fmt.Sprintf("the request has secret %s, which is for %s", r.Secret, hostsOf(r))
	p.proxy.Deny(e.Request.URL, fmt.Sprintf("%s: %s", routine.CodeSecretDenied, why))
	if e.Type == proto.NetworkResourceTypeDocument {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.denials.leaking = e.Request.URL
		p.denials.leak = routine.Errorf(routine.CodeSecretDenied, "%s could not be opened: %s", routine.ShownURL(e.Request.URL), why)
	}
}
