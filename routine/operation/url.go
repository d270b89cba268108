package operation

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// webURL returns an error unless s is an absolute http or https URL. Runs open no
// others.
func webURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return routine.Errorf(routine.CodeNavigationFailed, "%q is no URL: give an absolute http or https URL", routine.ShownURL(s))
	}
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" {
		return routine.Errorf(routine.CodeNavigationFailed, "%q is not an http or https URL: only these can be opened", routine.ShownURL(s))
	}
	if u.Host == "" {
		return routine.Errorf(routine.CodeNavigationFailed, "%q names no host: give an absolute http or https URL", routine.ShownURL(s))
	}
	return nil
}

// header returns the value of a header whose name matches in any case.
func header(headers map[string]string, name string) string {
	for k, v := range headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

var (
	schemeOf = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	hostPath = regexp.MustCompile(`^(?i:www\.[a-z0-9.-]+|(?:[a-z0-9-]+\.)+(?:com|org|net|example|test|io|dev|app|gov|edu|[a-z]{2}))(?::[0-9]+)?/`)
)

// foreignSchemes are those that a run never opens. Another word before a colon
// may be a host.
var foreignSchemes = map[string]bool{"file": true, "javascript": true, "data": true, "ftp": true, "about": true, "blob": true, "chrome": true,
	"view-source": true, "mailto": true, "ws": true, "wss": true}

// ForeignScheme is that of a URL which no run opens; empty: it has none.
func ForeignScheme(url string) string {
	if m := schemeOf.FindStringSubmatch(strings.TrimSpace(url)); m != nil && foreignSchemes[strings.ToLower(m[1])] {
		return m[1]
	}
	return ""
}

// doubtfulRequestURL says what is wrong with the URL of a request, which may be
// relative to the page.
func doubtfulRequestURL(url string) (message, hint string) {
	head, _, _ := strings.Cut(url, "{{")
	switch scheme := ForeignScheme(head); {
	case scheme != "":
		return fmt.Sprintf("%s: is not http or https: the run will fail here", scheme), ""
	case hostPath.MatchString(head):
		return "is a path below the current page's", fmt.Sprintf("did you mean %q?", "https://"+routine.Truncate(url, 60))
	}
	return "", ""
}

// HasToken reports whether a text has a placeholder.
func HasToken(text string) bool {
	t, _ := placeholder.Parse(text, placeholder.Text)
	return !t.Literal()
}
