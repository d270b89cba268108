package placeholder

import (
	"regexp"
	"slices"
	"strings"
)

// What a browser reads as a URL's parts is decided on the plain text alone; a
// value is then encoded, or refused, so that it stays inside its part.
//
// A URL that is one token is taken whole. A token that leads and is followed by
// a slash, a question mark or a hash sign is the base of the rest. A leading
// token before anything else is the start of a relative path: it cannot be
// a scheme or a host.

// urlShape is what is known of a URL template.
type urlShape struct {
	t    *Template
	hole int // the next hole that has no put yet
	// scheme, host and segments are what has holes in it and must be judged
	// when filled. A segment is a part of the path between slashes.
	scheme, host []piece
	segments     [][]piece
	relative     bool // neither scheme nor host
}

var (
	webScheme  = regexp.MustCompile(`^(?i:https?|wss?|ftp)$`)
	urlBase    = regexp.MustCompile(`^(?i:https?)://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]+)?(/[^?#\\]*)?$`)
	blankInURL = regexp.MustCompile(`[\x00- ]`)
	whiteInURL = strings.NewReplacer("\t", "", "\n", "", "\r", "")
)

func (t *Template) placeURL() {
	if t.Literal() {
		return
	}
	t.trimURL()
	text := t.joined()
	if text == string([]byte{gap}) {
		t.holes[0].put = func(v any) (string, string) { return Format(v), "" }
		return
	}
	s := &urlShape{t: t}
	s.path(s.origin(text))
	t.whole = s.judge
}

// trimURL drops the white space that a browser drops, and encodes what it would
// encode: beside an empty value that would be dropped, too.
func (t *Template) trimURL() {
	for i := range t.texts {
		t.texts[i] = whiteInURL.Replace(t.texts[i])
	}
	blank := func(r rune) bool { return r <= ' ' }
	last := len(t.texts) - 1
	t.texts[0] = strings.TrimLeftFunc(t.texts[0], blank)
	t.texts[last] = strings.TrimRightFunc(t.texts[last], blank)
	for i, text := range t.texts {
		t.texts[i] = blankInURL.ReplaceAllStringFunc(text, func(c string) string { return percent(c, "") })
	}
}

// origin reads base, scheme and authority and returns the rest, with the put
// for the first segment of its path.
func (s *urlShape) origin(text string) (string, put) {
	if text[0] == gap && len(text) > 1 && strings.IndexByte(`/?#\`, text[1]) >= 0 {
		s.next(putBase(text[1] == '/' || text[1] == '\\'))
		return text[1:], putPath
	}
	if i := strings.IndexAny(text, `:/\?#`); i >= 0 && text[i] == ':' && isScheme(text[:i]) {
		scheme, rest := text[:i], text[i+1:]
		s.scheme = s.pieces(scheme, putScheme(strings.HasPrefix(rest, "//")))
		if s.scheme == nil && !webScheme.MatchString(scheme) {
			s.pieces(rest, putOther)
			return "", nil
		}
		return s.authority(strings.TrimLeft(rest, `/\`)), putPath
	}
	if len(text) > 1 && isSlash(text[0]) && isSlash(text[1]) {
		return s.authority(strings.TrimLeft(text, `/\`)), putPath
	}
	s.relative = true
	if isSlash(text[0]) {
		return text, putPath
	}
	return text, putFirstSegment
}

// isScheme tells what can be a scheme when its gaps are filled.
func isScheme(text string) bool {
	for i, c := range []byte(text) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == gap
		if !letter && (i == 0 || strings.IndexByte("0123456789+.-", c) < 0) {
			return false
		}
	}
	return text != ""
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// authority reads user, host and port and returns the rest.
func (s *urlShape) authority(text string) string {
	rest := ""
	if i := strings.IndexAny(text, `/\?#`); i >= 0 {
		text, rest = text[:i], text[i:]
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		s.pieces(text[:i], putAuthority)
		text = text[i+1:]
	}
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	first := s.hole
	s.host = s.pieces(host, putAuthority)
	if n := len(host); n > 1 && host[n-1] == gap && host[n-2] != '.' && host[n-2] != gap && s.hole > first {
		s.t.holes[s.hole-1].put = putLabelEnd
	}
	s.pieces(port, putPort)
	return rest
}

// path reads path, query and fragment.
func (s *urlShape) path(text string, put put) {
	end := len(text)
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		end = i
	}
	path, rest := text[:end], text[end:]
	for path != "" {
		n := strings.IndexAny(path, `/\`)
		if n < 0 {
			n = len(path)
		}
		if segment := s.pieces(path[:n], put); segment != nil {
			s.segments = append(s.segments, segment)
		}
		path, put = path[min(n+1, len(path)):], putPath
	}
	s.pieces(rest, putQuery)
}

// pieces gives every hole in the text its put. It returns the text as pieces,
// or nil when there is no hole in it.
func (s *urlShape) pieces(text string, put put) []piece {
	parts := strings.Split(text, string([]byte{gap}))
	if len(parts) == 1 {
		return nil
	}
	pieces := []piece{{parts[0], -1}}
	for _, part := range parts[1:] {
		pieces = append(pieces, piece{"", s.hole}, piece{part, -1})
		s.next(put)
	}
	return pieces
}

func (s *urlShape) next(p put) {
	s.t.holes[s.hole].put = p
	s.hole++
}

const reasonDots = "a value cannot make a dot segment or a control character of a URL's path"

// judge looks at what values and plain text make together.
func (s *urlShape) judge(text string, parts []string) (string, []blame) {
	var found []blame
	if s.scheme != nil && !s.t.open(s.scheme, parts) {
		if scheme, hole := assemble(s.scheme, parts); !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			found = append(found, blame{hole, reasonScheme})
		}
	}
	if s.host != nil {
		if host, hole := assemble(s.host, parts); strings.Trim(host, ".") == "" {
			found = append(found, blame{hole, "value not allowed in URL authority: it leaves the host empty"})
		}
	}
	nothing := make([]string, len(parts))
	for _, segment := range s.segments {
		filled, hole := assemble(segment, parts)
		plain, _ := assemble(segment, nothing) // what is wrong with that is the author's
		if isDotSegment(filled) || encodedControl.MatchString(filled) && !encodedControl.MatchString(plain) {
			found = append(found, blame{hole, reasonDots})
		}
	}
	if s.relative && len(text) > 1 && isSlash(text[0]) && isSlash(text[1]) {
		if i := slices.Index(parts, ""); i >= 0 {
			found = append(found, blame{i, "an empty value would turn the path's next part into a host"})
		}
	}
	return text, found
}
