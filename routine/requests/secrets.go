package requests

import (
	"cmp"
	"encoding/base64"
	"html"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"rote/routine"
	"rote/routine/operation"
)

var (
	credentialName = regexp.MustCompile("(?i)" + operation.CredentialPattern + "|passwd|passphrase|credential")
	passwordName   = regexp.MustCompile("(?i)password|passwd|passphrase|secret$")
	jwt            = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`)
	uuidForm       = regexp.MustCompile(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	opaqueRun      = regexp.MustCompile(`[A-Za-z0-9_+/=~.-]{32,}`)
)

// privateWords are the words of a name whose value is always secret, ambiguousWords those
// of a name whose value is secret only if it looks like a token: "key" may be the key of an
// API or of a sort order.
var (
	privateWords   = []string{"otp", "totp", "pin", "cvv", "cvc", "pwd", "pass", "jwt", "bearer"}
	ambiguousWords = []string{"card", "session", "sid", "signature", "sig", "key", "nonce", "auth", "iban"}
)

// words splits a name such as "X-CSRF-Token" or "cardNumber" into lower-case words.
func words(name string) []string {
	var all []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
			word = nil
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		word = append(word, r)
	}
	flush()
	return all
}

func hasWord(name string, of []string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(of, w) })
}

// secretName reports whether the values of a header, query parameter, form field or JSON
// member of this name are not shown.
func secretName(name string) bool {
	return credentialName.MatchString(name) || hasWord(name, privateWords) || hasWord(name, ambiguousWords)
}

// IsSecret reports whether a value that a person has typed or written under a name is a secret.
// Unlike a value of the page, any text under the name of a password is.
func IsSecret(name, value string) bool {
	return passwordName.MatchString(name) || secretValue(name, value)
}

// secretValue reports whether the value under a name must not become part of an operation.
// An ambiguous name alone does not make an ordinary word secret.
func secretValue(name, value string) bool {
	switch {
	case value == "":
		return false
	case opaque(value), hasWord(name, privateWords):
		return true
	case credentialName.MatchString(name):
		return len(value) > 4 || tokenLike(value)
	}
	return hasWord(name, ambiguousWords) && len(value) >= 6 && tokenLike(value)
}

// opaque reports whether a value is a JWT or has at least 32 characters of high entropy.
func opaque(value string) bool {
	return jwt.MatchString(value) || len(value) >= 32 && highEntropy(value)
}

// highEntropy reports whether a value looks random: without spaces, of many different
// characters, letters mixed with digits or capitals with small letters. A uuid, which
// mostly names something, and a URL do not.
func highEntropy(value string) bool {
	if opaqueRun.FindString(value) != value || strings.HasPrefix(value, "/") || uuidForm.MatchString(value) || isWordy(value) || hostName.MatchString(value) {
		return false
	}
	counts, digits, upper, lower := [128]int{}, 0, 0, 0
	for _, c := range []byte(value) {
		counts[c]++
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			entropy -= p * math.Log2(p)
		}
	}
	mixed := digits*10 >= len(value) && digits < len(value) || upper*5 >= len(value) && lower*5 >= len(value)
	return mixed && entropy >= 2.8
}

// hostName matches the name of a host with at least two dots.
var hostName = regexp.MustCompile(`^(?:[a-z0-9-]{1,24}\.){2,}[a-z]{2,12}$`)

// isWordy reports whether a value consists of words and numbers, as the name of a product
// in a URL or the path of a property does.
func isWordy(value string) bool {
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./=~+", r) })
	return !slices.ContainsFunc(parts, func(part string) bool {
		digits, changes := 0, 0
		for i := range len(part) {
			if part[i] >= '0' && part[i] <= '9' {
				digits++
			} else if i > 0 && isUpper(part[i]) != isUpper(part[i-1]) {
				changes++
			}
		}
		return digits == 0 && (len(part) > 20 || changes > 5) || digits > 0 && (digits < len(part) || digits > 8)
	})
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// tokenLike reports whether a value looks like an id or a token rather than like a word,
// a date or a version: it has digits among letters, or is long.
func tokenLike(value string) bool {
	if strings.ContainsAny(value, " \t\n") {
		return false
	}
	digits, letters, upper, lower := 0, 0, 0, 0
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
			} else {
				lower++
			}
		}
	}
	switch {
	case digits == 0:
		random := upper*3 >= letters && lower*3 >= letters || letters >= 32 && !strings.ContainsAny(value, "-_./")
		return letters >= 16 && random
	case letters == 0:
		return digits >= 6 && !dateForm.MatchString(value)
	}
	return !dateForm.MatchString(value)
}

// minReplaced is the length of the shortest secret that is replaced within longer texts. A
// shorter one is replaced only if it is the whole text: otherwise a PIN of two digits would
// garble everything.
const minReplaced = 3

// maxHarvested bounds the secrets that are collected from a log.
const maxHarvested = 1000

// mask replaces secrets in what is shown.
type mask struct {
	texts []string        // of at least minReplaced bytes, in lower case, the longest first
	short map[string]bool // shorter ones
	known map[string]bool // all of them, as they were given
}

// newMask returns a mask of the given texts. Their usual encodings are masked too.
func newMask(secrets []string) *mask {
	m := &mask{short: map[string]bool{}, known: map[string]bool{}}
	for _, s := range secrets {
		m.add(s)
		if len(s) >= 6 {
			m.texts = append(m.texts, lowerASCII(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=")),
				lowerASCII(strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(s)), "=")))
		}
	}
	m.sort()
	return m
}

// add adds a secret and its encodings in URLs, JSON and HTML.
func (m *mask) add(secret string) {
	if secret == "" || m.known[secret] {
		return
	}
	m.known[secret] = true
	if len(secret) < minReplaced {
		m.short[strings.ToLower(secret)] = true
		return
	}
	quoted := routine.JSONText(secret)
	all := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1], html.EscapeString(secret)}
	slices.Sort(all)
	for _, s := range slices.Compact(all) {
		m.texts = append(m.texts, lowerASCII(s))
	}
}

func (m *mask) sort() {
	slices.SortFunc(m.texts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m.texts = slices.Compact(m.texts)
}

// harvest adds the secrets that requests and their answers contain: values under secret
// names, JWTs, and long texts of high entropy. The request at the index first, which is
// shown, and then the others, the newest first, count towards the bound.
func (m *mask) harvest(all []routine.Request, first int) {
	see := func(name, value string) {
		if scheme := schemePrefix.FindString(value); scheme != "" {
			value = value[len(scheme):]
		}
		// A short word under such a name, as in "token_type": "bearer", would be masked
		// wherever it occurs.
		if len(m.known) < maxHarvested && len(value) >= 6 && secretValue(name, value) && (tokenLike(value) || opaque(value) || passwordName.MatchString(name)) {
			m.add(value)
		}
	}
	order := []int{first}
	for i := range slices.Backward(all) {
		order = append(order, i)
	}
	for _, i := range order {
		r := &all[i]
		for name, value := range r.Headers {
			see(name, value)
		}
		if u, err := url.Parse(r.URL); err == nil {
			for name, values := range u.Query() {
				for _, v := range values {
					see(name, v)
				}
			}
		}
		for _, tree := range []*node{bodyTree(r), answerTree(r)} {
			if tree != nil {
				tree.walk(nil, func(path []step, n *node) bool { see(nearestName(path), n.text); return true })
			}
		}
		for _, f := range formFields(r) {
			see(f.name, f.value)
		}
	}
	m.sort()
}

// lowerASCII lowers the letters A to Z and changes no byte offset.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// holds reports whether a text contains a secret.
func (m *mask) holds(text string) bool {
	low := lowerASCII(text)
	return m.short[low] || slices.ContainsFunc(m.texts, func(s string) bool { return strings.Contains(low, s) })
}

// text returns a text with its secrets and whatever is opaque in it replaced.
func (m *mask) text(s string) string {
	if m.short[lowerASCII(s)] {
		return routine.Masked
	}
	s = jwt.ReplaceAllString(m.secrets(s), routine.Masked)
	return opaqueRun.ReplaceAllStringFunc(s, func(run string) string {
		if highEntropy(run) {
			return routine.Masked
		}
		return run
	})
}

var urlQuery = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)

// MaskError returns the message of an error without the queries of URLs, which may have
// tokens, and with secrets and whatever looks like a token masked.
func MaskError(message string, secrets []string) string {
	return newMask(secrets).text(urlQuery.ReplaceAllString(message, "$1?…"))
}

// secrets returns a text with the known secrets replaced.
func (m *mask) secrets(s string) string {
	low := lowerASCII(s)
	var found [][2]int
	for _, secret := range m.texts {
		for at := 0; ; {
			i := strings.Index(low[at:], secret)
			if i < 0 {
				break
			}
			found = append(found, [2]int{at + i, at + i + len(secret)})
			at += i + len(secret)
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
	var b strings.Builder
	end := 0
	for _, f := range found {
		if f[0] >= end {
			b.WriteString(s[end:f[0]])
			b.WriteString(routine.Masked)
		}
		end = max(end, f[1])
	}
	b.WriteString(s[end:])
	return b.String()
}
