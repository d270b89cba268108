package operation

import (
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// NeedsSite says why a run of the operations needs a page of the site, beyond an empty
// document of its origin. It is empty if the run needs none: then the operations only make
// requests to one origin, wait, read cookies and return what the requests stored. The
// definition alone decides, so that every run of a routine is made in the same way.
//
// A request that may change something on the site and that sends cookies needs the page,
// which may set the cookies that the site expects: if the site refuses such a request for
// lack of them, it must not be made again. See [routine.PageOptions] for the others.
//
// origin is that of the requests; empty if there are none, or if the run needs a page.
func NeedsSite(operations []routine.Operation) (need SiteNeed, origin string) {
	r := requestsOnly{stored: map[string]bool{}}
	for _, o := range operations {
		if need := r.add(o); need != NoSite {
			return need, ""
		}
	}
	return NoSite, r.origin
}

// SiteNeed is why a run needs a page of the site.
type SiteNeed string

const (
	// NoSite means that the run needs none.
	NoSite SiteNeed = ""
	// SiteForOperation means that an operation opens or uses a page.
	SiteForOperation SiteNeed = "operation"
	// SiteForPlaceholder means that a placeholder reads the page.
	SiteForPlaceholder SiteNeed = "placeholder"
	// SiteForValue means that an operation returns a value that no operation before it stores
	// under a fixed key. The page may have stored it.
	SiteForValue SiteNeed = "value"
	// SiteForOrigin means that the origin of a request is not known from the definition.
	SiteForOrigin SiteNeed = "origin"
	// SiteForSecondOrigin means that the requests go to several origins.
	SiteForSecondOrigin SiteNeed = "second origin"
	// SiteForChange means that a request that may change something on the site sends cookies.
	SiteForChange SiteNeed = "change"
)

// requestsOnly is what NeedsSite knows of the operations so far.
type requestsOnly struct {
	origin string          // of the requests; empty before the first
	stored map[string]bool // the keys of the values that are stored
}

// add returns why an operation needs a page of the site.
func (r *requestsOnly) add(o routine.Operation) SiteNeed {
	k, _ := KindOf(o.Type())
	if !k.RequestsOnly {
		return SiteForOperation
	}
	op, err := Decode(o)
	if err != nil {
		return SiteForOperation // it fails as on any page
	}
	if r.readsPage(op) {
		return SiteForPlaceholder
	}
	if q, ok := op.(requesting); ok {
		if need := r.request(q.request()); need != NoSite {
			return need
		}
	}
	if key := LoadedKey(op); key != "" && !r.stored[key] {
		return SiteForValue
	}
	if key := StoredKey(op); key != "" && !HasToken(key) {
		r.stored[key] = true
	}
	return NoSite
}

// readsPage reports whether a placeholder of an operation may read the page. The values that
// the run has stored are not read from there.
func (r *requestsOnly) readsPage(op Action) bool {
	reads := false
	EachTemplate(op, func(s Site) {
		if reads || !strings.Contains(s.Text, "{{") {
			return
		}
		t, _ := placeholder.Parse(s.Text, s.Place)
		for _, token := range t.Tokens() {
			switch token.Source {
			case placeholder.Parameter, placeholder.UUID, placeholder.EpochMilliseconds, placeholder.Secret, placeholder.TOTP,
				placeholder.SentCode:
			case placeholder.SessionStorage:
				reads = reads || !r.holds(token.Name)
			default:
				reads = true
			}
		}
	})
	return reads
}

// holds reports whether the run has stored the value that a path of {{sessionStorage:…}}
// begins with.
func (r *requestsOnly) holds(path string) bool {
	if r.stored[path] {
		return true
	}
	key, _, _ := strings.Cut(path, ".")
	return r.stored[key]
}

// request returns why a request needs a page of the site.
func (r *requestsOnly) request(e *endpoint) SiteNeed {
	origin, fixed := fixedOrigin(e.URL)
	switch {
	case !fixed, origin == "" && r.origin == "":
		return SiteForOrigin
	case r.origin == "":
		r.origin = origin
	case origin != "" && origin != r.origin:
		return SiteForSecondOrigin
	}
	if ChangesSite(e.Method) && e.Credentials != "omit" {
		return SiteForChange
	}
	return NoSite
}

// webOrigin is the beginning of a URL whose origin no placeholder can change.
var webOrigin = regexp.MustCompile(`^(?i:https?)://[A-Za-z0-9.:\[\]-]+(?:[/?#]|$)`)

// fixedOrigin returns the origin of a request's URL, or an empty string for a path from the
// root of the site. It returns false for other relative URLs, and if a placeholder decides.
func fixedOrigin(text string) (origin string, fixed bool) {
	text = routine.WithoutUser(text)
	head, _, filled := strings.Cut(text, "{{")
	if strings.HasPrefix(head, "/") && !strings.HasPrefix(head, "//") && !strings.HasPrefix(head, `/\`) {
		return "", true
	}
	found := webOrigin.FindString(head)
	bare := strings.TrimRight(found, "/?#")
	if filled && found == bare { // a placeholder follows the host
		return "", false
	}
	u, err := url.Parse(bare)
	if err != nil || u.Host == "" {
		return "", false
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + host, true
}
