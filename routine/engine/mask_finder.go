package engine

// maxIndexed is how many bytes of a text the tree of a finder contains. Of a longer
// text the tree has the beginning, and the rest is compared afterwards.
const maxIndexed = 256

// finder searches for many texts at once, in time linear in the searched text. It is
// an Aho-Corasick automaton.
type finder struct {
	texts []string
	nodes []finderNode // the first is the root
	first [256]int32   // the children of the root
	// long are the texts of at least maxIndexed bytes by the node of their first
	// maxIndexed bytes, which several may share; node is that node by text.
	long map[int32][]string
	node map[int]int32
}

// finderNode stands for the beginning of one or more texts.
type finderNode struct {
	child, sibling int32 // 0: none
	// fail is the node of the longest other beginning that is a suffix of this one.
	fail int32
	// found is the index plus one of the longest text that is a suffix of this
	// beginning; 0 if there is none.
	found int32
	depth int32
	c     byte
}

func newFinder(texts []string) *finder {
	f := &finder{texts: texts, nodes: make([]finderNode, 1), long: map[int32][]string{}, node: map[int]int32{}}
	for i, text := range texts {
		n := int32(0)
		for j := range min(len(text), maxIndexed) {
			child := f.child(n, text[j])
			if child == 0 {
				child = int32(len(f.nodes))
				f.nodes = append(f.nodes, finderNode{sibling: f.nodes[n].child, depth: int32(j + 1), c: text[j]})
				f.nodes[n].child = child
				if n == 0 {
					f.first[text[j]] = child
				}
			}
			n = child
		}
		if n != 0 {
			f.nodes[n].found = int32(i + 1)
		}
		if len(text) >= maxIndexed {
			f.long[n], f.node[i] = append(f.long[n], text), n
		}
	}
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		above := queue[0]
		for n := f.nodes[above].child; n != 0; n = f.nodes[n].sibling {
			if above != 0 {
				f.nodes[n].fail = f.step(f.nodes[above].fail, f.nodes[n].c)
			}
			if f.nodes[n].found == 0 {
				f.nodes[n].found = f.nodes[f.nodes[n].fail].found
			}
			queue = append(queue, n)
		}
	}
	return f
}

func (f *finder) child(n int32, c byte) int32 {
	if n == 0 {
		return f.first[c]
	}
	n = f.nodes[n].child
	for n != 0 && f.nodes[n].c != c {
		n = f.nodes[n].sibling
	}
	return n
}

// step returns the node of the longest beginning that is a suffix of the text read so
// far plus c.
func (f *finder) step(n int32, c byte) int32 {
	for {
		if child := f.child(n, c); child != 0 || n == 0 {
			return child
		}
		n = f.nodes[n].fail
	}
}

// each calls found with the offsets of every occurrence of one of the texts, in the
// order of their ends, except those inside a longer one. For a text of more than
// maxIndexed bytes its first maxIndexed bytes are enough; to includes as much of the
// rest as occurs.
func (f *finder) each(text []byte, found func(from, to int)) {
	n := int32(0)
	compared := 0 // up to here the rests of long texts have been compared, so that no byte is twice
	for i := range text {
		n = f.step(n, text[i])
		if f.nodes[n].found == 0 {
			continue
		}
		of := int(f.nodes[n].found - 1)
		from, to := i+1-min(len(f.texts[of]), maxIndexed), i+1
		if to >= compared {
			for _, long := range f.long[f.node[of]] {
				to = max(to, i+1+commonPrefix(text[i+1:], long[maxIndexed:]))
			}
			compared = to
		}
		found(from, to)
	}
}

// commonPrefix returns the number of bytes that two texts have in common at their
// start.
func commonPrefix(text []byte, other string) int {
	n := 0
	for n < len(text) && n < len(other) && text[n] == other[n] {
		n++
	}
	return n
}

// beginning returns how many bytes at the end of text are the beginning of one of the
// texts.
func (f *finder) beginning(text []byte) int {
	n := int32(0)
	for _, c := range text {
		n = f.step(n, c)
	}
	return int(f.nodes[n].depth)
}
