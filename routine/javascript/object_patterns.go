package javascript

import "github.com/tdewolff/parse/v2/js"

// object visits an object literal, or the pattern that it is as a target.
func (c *checker) object(n *js.ObjectExpr, u use) int {
	start := -1
	for i := range n.List {
		p := &n.List[i]
		short := false
		if p.Name != nil {
			at := c.key(p.Name)
			start = first(start, at)
			if u&asTarget != 0 {
				c.checkPatternMember(n, p.Name, at)
			}
			v, ok := p.Value.(*js.Var)
			short = ok && p.Name.Computed == nil && !c.tokens.colonNext()
			if short {
				c.checkVariable(v, at, u&asTarget)
			}
		}
		if !short {
			start = first(start, c.visit(p.Value, u&asTarget))
		}
		if p.Init != nil {
			c.visit(p.Init, 0)
		}
	}
	return start
}

// pattern visits the pattern of a declaration or a parameter.
func (c *checker) pattern(n *js.BindingObject) int {
	start := -1
	for i := range n.List {
		item := &n.List[i]
		if item.Key != nil {
			at := c.key(item.Key)
			start = first(start, at)
			c.checkPatternMember(n, item.Key, at)
			if item.Key.Computed != nil || c.tokens.colonNext() {
				c.visit(item.Value.Binding, 0)
			}
		}
		if item.Value.Default != nil {
			c.visit(item.Value.Default, 0)
		}
	}
	if n.Rest != nil {
		c.visit(n.Rest, 0)
	}
	return start
}

// checkPatternMember checks the member that a pattern reads from its sources.
func (c *checker) checkPatternMember(pattern js.INode, key *js.PropertyName, at int) {
	x := value{}
	for _, source := range c.flow.patterns[pattern] {
		x = x.join(c.flow.eval(source))
	}
	names := exactly(LiteralName(key))
	if key.Computed != nil {
		names = c.flow.eval(key.Computed).texts
	}
	c.checkMember(x, names, at, 0)
}
