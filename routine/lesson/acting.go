package lesson

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/operation"
	"rote/routine/requests"
)

// maxRequestLines is how many requests the answer to an operation names.
const maxRequestLines = 8

// maxActing bounds how many requests of one operation are named as acting.
const maxActing = 5

// unknownRequests is in the list of acting requests of an operation whose requests could not
// all be seen: any of them may have changed something on the site.
const unknownRequests = "requests that are not known"

// noteRequests adds to k and step the requests that the page made since the last operation.
// began is when k began to act: earlier requests belong to the operation before it.
func (l *lesson) noteRequests(ctx context.Context, k *keptOperation, step *Step, began time.Time) {
	k.login = l.logsIn(k)
	first := l.lastRequest
	log, unseen := l.newRequests(ctx)
	own := slices.IndexFunc(log.Requests, func(r routine.Request) bool { return r.SentAt.IsZero() || !r.SentAt.Before(began) })
	if own < 0 {
		own = len(log.Requests)
	}
	late, mine := log.Requests[:own], log.Requests[own:]
	if before := l.lastActive; before != nil && before != k {
		l.charge(before, late)
		if len(late) > 0 && before.lastRequest == first {
			first = late[len(late)-1].Number
			before.lastRequest = first
		}
		if isPassive(k.operation) || k.awaited && !k.login { // then the one before may have sent it after a while
			l.charge(before, mine)
		}
		if unseen {
			before.addActing(unknownRequests)
		}
	} else {
		l.charge(k, late)
	}
	k.firstRequest, k.lastRequest = first+1, l.lastRequest
	step.Requests = requests.Lines(log.Requests, l.session.Secrets(), maxRequestLines)
	if !isPassive(k.operation) || l.lastActive == nil {
		l.charge(k, mine)
		if unseen {
			k.addActing(unknownRequests)
		}
		l.lastActive = k
	}
}

// noteLateRequests adds to the last operation the requests that the page has made since it
// ended.
func (l *lesson) noteLateRequests(ctx context.Context) {
	k := l.lastActive
	if k == nil || l.page == nil || l.lost != nil {
		return
	}
	log, unseen := l.newRequests(ctx)
	l.charge(k, log.Requests)
	if unseen {
		k.addActing(unknownRequests)
	}
}

// missRequests notes that the page died before it could be asked for the requests of k, and
// for late ones of the operation before it.
func (l *lesson) missRequests(k *keptOperation) {
	if l.lastActive != nil {
		l.lastActive.addActing(unknownRequests)
	}
	if !isPassive(k.operation) {
		k.addActing(unknownRequests)
	}
}

// newRequests returns the requests that the page made since it was last asked. unseen reports
// whether there may be others, because the page did not answer or has not kept them all.
func (l *lesson) newRequests(ctx context.Context) (_ routine.RequestLog, unseen bool) {
	log, err := l.page.Requests(ctx, l.lastRequest)
	if err != nil {
		return routine.RequestLog{}, true
	}
	next := l.lastRequest + 1 // the oldest are dropped first
	unseen = log.Dropped > l.droppedRequests && (len(log.Requests) == 0 || log.Requests[0].Number > next)
	l.droppedRequests = log.Dropped
	for _, r := range log.Requests {
		l.lastRequest = max(l.lastRequest, r.Number)
	}
	return log, unseen
}

// isPassive reports whether an operation only waits or reads, so that the page sends nothing
// because of it.
func isPassive(o routine.Operation) bool {
	switch o.Type() {
	case "sleep", "wait_for_url", "return", "return_html", "get_cookies":
		return true
	}
	return false
}

// charge names the requests of an operation that may have changed something on the site:
// those with other methods than GET, HEAD and OPTIONS that the page sent to its own
// site, or that a fetch or download made. Those of a log-in do not count, and no queries of
// GraphQL.
func (l *lesson) charge(k *keptOperation, rs []routine.Request) {
	if k.login {
		return
	}
	for i := range rs {
		r := &rs[i]
		if requests.Safe(r) || !r.ByOperation && !sameSite(r.PageURL, r.URL) {
			continue
		}
		k.addActing(l.session.Mask(r.Method + " " + routine.Truncate(pathOf(r.URL), 80)))
	}
}

// addActing adds a request to the acting ones. That there are unknown ones says nothing more
// of an operation that is known to act.
func (k *keptOperation) addActing(name string) {
	if name == unknownRequests && len(k.acting) > 0 {
		return
	}
	if !slices.Contains(k.acting, name) && len(k.acting) < maxActing {
		k.acting = append(k.acting, name)
	}
}

// logsIn reports whether an operation submitted a form with a password field: by a click in
// it, or by a key after something was typed into it. A button that by its name deletes, pays
// or the like is no log-in: it only asks for the password.
func (l *lesson) logsIn(k *keptOperation) bool {
	if k.element != nil {
		return k.element.InLoginForm && candidate.Destructive("", k.element.Target.Name) == ""
	}
	return k.operation.Type() == "press" && l.typedInLoginForm
}

// actingOperation is an operation that may change something on the site when it is proved.
type actingOperation struct {
	index int
	does  string // as in "does POST /orders again when proved"
}

// actingOperations returns the operations that may change something on the site when the
// lesson is saved and proved, in order.
func (l *lesson) actingOperations() []actingOperation {
	var all []actingOperation
	for i, k := range l.kept {
		if len(k.acting) > 0 {
			all = append(all, actingOperation{i, fmt.Sprintf("does %s again when proved", strings.Join(k.acting, ", "))})
		}
	}
	for i, k := range l.remaining {
		if operation.EffectOf(k.operation) == operation.EffectChanges {
			all = append(all, actingOperation{len(l.kept) + i, fmt.Sprintf("(%s) was not tried and may change something", k.summary())})
		}
	}
	return all
}

// sameSite reports whether two URLs have the same registrable domain.
func sameSite(a, b string) bool {
	one, err1 := url.Parse(a)
	other, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && siteOf(one.Hostname()) == siteOf(other.Hostname())
}

// siteOf returns the registrable domain of a host, or the host if it has none.
func siteOf(host string) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// pathOf is the path of a URL.
func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.EscapedPath() == "" {
		return "/"
	}
	return u.EscapedPath()
}

// originOf is the scheme and the host of a URL.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Scheme + "://" + u.Host
}
