package side

import (
	"strconv"
	"strings"

	"rote/routine/importer/jsontree"
)

// opens are the commands that begin a block.
var opens = map[string]bool{"if": true, "times": true, "while": true, "do": true, "forEach": true}

// blockEnd returns the index of the command that ends the block of a command.
func blockEnd(commands []*jsontree.Value, begin int) int {
	depth := 0
	for i := begin; i < len(commands); i++ {
		switch name := read(commands[i]).name; {
		case opens[name]:
			depth++
		case name == "end", name == "repeatIf":
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return len(commands)
}

// Bounds of loops that are written out.
const (
	maxRepeats  = 20
	maxUnrolled = 200
)

// control turns a block into operations, if its course is known.
func (r *reader) control(c command, body []*jsontree.Value) {
	if n := len(body); n > 0 && (read(body[n-1]).name == "end" || read(body[n-1]).name == "repeatIf") {
		body = body[:n-1]
	}
	count := strings.TrimSpace(c.target)
	if m := variable.FindStringSubmatch(count); m != nil && m[0] == count {
		count = r.constants[m[1]]
	}
	n, err := strconv.Atoi(count)
	if c.name == "times" && err == nil && n >= 0 && n <= maxRepeats && n*len(body) <= maxUnrolled && !nestedBlocks(body) {
		for range n {
			r.inline(body)
		}
		return
	}
	if c.name == "if" && len(body) == 1 && read(body[0]).name == "click" {
		if l := r.locate(read(body[0])); !l.Empty() {
			r.d.Read(l, "list[0]?.click()", "")
			r.d.Change("set_by_script", "a script clicks the element if it is there, whatever the condition was")
			return
		}
	}
	r.d.Drop("control_flow", "the course of a routine is fixed: the block of %s is left out", c.name)
}

func nestedBlocks(body []*jsontree.Value) bool {
	for _, v := range body {
		if opens[read(v).name] {
			return true
		}
	}
	return false
}

// inline does commands as a part of the present step.
func (r *reader) inline(commands []*jsontree.Value) {
	for i := range commands {
		switch c := read(commands[i]); {
		case c.comment():
		case opens[c.name]:
			r.d.Drop("control_flow", "the course of a routine is fixed: the block of %s is left out", c.name)
			return
		default:
			r.do(c, i, commands)
		}
	}
}
