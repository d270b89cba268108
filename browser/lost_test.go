package browser

import (
	"testing"
)

// A warning names each value that JSON cannot represent.
func TestScriptValuesThatAreLost(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<ul><li>a<li>b</ul>`})+"/")
	for _, c := range []struct{ script, json, lost string }{
		{`(() => { 1 })()`, "", "undefined, stored as null: is a return missing?"},
		{`(async () => {})()`, "", "undefined, stored as null: is a return missing?"},
		{`(() => document.querySelector('ul'))()`, "{}", "of type HTMLUListElement, whose JSON is {}: return its text, attributes or entries"},
		{`(() => new Map([[1, 2]]))()`, "{}", "of type Map, whose JSON is {}: return its text, attributes or entries"},
		{`(() => new Set([1]))()`, "{}", "of type Set, whose JSON is {}: return its text, attributes or entries"},
		{`(() => new Error('no'))()`, "{}", "of type Error, whose JSON is {}: return its text, attributes or entries"},
		{`(() => () => 1)()`, "", "of type Function, which has no JSON: return data"},
		{`(() => [...document.querySelectorAll('li')])()`, "[{},{}]", "a list (Array) of what has no JSON, such as elements: return their texts or attributes"},
		{`(() => document.querySelectorAll('li'))()`, `{"0":{},"1":{}}`, "a list (NodeList) of what has no JSON, such as elements: return their texts or attributes"},
		// What is kept, and what is empty by itself.
		{`(() => null)()`, "null", ""},
		{`(() => ({}))()`, "{}", ""},
		{`(() => [])()`, "[]", ""},
		{`(() => new Map().size)()`, "0", ""},
		{`(() => [{a: 1}, {}])()`, `[{"a":1},{}]`, ""},
		{`(() => new Date(0))()`, `"1970-01-01T00:00:00.000Z"`, ""},
		{`(() => NaN)()`, "null", ""},
		{`(() => 'undefined')()`, `"undefined"`, ""},
	} {
		e, err := p.Evaluate(testContext(t), script(c.script, testTime/2))
		if err != nil || string(e.JSON) != c.json || e.Lost != c.lost {
			t.Errorf("%s: %s %q %v", c.script, e.JSON, e.Lost, err)
		}
	}
}
