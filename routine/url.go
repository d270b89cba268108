package routine

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// originWithUser is the beginning of a URL that carries a user name: its scheme,
// and the user name and password.
var originWithUser = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#\\\s]*)@`)

// ShownURL is a URL as messages show it: without user name and password, and
// with at most MaxShownURL characters.
func ShownURL(url string) string { return Truncate(WithoutUser(url), MaxShownURL) }

// WithoutUser leaves the user name and the password out of a URL.
func WithoutUser(url string) string { return originWithUser.ReplaceAllString(url, "$1") }

// BasicCredentials is the Authorization header for the user name and password that
// a URL carries, empty if there are none.
func BasicCredentials(of string) string {
	found := originWithUser.FindStringSubmatch(of)
	if found == nil || found[2] == "" {
		return ""
	}
	user, password, _ := strings.Cut(found[2], ":")
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(unescaped(user)+":"+unescaped(password)))
}

// unescaped decodes percent-encoded text. Text that is encoded wrongly stays as it is.
func unescaped(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		return decoded
	}
	return text
}

// DescribeStatus says which HTTP status a URL was answered with. For 401 it adds
// how credentials are given.
func DescribeStatus(url string, status int) string {
	text := fmt.Sprintf("%s answered with HTTP status %d", ShownURL(url), status)
	if status == 401 {
		text += ". It needs credentials: set an Authorization header on fetch or download, " +
			"navigate to https://user:password@host/, or log in on the site first."
	}
	return text
}
