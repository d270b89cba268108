package definition

import (
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// operations checks the shape of each operation against the schema of its kind, then
// what a schema cannot express.
func (c *checker) operations(list *node) {
	if list == nil || list.bad || list.kind != '[' {
		c.guessing = true
		return
	}
	s := loadShapes()
	c.ops, c.kinds = make([]operation.Action, len(list.items())), make([]operation.Kind, len(list.items()))
	name := c.root.keyOf("operations").name
	for i := range list.items() {
		n := &list.kids.nodes[i]
		before := c.problems.count
		c.shapeAt(s.operation, n, name, i, "an operation")
		k, ok := operation.KindOf(typeOf(n))
		if !ok {
			c.guessing = true
			c.use(n)
			continue
		}
		c.shapeAt(s.kinds[k.Name], n, name, i, k.Name)
		c.extensions(s.kinds[k.Name], n, k.Name, operationPointer(i))
		c.filesParameter(i, n)
		sound := c.problems.count == before && c.doc.found.count == 0
		if !sound {
			c.use(n)
		}
		c.operation(i, k, n, sound)
	}
}

// typeOf returns the type that an operation names, or an empty string if that is not
// text.
func typeOf(n *node) string {
	if t := n.member("type"); t != nil && t.kind == '"' {
		return t.text
	}
	return ""
}

// use records all placeholders in an operation that could not be decoded as used, so
// that its parameters are not reported as unused.
func (c *checker) use(n *node) {
	for i := range n.items() {
		c.use(&n.kids.nodes[i])
	}
	for _, k := range n.keys() {
		c.useText(k.name)
	}
	c.useText(n.text)
}

// operation decodes one operation and checks its meaning. Unless it is sound, its bad
// fields take their defaults.
func (c *checker) operation(i int, k operation.Kind, n *node, sound bool) {
	if !sound && c.problems.full() {
		c.guessing = true
		return
	}
	o := routine.NewOperation(k.Name, c.doc.raw(n))
	decoded := o
	if !sound {
		decoded = routine.NewOperation(k.Name, c.doc.sound(n))
	}
	op, err := operation.Decode(decoded)
	if err != nil {
		c.guessing = true
		c.add(routine.Problem{Pointer: operationPointer(i), Code: "type", Message: "cannot be read: " + err.Error()})
		return
	}
	c.ops[i], c.kinds[i], c.definition.Operations = op, k, append(c.definition.Operations, o)
	if !c.spend(operation.CheckCost(op), func() string { return operationPointer(i) }) {
		return
	}
	for _, p := range operation.Check(op) {
		at, _, rest := n.find(p.Pointer)
		if at.bad || p.Code == "required" && rest == "" && at.hasBad() {
			continue // the value has a problem already
		}
		p.Pointer = operationPointer(i) + strings.TrimSuffix(p.Pointer, rest) // a missing field is missing in its object
		c.add(p)
	}
	if sound {
		for _, p := range operation.Warnings(op) {
			p.Pointer = operationPointer(i) + p.Pointer
			c.warn(p)
		}
	}
	operation.EachTemplate(op, func(s operation.Site) {
		if s.Text != "" {
			c.template(i, s)
		}
	})
}
