package requests

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// finder finds a text in requests.
type finder struct {
	mask *mask
	text string // in lower case, with single spaces
	// numbers are the spellings without separators of the number that the text is.
	numbers []string
}

func newFinder(text string, m *mask) *finder {
	return &finder{m, foldText(text), numberSpellings(text)}
}

// foldText is a text in lower case with single spaces, so that texts of the page are found
// in the answers that they come from.
func foldText(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(routine.PlainText(text)), " "))
}

var (
	oneNumber = regexp.MustCompile(`^[^\d.,]{0,6}?(\d[\d.,' \x{a0}\x{202f}]*)[^\d.,]{0,6}$`)
	anyNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// numberSpellings are the ways in which JSON may have the number that a page shows: "19.00
// €" is 19.00, 19 and, in cents, 1900; "1,234" is 1234 and 1.234. nil if the text is not
// one number.
func numberSpellings(text string) []string {
	found := oneNumber.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return nil
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' || r == ',' {
			return r
		}
		return -1
	}, found[1])
	digits = strings.TrimRight(digits, ".,")
	bare := strings.NewReplacer(".", "", ",", "").Replace(digits)
	all := map[string]bool{trimZeros(bare): true}
	if i := strings.LastIndexAny(digits, ".,"); i >= 0 {
		whole := strings.NewReplacer(".", "", ",", "").Replace(digits[:i])
		all[trimZeros(whole+"."+digits[i+1:])] = true
	}
	var list []string
	for s := range all {
		list = append(list, s)
	}
	return list
}

// trimZeros is a decimal number in its shortest form.
func trimZeros(number string) string {
	if f, err := strconv.ParseFloat(number, 64); err == nil && len(number) <= 15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return number
}

// searched is a text that texts are found in.
type searched struct {
	folded  string
	numbers map[string]bool // in their shortest form
}

// search prepares a body or an answer: as it is, and with the escapes of JSON decoded.
// Secrets are not searched, so that nobody finds them out by guessing.
func (m *mask) search(text []byte) searched {
	all := string(text)
	if strings.Contains(all, `\`) {
		if tree := parseJSON(text); tree != nil {
			var b strings.Builder
			tree.walk(nil, func(_ []step, n *node) bool { b.WriteString("\n" + n.text); return true })
			all += b.String()
		}
	}
	if m.holds(all) {
		all = m.secrets(all)
	}
	s := searched{foldText(all), map[string]bool{}}
	for _, number := range anyNumber.FindAllString(all, -1) {
		s.numbers[trimZeros(number)] = true
	}
	return s
}

// in reports whether the text is in the URL, the body or the answer of a request.
func (f *finder) in(r *routine.Request) bool {
	if f.text == "" {
		return true
	}
	address := r.URL
	if plain, err := url.QueryUnescape(address); err == nil {
		address += "\n" + plain
	}
	body := r.Body
	for _, field := range formFields(r) {
		body += "\n" + field.value
	}
	return f.found(f.mask.search([]byte(address))) || f.found(f.mask.search([]byte(body))) || f.found(f.mask.search(r.Answer))
}

func (f *finder) found(in searched) bool {
	return strings.Contains(in.folded, f.text) || slices.ContainsFunc(f.numbers, func(n string) bool { return in.numbers[n] })
}

// minSameData is the share of the texts that an answer must have to hold the same data.
const minSameData = 0.8

// WithData returns the number of the last request whose answer has at least 80 % of the
// texts of a row that was extracted from the page; 0 if there is none. row is a JSON object
// or a text.
func WithData(log routine.RequestLog, row json.RawMessage, secrets []string) int {
	texts := map[string]bool{}
	if tree := parseJSON(row); tree != nil {
		tree.walk(nil, func(_ []step, n *node) bool {
			if text := strings.TrimSuffix(strings.TrimSpace(n.text), "…"); n.kind == '"' && len(text) >= 2 {
				texts[text] = true
			}
			return true
		})
	}
	if len(texts) < 2 {
		return 0 // one text may be anywhere
	}
	m := newMask(secrets)
	for i := len(log.Requests) - 1; i >= 0; i-- {
		r := &log.Requests[i]
		if len(r.Answer) == 0 {
			continue
		}
		found, answer := 0, m.search(r.Answer)
		for text := range texts {
			if newFinder(rowText(text), m).found(answer) {
				found++
			}
		}
		if float64(found) >= minSameData*float64(len(texts)) {
			return r.Number
		}
	}
	return 0
}

// labelled matches a number that the page shows with its label, as in "In stock: 12".
var labelled = regexp.MustCompile(`^\pL[\pL ]{0,30}:\s*(\d[\d.,]*)$`)

// rowText is the part of an extracted text that an answer would have: of the URL of a link
// the end of its path, of a number with its label the number.
func rowText(text string) string {
	if number := labelled.FindStringSubmatch(text); number != nil {
		return number[1]
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Path == "" {
		return text
	}
	path := strings.TrimRight(u.Path, "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" {
		return last
	}
	return text
}
