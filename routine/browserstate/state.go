// Package browserstate has the saved state of a browser, which a person or a run leaves for
// later runs: cookies and local storage. It knows the format in which rote keeps one, and those
// in which other programs export one.
package browserstate

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// Limits of a saved state.
const (
	MaxBytes   = 4 << 20
	MaxOrigins = 100
)

// State is the cookies and the local storage of a browser.
type State struct {
	Cookies []Cookie `json:"cookies"`
	// Storage has each origin once.
	Storage []Origin `json:"storage"`
}

// Cookie is a cookie as Storage.setCookies of the DevTools protocol takes it.
type Cookie struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Domain starts with a dot. It is empty if the cookie is for one host only, which URL has
	// then.
	Domain       string          `json:"domain,omitempty"`
	URL          string          `json:"url,omitempty"`
	Path         string          `json:"path"`
	Expires      float64         `json:"expires,omitempty"` // Unix seconds; 0 for a session cookie
	Secure       bool            `json:"secure"`
	HTTPOnly     bool            `json:"httpOnly"`
	SameSite     string          `json:"sameSite,omitempty"`
	Priority     string          `json:"priority,omitempty"`
	SourceScheme string          `json:"sourceScheme,omitempty"`
	SourcePort   int             `json:"sourcePort,omitempty"`
	PartitionKey json.RawMessage `json:"partitionKey,omitempty"`
}

// Origin is the local storage of a site. Items are [key, value] pairs as a page's
// JSON.stringify writes them. They are not decoded, because a text may contain what Go strings
// cannot, such as half a surrogate pair.
type Origin struct {
	Origin string          `json:"origin"`
	Items  json.RawMessage `json:"items"`
}

// Parse reads a state that Encode has written. No text is an empty state. Its lists are not nil.
func Parse(text []byte) (*State, error) {
	s := &State{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("read the saved state: %w", err)
		}
	}
	s.Cookies, s.Storage = append([]Cookie{}, s.Cookies...), append([]Origin{}, s.Storage...)
	return s, nil
}

// Encode returns the state as a text for Parse. CodeResultTooLarge if it has more than MaxBytes.
func (s *State) Encode() ([]byte, error) {
	text, err := routine.EncodeJSON(s)
	if err == nil && len(text) > MaxBytes {
		err = routine.Errorf(routine.CodeResultTooLarge, "cookies and local storage have %d bytes, at most %d are kept", len(text), MaxBytes)
	}
	return text, err
}

// ParseCookies reads the answer of a browser to Storage.getCookies.
func ParseCookies(answer []byte) ([]Cookie, error) {
	var all struct {
		Cookies []Cookie `json:"cookies"`
	}
	if err := json.Unmarshal(answer, &all); err != nil {
		return nil, fmt.Errorf("read the cookies: %w", err)
	}
	for i := range all.Cookies {
		c := &all.Cookies[i]
		c.Expires = max(c.Expires, 0)
		if !strings.HasPrefix(c.Domain, ".") {
			c.ForHost(c.Domain)
		}
	}
	return all.Cookies, nil
}

// ForHost makes the cookie one for a single host, as a browser writes it.
func (c *Cookie) ForHost(host string) {
	scheme := "http"
	if c.Secure {
		scheme = "https"
	}
	c.URL, c.Domain = (&url.URL{Scheme: scheme, Host: host, Path: c.Path}).String(), ""
}

// Host returns the host of the cookie, or the domain without its dot.
func (c *Cookie) Host() string {
	if c.Domain != "" {
		return strings.TrimPrefix(c.Domain, ".")
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Keep divides the state into what belongs to the hosts, in the notation of a secret's hosts,
// and the rest. A cookie belongs to them if they allow the host that it is for. One for a domain
// belongs to the host of that name, and to "*." with it. A cookie has no port.
func (s *State) Keep(hosts []string) (kept, rest *State) {
	rules := &routine.SecretRules{Hosts: hosts}
	kept, rest = &State{}, &State{}
	for _, c := range s.Cookies {
		into := rest
		if rules.AllowsCookie(c.Host(), c.Domain != "") {
			into = kept
		}
		into.Cookies = append(into.Cookies, c)
	}
	for _, o := range s.Storage {
		into := rest
		if rules.Allows(o.Origin) {
			into = kept
		}
		into.Storage = append(into.Storage, o)
	}
	return kept, rest
}

// Empty reports whether the state has nothing.
func (s *State) Empty() bool { return len(s.Cookies)+len(s.Storage) == 0 }

// HiddenValues returns the values of the cookies that pages cannot read (HttpOnly), without
// duplicates and empty ones.
func (s *State) HiddenValues() []string {
	var values []string
	for _, c := range s.Cookies {
		if c.HTTPOnly && c.Value != "" {
			values = append(values, c.Value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// Expiry returns when the first cookie expires that pages cannot read (HttpOnly), because a
// login depends on such ones. It is nil if none expires.
func (s *State) Expiry() *time.Time {
	var first *time.Time
	for _, c := range s.Cookies {
		if !c.HTTPOnly || c.Expires <= 0 {
			continue
		}
		if at := time.UnixMicro(int64(c.Expires * 1e6)).UTC(); first == nil || at.Before(*first) {
			first = &at
		}
	}
	return first
}

// Count is how much of a state belongs to a host.
type Count struct {
	// Host has a port only in the count of a site's local storage.
	Host    string `json:"host"`
	Cookies int    `json:"cookies"`
	// Storage reports whether the host has local storage.
	Storage bool `json:"local_storage"`
}

// Counts returns how much of the state belongs to each host, by host.
func (s *State) Counts() []Count {
	counts := []Count{}
	of := func(host string) *Count {
		i := slices.IndexFunc(counts, func(c Count) bool { return c.Host == host })
		if i < 0 {
			i, counts = len(counts), append(counts, Count{Host: host})
		}
		return &counts[i]
	}
	for _, c := range s.Cookies {
		of(c.Host()).Cookies++
	}
	for _, o := range s.Storage {
		if _, host, ok := strings.Cut(o.Origin, "://"); ok {
			of(host).Storage = true
		}
	}
	slices.SortFunc(counts, func(a, b Count) int { return strings.Compare(a.Host, b.Host) })
	return counts
}
