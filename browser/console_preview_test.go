package browser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// Objects that a script throws or writes to the console are recorded as a console
// shows them.
func TestObjectsInMessagesCanBeRead(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<p id=p>x</p>`})+"/")
	for _, c := range []struct{ script, want string }{
		{`(() => { throw {code: 5, why: 'no "stock"', deep: {a: {b: 1}}} })()`, `the script threw {code: 5, why: "no \"stock\"", deep: Object} (line 1, column 10 of the script)`},
		{`(() => Promise.reject({code: 5}))()`, `the script threw {code: 5}`},
		{`(() => { throw [1, 'a', null] })()`, `the script threw [1, "a", null] (line 1, column 10 of the script)`},
		{`(() => { throw 'plain' })()`, `the script threw Uncaught "plain" (line 1, column 10 of the script)`},
		{`(() => { throw new TypeError('no') })()`, `the script threw TypeError: no (line 1, column 16 of the script)`},
	} {
		_, err := p.Evaluate(testContext(t), script(c.script, testTime/2))
		if routine.CodeOf(err) != routine.CodeScriptError || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.script, err, c.want)
		}
	}
	e, err := p.Evaluate(testContext(t), script(`(() => {
console.log('dbg', {a: 1, b: {c: 2}, get d() { document.title = 'called'; return 1 }}, [1, [2]], new Map([['k', 1]]), new Set(['s']));
console.warn(document.getElementById('p'), class A {}.name, new (class Box { n = 1 })(), null, undefined, {});
console.log({long: 'x'.repeat(5000), a: 1, b: 2, c: 3, d: 4, e: 5, f: 6});
return document.title })()`, testTime/2))
	want := []string{
		`log: dbg {a: 1, b: Object, d: accessor} [1, Array(1)] Map(1) {"k" => 1} Set(1) {"s"}`,
		`warning: p#p A Box {n: 1} null undefined {}`,
	}
	if diff := cmp.Diff(want, e.Console[:2]); diff != "" || err != nil || string(e.JSON) != `""` {
		t.Errorf("%s %v %s", diff, err, e.JSON)
	}
	if line := e.Console[2]; len(line) > 400 || !strings.HasPrefix(line, `log: {long: "xxx`) || !strings.HasSuffix(line, "…}") {
		t.Error(line)
	}
}
