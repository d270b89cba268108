package browserstate

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"rote/routine"
)

// Limits of an imported state, which are those of browsers.
const (
	maxCookies        = 3000
	maxCookiesPerSite = 150
	maxCookieBytes    = 4096
	maxPathBytes      = 1024
	maxProblems       = 20
	maxUserAgent      = 1000
)

// longestCookie is the longest time for which a browser keeps a cookie.
const longestCookie = 400 * 24 * time.Hour

// Imported is a state that another program has exported.
type Imported struct {
	State *State
	// Hosts and UserAgent are what the text itself gives for the session; empty: nothing.
	Hosts     []string
	UserAgent string
	// Warnings name what the text has and the state has not.
	Warnings []routine.Problem
}

// Import reads a state in one of two formats, which it tells apart by the content: a storage
// state as Playwright exports it (JSON), and cookies.txt of Netscape. The JSON object may also
// have "hosts" and "user_agent". Cookies that have expired at the time now are left out.
//
// CodeInvalid with problems if the text has another shape, is larger than MaxBytes, or has what
// a browser would not take as it is.
func Import(text []byte, now time.Time) (*Imported, error) {
	r := &reader{now: now, state: &State{Cookies: []Cookie{}, Storage: []Origin{}}, sites: map[string]int{}, cookies: map[string]bool{}}
	got := &Imported{State: r.state}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch first := routine.FirstByte(text); {
	case len(text) > MaxBytes:
		r.add(place{}, "too_large", fmt.Sprintf("the state has %d bytes, and at most %d are read", len(text), MaxBytes))
	case !utf8.Valid(text):
		r.add(place{}, "value", "the state is not UTF-8 text")
	case first == '{':
		r.readJSON(text, got)
	case first == '[':
		r.add(place{}, "type", shapes+"; an array of cookies, as some browser extensions export it, is neither: let the extension export cookies.txt")
	default:
		r.readLines(string(text))
	}
	if len(r.problems) == 0 && r.state.Empty() && len(got.Warnings) == 0 && r.expired == 0 {
		r.add(place{}, "required", "the state has no cookie and no local storage: export it after logging in")
	}
	if len(r.problems) > 0 {
		return nil, routine.Invalid("state", r.problems)
	}
	if r.expired > 0 {
		got.Warnings = append(got.Warnings, routine.Problem{Code: "expired", Message: fmt.Sprintf("%d cookies have expired and were left out", r.expired)})
	}
	return got, nil
}

// shapes says what Import reads.
const shapes = `a state is a JSON object as Playwright's storageState gives it, {"cookies": […], "origins": […]}, or a cookies.txt of Netscape`

// place is the position of a part of the text: a JSON pointer, or a line of cookies.txt.
type place struct {
	pointer string
	line    int
}

// field returns the place of a member of an object.
func (p place) field(name string) place {
	if p.line == 0 {
		p.pointer += "/" + name
	}
	return p
}

// reader collects a state and its problems.
type reader struct {
	now      time.Time
	state    *State
	problems []routine.Problem
	expired  int
	// sites counts the cookies by registrable domain, and cookies has the identities of all.
	sites   map[string]int
	cookies map[string]bool
}

func (r *reader) add(at place, code, message string) {
	if len(r.problems) == maxProblems {
		return
	}
	if at.line > 0 {
		message = fmt.Sprintf("line %d: %s", at.line, message)
	}
	r.problems = append(r.problems, routine.Problem{Pointer: at.pointer, Line: at.line, Code: code, Message: message})
}

// addCookie adds a cookie of a domain, which starts with a dot, or of a host. c has the rest.
func (r *reader) addCookie(at place, c Cookie, domain string) {
	written, below := strings.CutPrefix(domain, ".")
	faults := len(r.problems)
	host := canonicalHost(written)
	switch {
	case host == "":
		r.add(at.field("domain"), "value", "the domain must be a host, as in shop.example, or .shop.example with those below it, not "+quote(domain))
	case !below:
		c.ForHost(host)
	case isAddress(host) || isSuffix(host):
		r.add(at.field("domain"), "value", "browsers keep no cookie for all hosts below "+quote(host)+": leave out the dot to make it one of that host")
	default:
		c.Domain = "." + host
	}
	if wrong := wrongInCookie(&c); wrong != nil {
		r.add(at.field(wrong.field), "value", wrong.message)
	}
	if len(r.problems) > faults {
		return
	}
	if c.Expires > 0 {
		if c.Expires <= float64(r.now.Unix()) {
			r.expired++
			return
		}
		c.Expires = min(c.Expires, float64(r.now.Add(longestCookie).Unix()))
	}
	r.count(at, &c, host)
	r.state.Cookies = append(r.state.Cookies, c)
}

// count adds a problem if a cookie is there already, or if a browser would not keep so many.
func (r *reader) count(at place, c *Cookie, host string) {
	site := host
	if registrable, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		site = registrable
	}
	switch id := c.identity(); {
	case r.cookies[id]:
		r.add(at, "duplicate", "there are two cookies "+quote(c.Name)+" of "+quote(host)+" with this path: leave one out")
	case len(r.cookies) == maxCookies:
		r.add(at, "too_large", fmt.Sprintf("there are more than %d cookies: leave out those of other sites", maxCookies))
	case r.sites[site] == maxCookiesPerSite:
		r.add(at, "too_large", fmt.Sprintf("%s has more than %d cookies, which is more than browsers keep", site, maxCookiesPerSite))
	default:
		r.cookies[id] = true
		r.sites[site]++
	}
}

// canonicalHost returns a host without a port as a browser writes it; "" if it is none.
func canonicalHost(text string) string {
	name, port, ok := routine.SplitHost(text)
	switch {
	case !ok, port != "", strings.HasSuffix(text, "."):
		return ""
	case strings.Contains(name, ":"):
		return "[" + name + "]"
	}
	return name
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// isSuffix reports whether many owners have sites below a name, so that no cookie is for all.
func isSuffix(name string) bool {
	suffix, listed := publicsuffix.PublicSuffix(name)
	return suffix == name && listed
}

// plainPath are the paths that a browser keeps as they are.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._~!$&'()*+,=:@-]*$`)

// cookieFault is a fault in one field of a cookie.
type cookieFault struct{ field, message string }

// wrongInCookie returns what a browser would refuse in a cookie, or change; nil if there is
// nothing.
func wrongInCookie(c *Cookie) *cookieFault {
	name := quote(c.Name)
	promises := func(prefix string) bool { return strings.HasPrefix(strings.ToLower(c.Name), prefix) }
	for _, rule := range []struct {
		broken         bool
		field, message string
	}{
		{c.Name == "", "name", "the cookie has no name"},
		{unfit(c.Name) || strings.Contains(c.Name, "="), "name", "the name " + name + ` has a control character, ";", "=" or white space at an end`},
		{unfit(c.Value), "value", "the value of cookie " + name + ` has a control character, ";" or white space at an end`},
		{len(c.Name)+len(c.Value) > maxCookieBytes, "value", fmt.Sprintf("name and value of cookie %s have more than %d bytes", name, maxCookieBytes)},
		{!plainPath.MatchString(c.Path) || len(c.Path) > maxPathBytes || hasDots(c.Path), "path",
			"the path " + quote(c.Path) + ` is not one as browsers keep it, as in "/" or "/shop"`},
		{!slices.Contains([]string{"", "Strict", "Lax", "None"}, c.SameSite), "sameSite", "sameSite must be Strict, Lax or None"},
		{c.SameSite == "None" && !c.Secure, "sameSite", "browsers keep a cookie with sameSite None only if it is secure"},
		{len(c.PartitionKey) > 0 && !c.Secure, "partitionKey", "browsers keep a cookie with a partitionKey only if it is secure"},
		{promises("__secure-") && !c.Secure, "name", "browsers keep cookie " + name + " only if it is secure"},
		{promises("__host-") && (!c.Secure || c.Domain != "" || c.Path != "/"), "name",
			"browsers keep cookie " + name + " only if it is secure, for one host and for the path /"},
		{(promises("__http-") || promises("__host-http-")) && (!c.Secure || !c.HTTPOnly), "name",
			"browsers keep cookie " + name + " only if it is secure and httpOnly"},
	} {
		if rule.broken {
			return &cookieFault{rule.field, rule.message}
		}
	}
	return nil
}

// unfit reports whether a browser does not keep a name or value of a cookie as it is.
func unfit(text string) bool {
	return strings.Trim(text, " \t") != text || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == ';' || c == utf8.RuneError })
}

// hasDots reports whether a browser would shorten a path.
func hasDots(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(step string) bool { return step == "." || step == ".." })
}

// quote quotes the start of a text in a message.
func quote(text string) string { return routine.Quote(routine.Truncate(text, 80)) }
