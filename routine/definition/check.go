package definition

import "rote/routine"

func (c *checker) check() {
	if c.root.bad {
		return
	}
	if c.root.kind != '{' {
		c.add(routine.Problem{Code: "type", Message: "a routine must be an object, not " + c.doc.show(c.root)})
		return
	}
	c.top()
	c.ignoredStatus()
	c.parameters(c.root.member("parameters"))
	c.operations(c.root.member("operations"))
	c.flow()
	c.names()
}
