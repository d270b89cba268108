package draft

import (
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/placeholder"
)

// helpers are the functions of scripts: all finds elements in the page, its open shadow roots and
// its frames of the same origin, one the first of them; t is a text on one line.
const helpers = `const t=s=>String(s??"").replace(/\s+/g," ").trim(),
all=(s,r=document)=>[...r.querySelectorAll(s),...[...r.querySelectorAll("*")].flatMap(e=>[e.shadowRoot,e.contentDocument].flatMap(i=>i?all(s,i):[]))],
visible=e=>e.checkVisibility({visibilityProperty:true,opacityProperty:true});`

// How long scripts wait for what they check, in milliseconds.
const (
	defaultWait = 5000
	longestWait = 9500
)

// Check describes what a step of a recording checks in the page.
type Check struct {
	// Found is a JavaScript expression for the value to check, where list has the elements of
	// the locator. Holds is the condition, where found has that value.
	Found, Holds string
	// Expected is the condition in words.
	Expected string
	// Wait is how long it may take, in milliseconds; 0 for the default.
	Wait float64
}

// Assert adds a script that waits until a condition holds, and fails if it does not.
func (d *Draft) Assert(l Locator, c Check) {
	list := "[]"
	if !l.Empty() {
		var ok bool
		if list, ok = d.elements(l); !ok {
			return
		}
	}
	wait := c.Wait
	if wait <= 0 {
		wait = defaultWait
	}
	d.Script(fmt.Sprintf(`(async()=>{
%s
for(const end=Date.now()+%d;;await new Promise(r=>setTimeout(r,50))){
const list=%s,found=%s;
if(%s)return;
if(Date.now()>end)throw Error(%s+found);
}
})()`, helpers, int(min(wait, longestWait)), list, c.Found, c.Holds, Literal("expected "+c.Expected+", found ")), "")
}

// WaitVisible adds what waits until the element is there and can be seen.
func (d *Draft) WaitVisible(l Locator, milliseconds float64) {
	zero := 0
	o := Operation{Type: "scroll", DeltaY: &zero}
	if o.WaitFor(milliseconds) {
		d.Change("timeout", "the wait is shortened to %d s", maxTimeout/1000)
	}
	d.Act(l, o)
}

// Do adds a script that does something to the first element of a locator, which it names e. Of
// those that only their texts name there may be one.
func (d *Draft) Do(l Locator, code, key string) {
	list, ok := d.elements(l)
	if !ok {
		return
	}
	one, missing := "list.length>0", Literal("nothing matches "+l.CSS)
	if l.CSS == "" {
		list += ".filter(visible)"
		one, missing = "list.length===1", `list.length+" visible elements match: one is wanted"`
	}
	d.Script(fmt.Sprintf(`(async()=>{
%s
for(const end=Date.now()+%d;;await new Promise(r=>setTimeout(r,50))){
const list=%s,e=list[0];
if(%s){%s}
if(Date.now()>end)throw Error(%s);
}
})()`, helpers, defaultWait, list, one, code, missing), key)
}

// Read adds a script that takes a value of the page, where list has the elements of a locator, and
// keeps it under a key if that is not empty.
func (d *Draft) Read(l Locator, code, key string) {
	if list, ok := d.elements(l); ok {
		d.Script(fmt.Sprintf("(()=>{\n%s\nconst list=%s;\nreturn %s;\n})()", helpers, list, code), key)
	}
}

// elements returns a JavaScript expression for the list of the elements of a locator.
func (d *Draft) elements(l Locator) (string, bool) {
	if l.CSS != "" {
		if l.ByPlace {
			d.Change("by_place", "the selector %s holds only by the place of the element", routine.Quote(Shown(l.CSS)))
		}
		return "all(" + Literal(l.CSS) + ")", true
	}
	if l.Target == nil {
		d.Drop("no_selector", "the step names no element that rote can find")
		return "", false
	}
	list, err := l.Target.Elements()
	if err != nil {
		d.Drop("no_selector", "%s", routine.AsError(err).Message)
		return "", false
	}
	return list, true
}

// scriptSeconds is how long scripts may take: the most that there is.
var scriptSeconds = 10.0

// Script adds a script of the importer's own, whose value is kept under a key if that is not empty.
func (d *Draft) Script(js, key string) {
	d.Add(Operation{Type: "js_evaluate", Script: js, Seconds: &scriptSeconds, StorageKey: key})
}

// Foreign adds a script of the recording. It drops the step if the rules of js_evaluate refuse it.
func (d *Draft) Foreign(js, key string) {
	if t, _ := placeholder.Parse(js, placeholder.Script); len(t.Tokens()) > 0 {
		d.Drop("script_blocked", "the script has braces that would be placeholders")
		return
	}
	if problems := javascript.Check(js); len(problems) > 0 {
		d.Drop("script_blocked", "js_evaluate refuses the script: %s", problems[0].Message)
		return
	}
	d.Script(js, key)
}

// ForeignOn adds a script that calls a function of the recording with the first element of a
// locator, for which it waits, or with all of them.
func (d *Draft) ForeignOn(l Locator, all bool, function string, arguments []string, key string) {
	list, ok := d.elements(l)
	if !ok {
		return
	}
	given, enough := "list[0]", "list.length>0"
	if all {
		given, enough = "list", "true"
	}
	d.Foreign(fmt.Sprintf(`(async()=>{
%s
for(const end=Date.now()+%d;;await new Promise(r=>setTimeout(r,50))){
const list=%s;
if(%s)return await (%s
)(%s);
if(Date.now()>end)throw Error("nothing matches");
}
})()`, helpers, defaultWait, list, enough, function, strings.Join(append([]string{given}, arguments...), ",")), key)
}

// Literal is a text as a JavaScript string. Braces in it are no placeholder.
func Literal(text string) string { return strings.ReplaceAll(routine.JSONText(text), "{{", `{\u007b`) }
