package routine

import (
	"context"
	"strings"
)

type opGetCookies struct {
	SessionKey   string `json:"session_storage_key" fill:"text"`
	DomainFilter string `json:"domain_filter" fill:"text"`
}

func (o *opGetCookies) storesKey() string { return o.SessionKey }

func (o *opGetCookies) Do(ctx context.Context, r *Run) error {
	cookies, err := r.page.Cookies(ctx)
	if err != nil {
		return err
	}
	kept := []Cookie{}
	for _, c := range cookies {
		if matchDomain(c.Domain, o.DomainFilter) {
			kept = append(kept, c)
		}
	}
	r.hideCookies(kept)
	r.detail("cookies", len(kept))
	// Not mirrored: HttpOnly values stay out of the page's reach.
	return r.store(ctx, o.SessionKey, compact(kept), false)
}

// matchDomain tells whether a cookie's domain is filter or below it. A leading
// dot on either is of no meaning.
func matchDomain(domain, filter string) bool {
	if filter == "*" {
		return true
	}
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	filter = strings.ToLower(strings.TrimPrefix(filter, "."))
	return domain == filter || strings.HasSuffix(domain, "."+filter)
}
