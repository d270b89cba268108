package draft

import (
	"net/url"
	"regexp"
	"strings"

	"rote/routine/requests"
)

// maxKeptValue is the length of the longest value that a pattern of URLs keeps from the query.
const maxKeptValue = 20

// URLRegex returns the pattern of URLs to wait for: the URL of the recording, without secrets and
// without long values of its query. It returns false if that is no URL of a site.
func URLRegex(raw string) (string, bool) {
	at := origin.FindString(raw)
	if at == "" {
		return "", false
	}
	rest, _, _ := strings.Cut(raw[len(at):], "#")
	start := "^" + regexp.QuoteMeta(at)
	if u, err := url.Parse(at); err != nil || u.User != nil || strings.ContainsAny(u.Host, "<>{}$ ") {
		start = ""
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if requests.IsSecret("", s) || strings.Contains(s, "{{") {
			segments[i] = "[^/?#]+"
		} else {
			segments[i] = regexp.QuoteMeta(s)
		}
	}
	pattern := start + strings.Join(segments, "/")
	if !hasQuery {
		return pattern + "($|[?#])", pattern != ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		pairs[i] = regexp.QuoteMeta(pair)
		if len(value) > maxKeptValue || IsSecret(key, value) || strings.Contains(pair, "{{") {
			pairs[i] = regexp.QuoteMeta(strings.ReplaceAll(key, "{{", "")) + "=[^&#]*"
		}
	}
	return pattern + `\?` + strings.Join(pairs, "&"), true
}
