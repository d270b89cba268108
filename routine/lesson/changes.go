package lesson

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"rote/routine"
)

// maxChanges bounds the lines that say what changed on a page, in bytes.
const maxChanges = 1500

// look returns the lines of the page, to be compared with those of a later look; nil if the
// page does not answer.
func (l *lesson) look(ctx context.Context) []routine.SeenLine {
	if l.page == nil || l.lost != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTime)
	defer cancel()
	seen, err := l.page.Look(bounded, routine.Look{MaxBytes: routine.MaxLook, Secrets: l.session.Secrets()})
	if err != nil {
		return nil
	}
	if seen.Lines == nil {
		return []routine.SeenLine{}
	}
	return seen.Lines
}

// changes returns the lines that came and those that went between two looks, in at most
// maxChanges bytes, and how many more there are. A line whose selector was there before and
// that says something else now has come. One that only got another selector is left out, as
// is the field of an input_text if its value is what was typed. The lines of another page are
// only those that came.
func changes(before, after []routine.SeenLine, step Step, k *keptOperation) (appeared, gone []string, more int) {
	if before == nil || after == nil {
		return nil, nil, 0
	}
	was, is := linesOf(before), linesOf(after)
	came, went := changedLines(was, is, k)
	if otherPage(step, was, is) {
		went = nil
	}
	room := maxChanges
	add := func(texts []string, text string) []string {
		if room -= len(text) + len("+ \n"); room < 0 || more > 0 {
			more++
			return texts
		}
		return append(texts, text)
	}
	for _, x := range came {
		appeared = add(appeared, is.lines[x].text)
	}
	for _, x := range went {
		gone = add(gone, was.lines[x].text)
	}
	return appeared, gone, more
}

// changedLines returns the keys of the lines that came and of those that went.
func changedLines(was, is lookLines, k *keptOperation) (came, went []lineKey) {
	var left []lineKey // are no longer there as they were
	unmatched := map[string]int{}
	for _, x := range was.order {
		if old := was.lines[x]; is.lines[x].text != old.text {
			left = append(left, x)
			unmatched[old.said]++
		}
	}
	delete(unmatched, "")
	moved := map[string]int{}     // lines that only got another selector
	vacated := map[lineKey]bool{} // selectors that such a line has now
	for _, x := range is.order {
		line := is.lines[x]
		switch {
		case line.text == was.lines[x].text || isTyped(line.SeenLine, k):
		case unmatched[line.said] > 0:
			unmatched[line.said]--
			moved[line.said]++
			vacated[x] = true
		default:
			came = append(came, x)
		}
	}
	for _, x := range left {
		_, still := is.lines[x]
		switch said := was.lines[x].said; {
		case moved[said] > 0:
			moved[said]--
		case !still || vacated[x]:
			went = append(went, x)
		}
	}
	return came, went
}

// isTyped reports whether a line is the field of an input_text and shows the typed text as
// its value.
func isTyped(x routine.SeenLine, k *keptOperation) bool {
	if k.element == nil || k.operation.Type() != "input_text" || x.Selector == "" || x.Selector != k.element.Selector {
		return false
	}
	typed := strings.Join(strings.Fields(routine.PlainText(typedText(k))), " ")
	for _, state := range x.States {
		var value string
		quoted, ok := strings.CutPrefix(state, "value ")
		if !ok || typed == "" || json.Unmarshal([]byte(quoted), &value) != nil || value == routine.Masked || value == typed {
			continue // a value that is not known is taken for the typed one
		}
		if start, truncated := strings.CutSuffix(value, "…"); !truncated || !strings.HasPrefix(typed, start) {
			return false
		}
	}
	return true
}

// otherPage reports whether the operation went to another page, most of whose lines are
// others.
func otherPage(step Step, was, is lookLines) bool {
	if !step.Moved {
		return false
	}
	same := 0
	for _, x := range was.order {
		if _, still := is.lines[x]; still {
			same++
		}
	}
	return 2*same < len(was.order)
}

// lineKey identifies a line of a look: by its selector, or by its text if it has none.
type lineKey struct {
	selector, text string
	// number tells apart lines that are alike.
	number int
}

// lookLine is a line of a look. said is what it says without its selector, of a list or a
// table together with what it says of its items; it is empty if the line names nothing.
type lookLine struct {
	routine.SeenLine
	text, said string
}

// lookLines are the lines of a look by their keys.
type lookLines struct {
	order []lineKey
	lines map[lineKey]lookLine
}

// linesOf returns the lines of a look. A line within the items of a list belongs to the list.
func linesOf(lines []routine.SeenLine) lookLines {
	all := lookLines{lines: map[lineKey]lookLine{}}
	var list lineKey
	for _, x := range lines {
		if x.Kind == "more" || x.Kind == "note" {
			continue
		}
		line := lookLine{x, x.String(), saidBy(x)}
		key := lineKey{text: line.text}
		ofList := x.InItem || x.Kind == "items" || x.Kind == "columns"
		switch {
		case ofList:
			key = lineKey{selector: list.selector + " " + x.Kind + " " + x.Selector}
		case x.Selector != "":
			key = lineKey{selector: x.Selector}
		}
		for _, taken := all.lines[key]; taken; _, taken = all.lines[key] {
			key.number++
		}
		all.order = append(all.order, key)
		all.lines[key] = line
		switch whole, within := all.lines[list]; {
		case x.Kind == "list" || x.Kind == "table":
			list = key
		case ofList && within:
			whole.said += "\n" + cmp.Or(line.said, x.Kind)
			all.lines[list] = whole
		}
	}
	for key, x := range all.lines { // one that says nothing of its items could be any
		if (x.Kind == "list" || x.Kind == "table") && !strings.Contains(x.said, "\n") {
			x.said = ""
			all.lines[key] = x
		}
	}
	return all
}

// hrefToken is the part of a selector that says where a link leads.
var hrefToken = regexp.MustCompile(`\[href="([^"]*)"\]`)

// saidBy is what a line says without its selector; empty if it names nothing.
func saidBy(x routine.SeenLine) string {
	if x.Name == "" && x.Detail == "" && x.Kind != "list" && x.Kind != "table" {
		return ""
	}
	if href := hrefToken.FindStringSubmatch(x.Selector); x.Target == "" && href != nil {
		x.Target = href[1]
	}
	x.Selector, x.Grade, x.ByName = "", "", nil
	return x.Kind + " " + x.String()
}
