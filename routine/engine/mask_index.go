package engine

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/spelling"

	"golang.org/x/net/idna"
)

// maskIndex finds secrets in texts, in time linear in the text. With the secret
// "Tr0ub4dor" it finds "tr0ub%34dor" in a URL: the text is unescaped and folded, the
// folded secret "tr0ub4dor" is found, and the view maps its offsets back to the
// original text.
type maskIndex struct {
	folded []string        // searched inside longer texts
	alone  map[string]bool // folded; masked if they are the whole text
	exact  []string        // secrets that are too short when folded
	values map[string]bool // of the secrets that are numbers, without sign
	heads  *finder
	tails  *finder // of the texts reversed
	// longest is the length of the longest of all texts, in bytes.
	longest int
}

// place is a part of a text, from one byte to another.
type place struct{ from, to int }

func newMaskIndex(texts []string) *maskIndex {
	x := &maskIndex{alone: map[string]bool{}, values: map[string]bool{}}
	for _, text := range texts {
		f := fold(text)
		x.longest = max(x.longest, len(text))
		switch {
		case len(f) >= minSecret:
			x.folded = append(x.folded, f)
		case len(text) >= minSecret:
			x.exact = append(x.exact, text)
		}
		if f != "" {
			x.alone[f] = true
		}
		for _, value := range spelling.Magnitudes(text) {
			x.values[value] = true
		}
	}
	slices.Sort(x.folded)
	x.folded = slices.Compact(x.folded)
	x.heads = newFinder(x.folded)
	reversed := make([]string, len(x.folded))
	for i, f := range x.folded {
		reversed[i] = string(reverse([]byte(f)[max(0, len(f)-maxIndexed):]))
	}
	x.tails = newFinder(reversed)
	return x
}

func reverse(text []byte) []byte {
	slices.Reverse(text)
	return text
}

const (
	// maxUnescaped is how many times escapes are decoded, enough for a URL in JSON in
	// a URL.
	maxUnescaped = 3
	// maskedAtOnce is about how many bytes are searched at once, which bounds the
	// memory.
	maskedAtOnce = 1 << 20
)

// text returns t with secrets replaced by [routine.Masked].
func (x *maskIndex) text(t string) string {
	if x == nil || t == "" {
		return t
	}
	window := max(maskedAtOnce, 32*x.longest) // of which a secret takes less than half, in any spelling
	if len(t) <= window {
		found, all := x.places(t)
		if all {
			return routine.Masked
		}
		return replaced(t, found)
	}
	var found []place
	for begin := 0; ; begin += window / 2 {
		end := min(begin+window, len(t))
		part, _ := x.places(t[begin:end])
		for _, p := range part {
			found = append(found, place{begin + p.from, begin + p.to})
		}
		if end == len(t) {
			return replaced(t, found)
		}
	}
}

// places returns the parts of t that reveal a secret. all reports whether that is all
// of t.
func (x *maskIndex) places(t string) (found []place, all bool) {
	for v, times := viewOf(t), 0; v != nil && times <= maxUnescaped; v, times = v.unescaped(), times+1 {
		f := v.folded()
		if x.alone[string(f.text)] {
			return []place{{0, len(t)}}, true
		}
		at := origins{v: f}
		for _, p := range x.find(f.text) {
			from, to := at.of(p.from, p.to)
			found = append(found, place{from, to})
		}
	}
	for _, text := range x.exact {
		for i := 0; ; {
			n := strings.Index(t[i:], text)
			if n < 0 {
				break
			}
			found = append(found, place{i + n, i + n + len(text)})
			i += n + len(text)
		}
	}
	found = append(found, x.numbers(t)...)
	return append(found, x.hosts(t)...), false
}

// replaced returns t with the places masked.
func replaced(t string, found []place) string {
	if len(found) == 0 {
		return t
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	end := 0
	for _, p := range found {
		if p.from >= end {
			b.WriteString(t[end:p.from])
			b.WriteString(routine.Masked)
		}
		end = max(end, p.to)
	}
	b.WriteString(t[end:])
	return b.String()
}

var ellipsis = []byte("…")

// find returns the places in a folded text that contain a secret or, before and after
// an ellipsis, the remaining part of one. They are sorted and do not overlap.
func (x *maskIndex) find(text []byte) []place {
	var found []place
	x.heads.each(text, func(from, to int) { found = joined(found, place{from, to}) })
	var parts []place
	for begin, cut := 0, false; ; cut = true {
		length := bytes.Index(text[begin:], ellipsis)
		last := length < 0
		if last {
			length = len(text) - begin
		}
		end := begin + length
		if cut {
			if n := x.tails.beginning(reverse(bytes.Clone(text[begin:end]))); n >= minSecret {
				parts = append(parts, place{begin, begin + n})
			}
		}
		if last {
			break
		}
		if n := x.heads.beginning(text[begin:end]); n >= minSecret {
			parts = append(parts, place{end - n, end})
		}
		if after := end + len(ellipsis); cut && after == len(text) && x.holds(text[begin:end]) {
			parts = append(parts, place{begin, end})
		}
		begin = end + len(ellipsis)
	}
	if len(parts) == 0 {
		return found
	}
	found = append(found, parts...)
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	var all []place
	for _, p := range found {
		all = joined(all, p)
	}
	return all
}

// joined adds a place to a sorted list and merges it with those that it overlaps.
func joined(list []place, p place) []place {
	for len(list) > 0 && list[len(list)-1].to > p.from {
		p.from, p.to = min(p.from, list[len(list)-1].from), max(p.to, list[len(list)-1].to)
		list = list[:len(list)-1]
	}
	return append(list, p)
}

// holds reports whether part occurs inside a secret.
func (x *maskIndex) holds(part []byte) bool {
	return len(part) >= minSecret && slices.ContainsFunc(x.folded, func(f string) bool { return strings.Contains(f, string(part)) })
}

var looseNumber = regexp.MustCompile(`^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?`)

// numbers returns the places of numbers in t whose value is that of a secret.
func (x *maskIndex) numbers(t string) []place {
	if len(x.values) == 0 {
		return nil
	}
	var found []place
	// Only the first number can be all of the text, and only when nothing but blanks and signs is before it.
	start := len(t) - len(strings.TrimLeft(t, "+-. \t\r\n"))
	digit := func(i int) bool { return t[i] >= '0' && t[i] <= '9' }
	for i := 0; i < len(t); {
		if !digit(i) {
			i++
			continue
		}
		token := looseNumber.FindString(t[i:min(len(t), i+routine.MaxNumberText)])
		from, to := i, i+len(token)
		if from > 0 && t[from-1] == '.' {
			from-- // as in .5
		}
		alone := i == start && strings.TrimSpace(t[to:]) == ""
		for _, number := range []string{token, t[from:to]} {
			number = strings.ReplaceAll(number, ",", "")
			if (len(token) >= minSecret || alone) && routine.FitsNumber(number) && x.values[routine.CanonicalNumber(number)] {
				found = append(found, place{from, to})
			}
		}
		for i = to; i < len(t) && digit(i); { // the rest of one that is too long
			i++
		}
	}
	return found
}

var punycode = regexp.MustCompile(`(?i)xn--[a-z0-9-]{1,59}`)

// hosts returns the places of labels of host names in t that contain a secret in
// punycode.
func (x *maskIndex) hosts(t string) []place {
	var found []place
	for _, at := range punycode.FindAllStringIndex(t, -1) {
		label, err := idna.Punycode.ToUnicode(strings.ToLower(t[at[0]:at[1]]))
		if err != nil {
			continue
		}
		hit := x.alone[fold(label)]
		x.heads.each([]byte(fold(label)), func(int, int) { hit = true })
		if hit {
			found = append(found, place{at[0], at[1]})
		}
	}
	return found
}
