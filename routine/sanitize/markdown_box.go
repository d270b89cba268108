package sanitize

import "strconv"

// push opens a list, an item or a quote.
func (w *markdownWriter) push(b markdownBox) {
	w.boxes = append(w.boxes, b)
	if b.kind == 'l' {
		w.lists++
	}
}

// pop closes the innermost box of a kind with everything inside it. The end tag of an
// item closes no item outside the innermost list.
func (w *markdownWriter) pop(kind byte) {
	for i := len(w.boxes) - 1; i >= max(len(w.boxes)-maxNestingLook, 0); i-- {
		if w.boxes[i].kind == kind {
			w.closeBoxes(i)
			gap := 2
			if kind == 'i' || w.inItem() {
				gap = 1
			}
			w.endHeading()
			w.breakBlock(gap)
			return
		}
		if kind == 'i' && w.boxes[i].kind == 'l' {
			return
		}
	}
}

// closeBoxes closes all boxes but the first n.
func (w *markdownWriter) closeBoxes(n int) {
	for _, b := range w.boxes[n:] {
		if b.kind == 'l' {
			w.lists--
		}
	}
	w.boxes = w.boxes[:n]
}

func (w *markdownWriter) inItem() bool {
	return len(w.boxes) > 0 && w.boxes[len(w.boxes)-1].kind == 'i'
}

// startItem begins an item of the innermost list, if there is one, and ends the item
// before.
func (w *markdownWriter) startItem() {
	list := -1
	for i := len(w.boxes) - 1; i >= max(len(w.boxes)-maxNestingLook, 0); i-- {
		if w.boxes[i].kind == 'i' {
			w.closeBoxes(i)
		} else if w.boxes[i].kind == 'l' {
			list = i
			break
		}
	}
	marker := "- "
	if list >= 0 && w.boxes[list].ordered {
		marker = strconv.Itoa(w.boxes[list].next) + ". "
		w.boxes[list].next++
	}
	w.breakBlock(1)
	w.push(markdownBox{kind: 'i', marker: marker})
}

// prefix appends what lists and quotes write before a line. A marker is written once,
// and not on empty lines.
func (w *markdownWriter) prefix(out []byte, empty bool) []byte {
	shown := 0
	for i := range w.boxes {
		b := &w.boxes[i]
		if b.kind == 'l' {
			continue
		}
		if shown++; shown > maxShownNesting {
			break
		}
		out = b.prefix(out, empty)
	}
	if last := len(w.boxes) - 1; shown > maxShownNesting && !w.boxes[last].begun {
		out = w.boxes[last].prefix(out, empty)
	}
	return out
}

func (b *markdownBox) prefix(out []byte, empty bool) []byte {
	switch {
	case b.kind == 'q' && (b.begun || !empty):
		b.begun = true
		return append(out, "> "...)
	case empty:
		return out
	case !b.begun:
		b.begun = true
		return append(out, b.marker...)
	}
	for range b.marker {
		out = append(out, ' ')
	}
	return out
}
