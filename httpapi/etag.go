package httpapi

import (
	"net/http"
	"strings"
)

// notModified reports whether a GET or HEAD request names the current ETag of
// the response in If-None-Match (RFC 9110, section 13.1.2). The comparison is
// weak: W/"1" and "1" are the same. An empty etag, of a response without one,
// matches nothing.
func notModified(r *http.Request, etag string) bool {
	if etag == "" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	list := strings.Join(r.Header.Values("If-None-Match"), ",")
	if strings.TrimSpace(list) == "*" {
		return true
	}
	for {
		tag, rest, ok := nextETag(list)
		if !ok {
			return false
		}
		if strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
		list = rest
	}
}

// nextETag splits the first entity tag from a list. A tag may contain commas
// between its quotes. ok is false at the end of the list and where the list is
// malformed.
func nextETag(list string) (tag, rest string, ok bool) {
	list = strings.TrimLeft(list, ", \t")
	opening := 0
	if strings.HasPrefix(list, "W/") {
		opening = 2
	}
	if len(list) <= opening || list[opening] != '"' {
		return "", "", false
	}
	length := strings.IndexByte(list[opening+1:], '"')
	if length < 0 {
		return "", "", false
	}
	end := opening + 1 + length + 1
	return list[:end], list[end:], true
}
