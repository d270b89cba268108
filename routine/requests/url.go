package requests

import (
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
)

var (
	dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(?:T[0-9:.,+Z-]*)?$|^\d{2}[./]\d{2}[./]\d{4}$`)
	intForm  = regexp.MustCompile(`^-?\d{1,19}$`)
	hashForm = regexp.MustCompile(`^(?i)[0-9a-f]{12,}$`)
)

const (
	maxPathPart = 60  // characters of one part of a path that are shown
	maxShownURL = 160 // characters of a URL's template
)

// placeKind is the word for a value in a URL: int, uuid, date or str.
func placeKind(value string) string {
	switch {
	case intForm.MatchString(value):
		return "int"
	case uuidForm.MatchString(value):
		return "uuid"
	case dateForm.MatchString(value):
		return "date"
	}
	return "str"
}

// urlTemplate is a URL as a list shows it: its path, with its host unless it is that of
// the page, and with the kinds of the values in place of query values and of path parts
// that are numbers, uuids, dates or hashes.
func urlTemplate(address, pageURL string, m *mask) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return routine.Truncate(routine.OneLine(routine.PlainText(m.text(routine.WithoutUser(address)))), maxShownURL)
	}
	var b strings.Builder
	if !sameOrigin(address, pageURL) {
		b.WriteString(u.Scheme + "://" + m.text(u.Host))
	}
	for i, part := range strings.Split(u.EscapedPath(), "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(pathPart(part, m))
	}
	if u.EscapedPath() == "" {
		b.WriteByte('/')
	}
	for i, pair := range splitQuery(u.RawQuery) {
		b.WriteByte("?&"[min(i, 1)])
		name := routine.Truncate(shownURLText(m.text(pair.name)), maxName)
		switch {
		case pair.value == "":
			b.WriteString(name)
		case secretName(pair.name):
			b.WriteString(name + "=" + routine.Masked)
		default:
			b.WriteString(name + "={" + placeKind(pair.value) + "}")
		}
	}
	return routine.Truncate(b.String(), maxShownURL)
}

// pathPart is one part of a path, percent-encoded, or the kind of its value.
func pathPart(part string, m *mask) string {
	plain := unescapePath(part)
	switch {
	case plain == "":
		return ""
	case placeKind(plain) != "str":
		return "{" + placeKind(plain) + "}"
	case hashForm.MatchString(plain) && strings.ContainsAny(plain, "0123456789"), opaque(plain):
		return "{str}"
	}
	return routine.Truncate(shownURLText(m.text(plain)), maxPathPart)
}

// shownURLText is a text as it stands in a URL, with the mask as it is.
func shownURLText(text string) string {
	parts := strings.Split(text, routine.Masked)
	for i, p := range parts {
		parts[i] = (&url.URL{Path: p}).EscapedPath()
		parts[i] = strings.ReplaceAll(strings.TrimPrefix(parts[i], "./"), "/", "%2F")
	}
	return strings.Join(parts, routine.Masked)
}

func unescapePath(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Host != "" && strings.EqualFold(x.Host, y.Host) && strings.EqualFold(x.Scheme, y.Scheme)
}

// pair is one name and value, decoded, of a query or a form. raw is how the query has it.
type pair struct{ name, value, raw string }

// splitQuery splits a query or a form body, in order. Faulty encodings stay as they are.
func splitQuery(query string) []pair {
	var all []pair
	for _, raw := range strings.Split(query, "&") {
		if raw == "" {
			continue
		}
		name, value, _ := strings.Cut(raw, "=")
		all = append(all, pair{unescapeQuery(name), unescapeQuery(value), raw})
	}
	return all
}

func unescapeQuery(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
