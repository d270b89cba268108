package routine

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// SecretHost is one of the hosts to which a secret may go.
type SecretHost struct {
	// name is as a browser writes it: in lower case and ASCII. An IPv6 address has no brackets.
	name string
	// subdomains reports whether the hosts below name are meant, and not name itself.
	subdomains bool
	port       string // empty: any
	// plain reports whether http is as good as https.
	plain bool
}

// ParseSecretHost reads a host of a secret: "host", "*.host", "host:port", or one of them after
// "http://" if the site has no https. It refuses what covers sites of several owners: "*",
// ranges of addresses, and public suffixes such as "co.uk" and "github.io". Its errors are
// sentences that say what to write instead.
func ParseSecretHost(text string) (SecretHost, error) {
	refused := func(why string) (SecretHost, error) {
		return SecretHost{}, fmt.Errorf("host %q: %s", Truncate(text, MaxShownURL), why)
	}
	rest, plain := strings.CutPrefix(text, "http://")
	if strings.Contains(rest, "://") {
		return refused("leave out the scheme, unless it is http://")
	}
	if _, err := netip.ParsePrefix(rest); err == nil {
		return refused("a secret cannot be for a range of addresses: write each host")
	}
	rest, subdomains := strings.CutPrefix(rest, "*.")
	name, port, ok := SplitHost(rest)
	switch _, err := netip.ParseAddr(name); {
	case !ok:
		return refused("write host, *.host, host:port or http://host, without a path and without a user name")
	case subdomains && err == nil:
		return refused("an address has no subdomains: leave out the *.")
	case err != nil && isPublicSuffix(name, subdomains):
		return refused("many owners have sites below it: write the host of the site, such as shop." + name)
	}
	return SecretHost{name: name, subdomains: subdomains, port: port, plain: plain}, nil
}

// SplitHost returns a host as a browser writes it, without the brackets of an IPv6 address and
// without a dot at its end, and the port; false if it is none or is written in a way that a
// browser would change into an address.
func SplitHost(text string) (name, port string, ok bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`*/\?#@%`, r) }) {
		return "", "", false
	}
	if address, err := netip.ParseAddr(text); err == nil { // IPv6 without brackets
		return address.String(), "", true
	}
	host := text
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') {
		host, port = text[:at], text[at+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", "", false
		}
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		address, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return address.String(), port, err == nil && address.Is6() && strings.HasSuffix(inner, "]")
	}
	name, err := HostNames.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || slices.Contains(strings.Split(name, "."), "") || strings.ContainsAny(name, ":[]") {
		return "", "", false
	}
	if _, err := netip.ParseAddr(name); err != nil && isNumeric(name) {
		return "", "", false
	}
	return name, port, true
}

// isNumeric reports whether a browser reads a host as an IPv4 address: its last part is a
// number.
func isNumeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
}

// isPublicSuffix reports whether sites of several owners may be below the name. With
// subdomains, the name of an unknown top-level domain counts too.
func isPublicSuffix(name string, subdomains bool) bool {
	suffix, listed := publicsuffix.PublicSuffix(name)
	return suffix == name && name != "localhost" && (listed || subdomains || strings.Contains(name, "."))
}

// String returns the host in its usual spelling, which ParseSecretHost reads.
func (h SecretHost) String() string {
	text := h.name
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	if h.subdomains {
		text = "*." + text
	}
	if h.port != "" {
		text += ":" + h.port
	}
	if h.plain {
		text = "http://" + text
	}
	return text
}

// Allows reports whether the secret may go to an origin or to a URL, by its scheme and host
// alone. It must be an https URL, or an http URL of a loopback host or of a host that Hosts has
// with "http://". A URL with user information is refused, and so is a name with a dot at its
// end, which browsers treat as another site.
func (r *SecretRules) Allows(origin string) bool {
	if strings.ContainsAny(origin, "\\\t\r\n") {
		return false
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || strings.HasSuffix(u.Hostname(), ".") || strings.HasSuffix(u.Host, ":") {
		return false
	}
	name, port, ok := SplitHost(u.Host)
	if !ok {
		return false
	}
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return slices.ContainsFunc(r.Hosts, func(text string) bool {
		h, err := ParseSecretHost(text)
		return err == nil && h.matches(name, port) && (u.Scheme == "https" || h.plain || isLoopback(name))
	})
}

// AllowsCookie reports whether a cookie of a host belongs to Hosts, or with domain one of that
// domain, which is written without the dot in front. Ports and schemes do not matter.
func (r *SecretRules) AllowsCookie(host string, domain bool) bool {
	name, _, ok := SplitHost(host)
	return ok && slices.ContainsFunc(r.Hosts, func(text string) bool {
		h, err := ParseSecretHost(text)
		return err == nil && (h.matches(name, h.port) || domain && h.subdomains && name == h.name)
	})
}

func (h SecretHost) matches(name, port string) bool {
	if h.port != "" && h.port != port {
		return false
	}
	return name == h.name && !h.subdomains || h.subdomains && strings.HasSuffix(name, "."+h.name)
}

// isLoopback reports whether a host is always the machine itself.
func isLoopback(name string) bool {
	address, err := netip.ParseAddr(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && address.IsLoopback()
}
