package routine

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// HostNames maps the names of hosts as browsers do.
var HostNames = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// originWithUser matches the beginning of a URL with user information: its scheme
// (group 1), and the user name and password (group 2).
var originWithUser = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#\\\s]*)@`)

// ShownURL returns a URL as messages show it: without user name and password, and
// truncated to MaxShownURL characters.
func ShownURL(url string) string { return Truncate(WithoutUser(url), MaxShownURL) }

// WithoutUser removes the user name and the password from a URL.
func WithoutUser(url string) string { return originWithUser.ReplaceAllString(url, "$1") }

// BasicCredentials returns the Authorization header for the user name and password of
// a URL, or an empty string if it has none.
func BasicCredentials(of string) string {
	found := originWithUser.FindStringSubmatch(of)
	if found == nil || found[2] == "" {
		return ""
	}
	user, password, _ := strings.Cut(found[2], ":")
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(unescaped(user)+":"+unescaped(password)))
}

// unescaped decodes percent-encoded text. It returns text with a faulty encoding
// unchanged.
func unescaped(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		return decoded
	}
	return text
}

// DecodedURL returns a URL for a comparison: with spaces and other characters in one
// spelling.
func DecodedURL(u string) string { return unescaped(strings.ReplaceAll(u, "+", "%20")) }

// DescribeStatus says with which HTTP status a URL was answered. For 401 it adds how
// to give credentials.
func DescribeStatus(url string, status int) string {
	text := fmt.Sprintf("%s answered with HTTP status %d", ShownURL(url), status)
	if status == 401 {
		text += ". It needs credentials: set an Authorization header on fetch or download, " +
			"navigate to https://user:password@host/, or log in on the site first."
	}
	return text
}
