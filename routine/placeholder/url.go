package placeholder

import (
	"regexp"
	"slices"
	"strings"
)

// urlParser finds the contexts of the holes in a URL template.
//
// How a browser splits a URL into parts is decided on the plain text alone. A
// value is encoded or rejected so that it stays inside its part. A URL that is
// exactly one token is used unchanged. A leading token before a slash, a
// question mark or a hash sign is a base URL. Any other leading token starts a
// relative path: it cannot be a scheme or a host.
type urlParser struct {
	t        *Template
	nextHole int // the next hole without an escaper
	// scheme, host and segments are the parts with holes that must be checked after
	// they are filled. A segment is a part of the path between slashes.
	scheme, host []fragment
	segments     [][]fragment
	relative     bool // neither scheme nor host
}

var (
	webScheme  = regexp.MustCompile(`^(?i:https?|wss?|ftp)$`)
	urlBase    = regexp.MustCompile(`^(?i:https?)://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]+)?(/[^?#\\]*)?$`)
	blankInURL = regexp.MustCompile(`[\x00- ]`)
	whiteInURL = strings.NewReplacer("\t", "", "\n", "", "\r", "")
)

func (t *Template) prepareURL() {
	if t.Literal() {
		return
	}
	t.trimURL()
	t.findQuery()
	text := t.textWithHoleMarks()
	if text == string([]byte{holeMark}) {
		t.holes[0].escape = func(v any) (string, string) { return Format(v), "" }
		return
	}
	s := &urlParser{t: t}
	s.parsePath(s.parseOrigin(text))
	t.checkWhole = s.check
}

// trimURL removes the white space that a browser removes, and encodes the
// blanks that a browser would encode, because next to an empty value these
// would be removed too.
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

// parseOrigin parses base, scheme and authority. It returns the rest and the
// escaper for the first segment of the path.
func (s *urlParser) parseOrigin(text string) (string, escaper) {
	if text[0] == holeMark && len(text) > 1 && strings.IndexByte(`/?#\`, text[1]) >= 0 {
		s.setEscaper(escapeBaseURL(text[1] == '/' || text[1] == '\\'))
		return text[1:], escapePath
	}
	if i := strings.IndexAny(text, `:/\?#`); i >= 0 && text[i] == ':' && isScheme(text[:i]) {
		scheme, rest := text[:i], text[i+1:]
		s.scheme = s.splitHoles(scheme, escapeScheme(strings.HasPrefix(rest, "//")))
		if s.scheme == nil && !webScheme.MatchString(scheme) {
			s.splitHoles(rest, rejectInOpaqueURL)
			return "", nil
		}
		return s.parseAuthority(strings.TrimLeft(rest, `/\`)), escapePath
	}
	if len(text) > 1 && isSlash(text[0]) && isSlash(text[1]) {
		return s.parseAuthority(strings.TrimLeft(text, `/\`)), escapePath
	}
	s.relative = true
	if isSlash(text[0]) {
		return text, escapePath
	}
	return text, escapeFirstSegment
}

// isScheme reports whether text can be a scheme after its holes are filled.
func isScheme(text string) bool {
	for i, c := range []byte(text) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == holeMark
		if !letter && (i == 0 || strings.IndexByte("0123456789+.-", c) < 0) {
			return false
		}
	}
	return text != ""
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// parseAuthority parses user, host and port and returns the rest.
func (s *urlParser) parseAuthority(text string) string {
	rest := ""
	if i := strings.IndexAny(text, `/\?#`); i >= 0 {
		text, rest = text[:i], text[i:]
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		s.splitHoles(text[:i], escapeAuthority)
		text = text[i+1:]
	}
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	first := s.nextHole
	s.host = s.splitHoles(host, escapeAuthority)
	if n := len(host); n > 1 && host[n-1] == holeMark && host[n-2] != '.' && host[n-2] != holeMark && s.nextHole > first {
		s.t.holes[s.nextHole-1].escape = escapeHostEnd
	}
	s.splitHoles(port, escapePort)
	return rest
}

// parsePath parses path, query and fragment.
func (s *urlParser) parsePath(text string, put escaper) {
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
		if segment := s.splitHoles(path[:n], put); segment != nil {
			s.segments = append(s.segments, segment)
		}
		path, put = path[min(n+1, len(path)):], escapePath
	}
	s.splitHoles(rest, escapeQuery)
}

// splitHoles sets the escaper of every hole in text. It returns the text as
// fragments, or nil if it has no hole.
func (s *urlParser) splitHoles(text string, put escaper) []fragment {
	parts := strings.Split(text, string([]byte{holeMark}))
	if len(parts) == 1 {
		return nil
	}
	fragments := []fragment{{parts[0], -1}}
	for _, part := range parts[1:] {
		fragments = append(fragments, fragment{"", s.nextHole}, fragment{part, -1})
		s.setEscaper(put)
	}
	return fragments
}

func (s *urlParser) setEscaper(p escaper) {
	s.t.holes[s.nextHole].escape = p
	s.nextHole++
}

const reasonDotSegment = "a value cannot make a dot segment or a control character of a URL's path"

// check checks the parts that consist of values and plain text.
func (s *urlParser) check(text string, parts []string) (string, []rejection) {
	var found []rejection
	if s.scheme != nil && !s.t.hasUnresolvedToken(s.scheme, parts) {
		if scheme, hole := fillFragments(s.scheme, parts); !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			found = append(found, rejection{hole, reasonScheme})
		}
	}
	if s.host != nil {
		if host, hole := fillFragments(s.host, parts); strings.Trim(host, ".") == "" {
			found = append(found, rejection{hole, "value not allowed in URL authority: it leaves the host empty"})
		}
	}
	nothing := make([]string, len(parts))
	for _, segment := range s.segments {
		filled, hole := fillFragments(segment, parts)
		plain, _ := fillFragments(segment, nothing) // faults of the plain text are the author's
		if isDotSegment(filled) || encodedControl.MatchString(filled) && !encodedControl.MatchString(plain) {
			found = append(found, rejection{hole, reasonDotSegment})
		}
	}
	if s.relative && len(text) > 1 && isSlash(text[0]) && isSlash(text[1]) {
		if i := slices.Index(parts, ""); i >= 0 {
			found = append(found, rejection{i, "an empty value would turn the path's next part into a host"})
		}
	}
	return text, found
}
