package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

const (
	// maxResults bounds how many sections a search finds.
	maxResults = 40
	// excerptBytes is about the length of the text that is shown of a section.
	excerptBytes = 240
)

// result is a section that a search has found.
type result struct {
	Title, Heading string
	// At is the page and the anchor, relative to /docs/.
	At      string
	Excerpt string
}

// sections cuts a page into parts that begin with a heading of the levels 1 to 3. Deeper
// headings belong to the part in which they are.
func sections(name string, document ast.Node, source []byte) []section {
	type start struct {
		section
		from, to int // of the heading's line in the source
	}
	var starts []start
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level > 3 || h.Lines().Len() == 0 {
			continue
		}
		line := h.Lines().At(0)
		id, _ := h.AttributeString("id")
		anchor, _ := id.([]byte)
		starts = append(starts, start{section{page: name, anchor: string(anchor), heading: plain(string(line.Value(source)))}, line.Start, line.Stop})
	}
	parts := make([]section, len(starts))
	for i, s := range starts {
		end := len(source)
		if i+1 < len(starts) {
			end = starts[i+1].from
		}
		s.title, s.text = starts[0].heading, strings.TrimRight(plain(string(source[s.to:end])), "# ")
		s.headingWords, s.textWords = words(s.title+" "+s.heading), words(s.text)
		parts[i] = s.section
	}
	return parts
}

var (
	markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	markdownMark = strings.NewReplacer("`", "", "**", "", "|", " ", "\n#", "\n", "\n", " ")
	spaces       = regexp.MustCompile(`\s+`)
)

// plain returns Markdown without its marks, for reading and for searching.
func plain(markdown string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(markdownMark.Replace(markdownLink.ReplaceAllString(markdown, "$1")), " "))
}

// search returns the sections in which each word of a query begins a word, in any letter case.
// Those with the query in their heading come first, then those with more of its words there,
// then those with the query in their text.
func search(query string) []result {
	phrase := words(query)
	type match struct {
		section
		phraseInHeading, wordsInHeading, phraseInText int
	}
	var matches []match
	for _, p := range all() {
		for _, s := range p.sections {
			m := match{section: s, phraseInHeading: strings.Count(s.headingWords, phrase), phraseInText: min(1, strings.Count(s.textWords, phrase))}
			found := true
			for w := range strings.FieldsSeq(phrase) {
				inHeading := strings.Contains(s.headingWords, " "+w)
				found = found && (inHeading || strings.Contains(s.textWords, " "+w))
				if inHeading {
					m.wordsInHeading++
				}
			}
			if found && phrase != " " {
				matches = append(matches, m)
			}
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.phraseInHeading, a.phraseInHeading), cmp.Compare(b.wordsInHeading, a.wordsInHeading),
			cmp.Compare(b.phraseInText, a.phraseInText), cmp.Compare(a.page, b.page), cmp.Compare(a.anchor, b.anchor))
	})
	results := make([]result, 0, min(len(matches), maxResults))
	for _, m := range matches[:min(len(matches), maxResults)] {
		r := result{Title: m.title, Heading: m.heading, At: m.page + "#" + m.anchor, Excerpt: excerpt(m.text, strings.Fields(phrase))}
		if m.page+".md" == index {
			r.At = "../docs#" + m.anchor
		}
		results = append(results, r)
	}
	return results
}

var notInWords = regexp.MustCompile(`[^\pL\pN_]+`)

// words returns the words of a text in lower case, with a space before each and nothing else
// between them.
func words(text string) string {
	return " " + strings.TrimSpace(notInWords.ReplaceAllString(strings.ToLower(text), " "))
}

// excerpt returns the part of a text around the first of the words that it has.
func excerpt(text string, words []string) string {
	at := 0
	if lower := strings.ToLower(text); len(lower) == len(text) {
		for _, w := range words {
			if i := strings.Index(lower, w); i >= 0 {
				at = i
				break
			}
		}
	}
	from, to := max(0, at-excerptBytes/3), min(len(text), at+2*excerptBytes/3)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	e := text[from:to]
	if from > 0 {
		e = "…" + e
	}
	if to < len(text) {
		e += "…"
	}
	return e
}
