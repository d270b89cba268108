package playwright

import (
	"strings"

	"rote/routine/importer/chain"
)

// comparisons are the assertions of the test frameworks of C# and Java, by what the same is called of expect.
var comparisons = map[string]string{"equals": "toBe", "equal": "toBe", "areequal": "toBe", "equalto": "toBe", "notequals": "notToBe", "notequal": "notToBe",
	"arenotequal": "notToBe", "true": "toBeTruthy", "istrue": "toBeTruthy", "false": "toBeFalsy", "isfalse": "toBeFalsy", "contains": "toContain",
	"contain": "toContain", "doesnotcontain": "notToContain", "greaterthan": "toBeGreaterThan", "greaterthanorequalto": "toBeGreaterThanOrEqual",
	"lessthan": "toBeLessThan", "lessthanorequalto": "toBeLessThanOrEqual"}

// asExpect returns an assertion of a test framework as a call of expect; other chains as they are. The
// value that is checked is the one that is known to come from the page.
func asExpect(c *chain.Chain, known func(*chain.Chain) bool) *chain.Chain {
	m := c.Last()
	name := m.Name
	if name == "" {
		name = c.Base
	}
	name = strings.TrimPrefix(strings.ToLower(name), "assert")
	if len(c.Members) != 1 || !m.Called || len(m.Args) == 0 || c.Base == "expect" || c.Base == "Expect" {
		return c
	}
	checked, other := -1, -1
	for i := range m.Args[:min(len(m.Args), 2)] {
		if v := &m.Args[i]; checked < 0 && v.Kind == chain.Calls && known(v.Calls) {
			checked = i
		} else {
			other = i
		}
	}
	if checked < 0 {
		return c
	}
	v := m.Args[checked]
	check := m
	check.Args = nil
	if name == "that" {
		name = "istrue"
		if constraint := argument(m, 1); constraint != nil && constraint.Kind == chain.Calls {
			if name = constraintName(constraint.Calls); name == "" {
				return c
			}
			check.Args = constraint.Calls.Last().Args
		}
	} else if other >= 0 && !strings.HasSuffix(name, "true") && !strings.HasSuffix(name, "false") {
		check.Args = m.Args[other : other+1]
	}
	if check.Name = comparisons[strings.TrimPrefix(name, "not ")]; check.Name == "" {
		return c
	}
	if last := v.Calls.Last(); last.Called && len(last.Args) == 1 && (last.Name == "contains" || last.Name == "includes" || last.Name == "equals") &&
		len(v.Calls.Members) > 0 && strings.HasPrefix(check.Name, "toBe") && len(check.Args) == 0 {
		inner := *v.Calls
		inner.Members = inner.Members[:len(inner.Members)-1]
		negated := check.Name == "toBeFalsy"
		v.Calls, check.Args, check.Name = &inner, last.Args, "toContain"
		if last.Name == "equals" {
			check.Name = "toBe"
		}
		if negated {
			check.Name = "notTo" + strings.TrimPrefix(check.Name, "to")
		}
	}
	if strings.HasPrefix(name, "not ") {
		check.Name = "not" + check.Name
	}
	return &chain.Chain{Base: "expect", Members: []chain.Member{{Called: true, Args: []chain.Value{v}}, check}}
}

// constraintName is what a constraint of NUnit asks for, as in Is.EqualTo or Does.Not.Contain; empty if it is no such.
func constraintName(c *chain.Chain) string {
	if c.Base != "Is" && c.Base != "Does" {
		return ""
	}
	name := strings.ToLower(c.Last().Name)
	if len(c.Members) == 2 && strings.EqualFold(c.Members[0].Name, "not") {
		return "not " + name
	}
	if len(c.Members) != 1 {
		return ""
	}
	return name
}
