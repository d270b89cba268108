package browser

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// maxIndent is the number of levels by which a line is indented at most.
const maxIndent = 6

// contextLines is how many lines around one that contains the words are shown.
const contextLines = 3

// quoteText returns a text of the page in JSON quotes.
func quoteText(s string) string {
	return routine.JSONText(routine.PlainText(s))
}

// lookLimit is how many bytes the text of a look may have.
func lookLimit(l routine.Look) int {
	return min(max(cmp.Or(l.MaxBytes, routine.DefaultLook), routine.MinLook), routine.MaxLook)
}

// seenText formats a look and leaves out the least important lines until the text
// is short enough.
func seenText(s seenPage, l routine.Look) routine.Seen {
	all := s.Lines
	if l.Find != "" {
		all = nearHits(all)
	}
	limit, order := lookLimit(l), dropOrder(all)
	dropped := sort.Search(len(order), func(n int) bool { return len(lookText(s, remaining(all, order[:n]))) <= limit })
	lines := remaining(all, order[:dropped])
	text := lookText(s, lines)
	if l.Find != "" && len(all) == 0 {
		text += "no line has all of these words\n"
	}
	seen := routine.Seen{URL: s.URL, Title: routine.PlainText(s.Title), Total: len(s.Lines) + s.Omitted, Partial: s.Partial,
		Text: truncateBytes(text, limit), Lines: make([]routine.SeenLine, len(lines))}
	for n, x := range lines {
		seen.Lines[n] = x.SeenLine
	}
	return seen
}

// nearHits are the lines that contain the words, those around them and those that contain
// them.
func nearHits(all []seenLine) []seenLine {
	keep := make([]bool, len(all))
	for n := range all {
		if !all[n].Hit {
			continue
		}
		all[n].Weight += 100
		for i := max(0, n-contextLines); i <= min(len(all)-1, n+contextLines); i++ {
			keep[i] = true
		}
		for i, depth := n, all[n].Depth; i >= 0 && depth > 0; i-- {
			if all[i].Depth < depth {
				keep[i], depth = true, all[i].Depth
			}
		}
	}
	var kept []seenLine
	for n, x := range all {
		if keep[n] {
			kept = append(kept, x)
		}
	}
	return kept
}

// dropOrder lists the lines in the order in which they are left out: the least important
// first, of equal ones the last first. A line comes after those that it contains.
func dropOrder(all []seenLine) []int {
	weights := make([]float64, len(all)) // the largest of a line and of those that it contains
	type open struct {
		depth  int
		weight float64
	}
	var below []open
	order := make([]int, len(all))
	for n, x := range slices.Backward(all) {
		weights[n], order[n] = x.Weight, n
		for len(below) > 0 && below[len(below)-1].depth > x.Depth {
			weights[n] = max(weights[n], below[len(below)-1].weight)
			below = below[:len(below)-1]
		}
		below = append(below, open{x.Depth, weights[n]})
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(weights[a], weights[b]), b-a) })
	return order
}

// remaining are the lines that are not dropped, with a line for each run of dropped ones.
func remaining(all []seenLine, dropped []int) []seenLine {
	gone := make([]bool, len(all))
	for _, n := range dropped {
		gone[n] = true
	}
	var kept []seenLine
	for n := 0; n < len(all); n++ {
		if !gone[n] {
			kept = append(kept, all[n])
			continue
		}
		more := seenLine{SeenLine: routine.SeenLine{Depth: all[n].Depth, Kind: "more"}}
		kind, count := all[n].Kind, 0
		for ; n < len(all) && gone[n]; n++ {
			count++
			more.Depth = min(more.Depth, all[n].Depth)
			if all[n].Kind != kind {
				kind = "line"
			}
		}
		n--
		more.Detail = fmt.Sprintf("… %d more %s", count, plural(kind, count))
		kept = append(kept, more)
	}
	return kept
}

// plural names a number of lines of a kind.
func plural(kind string, count int) string {
	if !slices.Contains([]string{"button", "item", "link", "list", "text", "request", "row"}, kind) {
		kind = "line"
	}
	if count > 1 {
		kind += "s"
	}
	return kind
}

// lookText is the text of the lines with a header.
func lookText(s seenPage, lines []seenLine) string {
	var b strings.Builder
	shown := 0
	for _, x := range lines {
		if x.Kind != "more" {
			shown++
		}
	}
	fmt.Fprintf(&b, "%s\npage %s %s — %d of %d lines\n", routine.PageTextNotice, pathOf(s.URL), quoteText(s.Title), shown, len(s.Lines)+s.Omitted)
	if s.Dialog != "" {
		fmt.Fprintf(&b, "dialog open: %s\n", quoteText(s.Dialog))
	}
	if s.Loading > 0 {
		fmt.Fprintf(&b, "loading: %d %s under way\n", s.Loading, plural("request", s.Loading))
	}
	if s.Scrolled > 0 {
		fmt.Fprintf(&b, "scrolled to %d of %d\n", s.Scrolled, s.Height)
	}
	if s.Partial {
		b.WriteString("only a part of this large page was examined: give a scope\n")
	}
	for _, x := range lines {
		b.WriteString(strings.Repeat(" ", min(x.Depth, maxIndent)))
		b.WriteString(x.SeenLine.String())
		b.WriteByte('\n')
	}
	if at := slices.IndexFunc(lines, func(x seenLine) bool { return x.ByName != nil }); at >= 0 {
		fmt.Fprintf(&b, "name: \"x-target\":%s instead of the selector\n", routine.JSONText(lines[at].ByName))
	}
	if slices.ContainsFunc(lines, func(x seenLine) bool { return x.Kind == "component" || x.Kind == "slotted in" }) {
		b.WriteString("component: selectors do not reach across its edge\n")
	}
	return b.String()
}

// pathOf is the path of the page's URL in at most 60 characters, or its beginning if it has
// no path.
func pathOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return routine.Truncate(cmp.Or(u.EscapedPath(), "/"), 60)
	}
	return routine.Truncate(routine.OneLine(routine.PlainText(address)), 60)
}

// extractionText is an extraction for a reader.
func extractionText(x *routine.Extraction, l routine.Look, table bool) string {
	var b strings.Builder
	what := fmt.Sprintf("matches %d now", x.Count)
	if table {
		what = fmt.Sprintf("is a table with %d %s now", x.Count, plural("row", x.Count))
	}
	fmt.Fprintf(&b, "%s\n%s %s. These operations return them as JSON:\n", routine.PageTextNotice, quoteText(l.Extract), what)
	for _, o := range x.Operations {
		fmt.Fprintf(&b, "%s\n", o)
	}
	for _, w := range x.Warnings {
		fmt.Fprintf(&b, "Warning: %s.\n", w)
	}
	b.WriteString("The first of them:\n")
	for _, row := range x.Rows {
		fmt.Fprintf(&b, "%s\n", row)
	}
	return truncateBytes(b.String(), lookLimit(l))
}

// truncateBytes returns the beginning of s in at most max bytes.
func truncateBytes(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := max - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
