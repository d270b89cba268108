package operation

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
)

// opGetCookies is the operation get_cookies. Its fields are described in
// schemas/operations/get_cookies.json.
type opGetCookies struct {
	SessionKey   string `json:"session_storage_key" fill:"text"`
	DomainFilter string `json:"domain_filter" fill:"text"`
}

func (o *opGetCookies) storesKey() string { return o.SessionKey }

// filterTokens are placeholders, with the quotes around one that filling
// removes.
var filterTokens = regexp.MustCompile(`"?\{\{[^{}]*\}\}"?`)

// warnings warns of a filter that can match nothing. It is no error: routines with
// such a filter are stored, and they run.
func (o *opGetCookies) warnings() []routine.Problem {
	if o.DomainFilter == "" {
		return nil // said by the schema
	}
	if _, fault := parseDomainFilter(filterTokens.ReplaceAllString(o.DomainFilter, "a")); fault != "" {
		return []routine.Problem{{Pointer: "/domain_filter", Code: "domain_filter", Message: fault + ", so it matches no cookie",
			Hint: `write a domain, which also takes its subdomains, as in "shop.example", or "*" for all cookies`}}
	}
	return nil
}

func (o *opGetCookies) Do(ctx context.Context, r *Run) error {
	cookies, err := r.Page.Cookies(ctx)
	if err != nil {
		return err
	}
	filter, fault := parseDomainFilter(o.DomainFilter)
	kept := []routine.Cookie{}
	for _, c := range cookies {
		if fault == "" && filter.matches(c.Domain) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 && o.DomainFilter != "*" {
		r.Warn(noCookie(o.DomainFilter, fault, cookies))
	}
	kept = r.Secrets.HideCookies(kept)
	r.SetDetail("cookies", len(kept))
	// Not mirrored: HttpOnly values stay out of the page's reach.
	return r.store(ctx, o.SessionKey, routine.JSONText(kept), false)
}

// maxShownDomains bounds how many domains a warning names.
const maxShownDomains = 5

// noCookie returns the warning that a filter matched no cookie.
func noCookie(filter, fault string, cookies []routine.Cookie) string {
	text := fmt.Sprintf("domain_filter %s matches no cookie", routine.Quote(routine.Truncate(filter, 80)))
	if fault != "" {
		return text + ": it " + fault
	}
	var domains []string
	for _, c := range cookies {
		domains = append(domains, strings.TrimPrefix(c.Domain, "."))
	}
	slices.Sort(domains)
	domains = slices.Compact(domains)
	if len(domains) == 0 {
		return text + ": there are no cookies"
	}
	if more := len(domains) - maxShownDomains; more > 0 {
		domains = append(domains[:maxShownDomains], fmt.Sprintf("%d more", more))
	}
	return text + ": there are cookies of " + strings.Join(domains, ", ")
}

// domainFilter selects the cookies of a domain and its subdomains. An empty filter
// selects all.
type domainFilter string

// domainPattern is a host name in ASCII, an underscore included, which cookies
// of real sites have.
var domainPattern = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

// parseDomainFilter reads a filter: *, or a domain in any case and script, which may
// begin with a dot or "*.". fault says why text is not a filter; empty if it is.
func parseDomainFilter(text string) (f domainFilter, fault string) {
	if text == "*" {
		return "", ""
	}
	domain := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "*"), "."), ".")
	if strings.HasPrefix(text, "*") && !strings.HasPrefix(text, "*.") {
		return "", "has a * that is not the whole of it or followed by a dot"
	}
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(domain, "["), "]")); err == nil && addr.Is6() {
		return domainFilter("[" + addr.String() + "]"), "" // as browsers write it
	}
	switch {
	case strings.Contains(domain, "://"):
		return "", "is a URL instead of a domain"
	case strings.ContainsAny(domain, "/?#@"):
		return "", "has parts of a URL besides the domain"
	case strings.Contains(domain, ":"):
		return "", "has a port, which cookies do not have"
	case strings.Contains(domain, "*"):
		return "", "has a * inside the domain"
	case strings.ContainsAny(domain, " \t\r\n,;"):
		return "", "is more than one domain, or has white space"
	}
	ascii, err := routine.HostNames.ToASCII(domain)
	if err != nil || !domainPattern.MatchString(ascii) {
		return "", "is no domain"
	}
	return domainFilter(ascii), ""
}

// matches reports whether a cookie's domain, which may begin with a dot, is the
// filter's or below it.
func (f domainFilter) matches(domain string) bool {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	return f == "" || domain == string(f) || strings.HasSuffix(domain, "."+string(f))
}
