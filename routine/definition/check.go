package definition

import "rote/routine"

// check runs the stages of the check in order. Later stages use what earlier ones have
// decoded and leave out what they have marked as bad.
func (c *checker) check() {
	if c.root.bad {
		return
	}
	if c.root.kind != '{' {
		c.add(routine.Problem{Code: "type", Message: "a routine must be an object, not " + c.doc.show(c.root)})
		return
	}
	c.fields()
	c.ignoredStatus()
	c.parameters(c.root.member("parameters"))
	c.session()
	c.operations(c.root.member("operations"))
	c.flow()
	c.unusedParameters()
}
