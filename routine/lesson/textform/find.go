package textform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
)

// Where elements have their names, as JavaScript: fields in labels, other elements in their
// contents.
const (
	fieldNames   = "x(e.labels),e.placeholder"
	contentNames = `e.textContent,e.localName==="input"?e.value:"",e.alt,e.querySelector("img")?.alt`
)

// roleSelectors are the elements that have a role without an attribute that says so. Other roles
// are names of elements.
var roleSelectors = map[string]string{
	"button":        "button,summary,input[type=submit],input[type=button],input[type=reset],input[type=image]",
	"link":          "a",
	"checkbox":      "input[type=checkbox]",
	"radio":         "input[type=radio]",
	"combobox":      "select",
	"listbox":       "select[multiple]",
	"slider":        "input[type=range]",
	"spinbutton":    "input[type=number]",
	"searchbox":     "input[type=search]",
	"file":          "input[type=file]",
	"textbox":       "textarea,[contenteditable],input:not([type=checkbox],[type=radio],[type=submit],[type=button])",
	"heading":       "h1,h2,h3,h4,h5,h6",
	"list":          "ul,ol,menu",
	"listitem":      "li",
	"row":           "tr",
	"rowgroup":      "tbody,thead,tfoot",
	"cell":          "td",
	"gridcell":      "td",
	"columnheader":  "th",
	"rowheader":     "th",
	"img":           "img,svg",
	"navigation":    "nav",
	"banner":        "header",
	"contentinfo":   "footer",
	"complementary": "aside",
	"region":        "section",
	"search":        "search",
	"group":         "fieldset,details,optgroup",
	"paragraph":     "p",
	"status":        "output",
	"progressbar":   "progress",
	"separator":     "hr",
	"term":          "dt",
	"definition":    "dd",
	"emphasis":      "em",
}

// fieldRoles are the roles of form fields.
var fieldRoles = []string{"checkbox", "radio", "combobox", "listbox", "slider", "spinbutton", "searchbox", "file", "textbox"}

// RoleSelector is the CSS selector of all elements of a role.
func RoleSelector(role string) string {
	implicit, known := roleSelectors[role]
	if !known {
		implicit = role
	}
	return "[role=" + role + "],:is(" + implicit + "):not([role])"
}

// Counts reports whether the target selects one of several elements by its number.
func (t *Target) Counts() bool {
	return t != nil && (t.Nth != nil || t.Within.Counts() || t.Or.Counts() || t.Has.Counts())
}

// maxDepth is how deep targets may be in one another.
const maxDepth = 10

// Check returns nil if the target can be used. CodeInvalid.
func (t Target) Check() error { return t.check(0) }

func (t Target) check(depth int) error {
	set := 0
	for _, s := range []string{t.Role, t.Text, t.Label, t.XPath} {
		if s != "" {
			set++
		}
	}
	if set != 1 && (set != 0 || t.CSS == "") || t.Role != "" && t.Name == "" || t.Role == "" && t.Name != "" {
		return routine.Errorf(routine.CodeInvalid, "the target of a text form has one of: role with name, text, label, xpath, css")
	}
	if !rolePattern.MatchString(t.Role) {
		return routine.Errorf(routine.CodeInvalid, "%s is no role", routine.Quote(t.Role))
	}
	if depth > maxDepth {
		return routine.Errorf(routine.CodeInvalid, "the target of a text form has more than %d others in one another", maxDepth)
	}
	if t.Match != Exact && t.Match != Contains && t.Match != Regex {
		return routine.Errorf(routine.CodeInvalid, "match is contains or regex, or left out")
	}
	patterns := []string{t.HasRegex, t.HasNotRegex, t.AttributeRegex}
	if t.Match == Regex {
		patterns = append(patterns, cmp.Or(t.Name+t.Text+t.Label, "/"))
	}
	if slices.ContainsFunc(patterns, func(s string) bool { return s != "" && !regexLiteral.MatchString(s) }) {
		return routine.Errorf(routine.CodeInvalid, "a pattern is written as in JavaScript: /next/i")
	}
	if (t.Attribute == "") != (t.AttributeRegex == "") {
		return routine.Errorf(routine.CodeInvalid, "attribute and attribute_regex are given together")
	}
	for _, other := range []*Target{t.Within, t.Or, t.Has, t.HasNot} {
		if other != nil {
			if err := other.check(depth + 1); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	rolePattern  = regexp.MustCompile(`^[A-Za-z-]*$`)
	regexLiteral = regexp.MustCompile(`(?s)^/(.+)/([imsu]*)$`)
)

// Elements returns a JavaScript expression that gives the list of all elements that the target
// names, also of those that cannot be seen.
func (t Target) Elements() (string, error) {
	if err := t.Check(); err != nil {
		return "", err
	}
	return "(()=>{\n" + t.functions() + "\nreturn " + t.find("") + ";\n})()", nil
}

// functions declares what the code of find uses: t is a text on one line, all the elements that
// match a selector, v reports whether an element can be seen, and name and label are the
// accessible names of elements and of fields; content is the text in an element.
func (t Target) functions() string {
	find := t.find("")
	code := `const t=s=>String(s??"").replace(/\s+/g," ").trim(),
all=(s,r=document)=>[...r.querySelectorAll(s),...[r,...r.querySelectorAll("*")].flatMap(e=>[e.shadowRoot,e.contentDocument].flatMap(i=>i?all(s,i):[]))],
v=e=>e.checkVisibility({visibilityProperty:true,opacityProperty:true})`
	if strings.Contains(find, "content(e)") {
		code += `,
content=e=>t(e.matches("input[type=submit],input[type=button]")?e.value:e.textContent)`
	}
	names := map[string]string{"name": contentNames, "label": fieldNames}
	for _, function := range []string{"name", "label"} {
		if !strings.Contains(find, function+"(e)") {
			continue
		}
		if !strings.Contains(code, "\nx=") {
			code += `,
x=l=>[...l||[]].map(e=>e.textContent.replace(e.querySelector("select")?.textContent,"")).join(" ")`
		}
		code += fmt.Sprintf(",\n%s=e=>t([e.ariaLabel,x(e.ariaLabelledByElements),%s,e.title].find(t))", function, names[function])
	}
	return code + ";"
}

// find is the JavaScript of the list of all elements that the target names.
// root is the variable of the element in which they are; empty: anywhere in the page.
func (t Target) find(root string) string {
	if t.Within != nil {
		return "[...new Set(" + t.Within.find(root) + ".flatMap(w=>" + t.findIn("w") + "))]" + t.filters(root)
	}
	return t.findIn(root) + t.filters(root)
}

// findIn is the JavaScript of the elements in a root, without what Has, Nth and such select.
func (t Target) findIn(root string) string {
	node := cmp.Or(root, "document")
	if root != "" {
		root = "," + root
	}
	switch {
	case t.Role != "":
		function := "name(e)"
		if slices.Contains(fieldRoles, t.Role) {
			function = "label(e)"
		}
		list := fmt.Sprintf("all(%s%s).filter(e=>%s)", scriptText(RoleSelector(t.Role)), root, t.same(function, t.Name))
		if t.Nth != nil {
			list += ".filter(v)" // a person does not count those that are hidden
		}
		return list
	case t.Label != "":
		return fmt.Sprintf("all(%s%s).filter(e=>%s)", scriptText("input:not([type=hidden]),textarea,select,[contenteditable]"), root, t.same("label(e)", t.Label))
	case t.Text != "":
		same := t.same("content(e)", t.Text)
		return fmt.Sprintf("all(%s%s).filter(e=>%s&&![...e.children].some(e=>%s))", scriptText(":not(head *,script,style,noscript)"), root, same, same)
	case t.XPath != "":
		return fmt.Sprintf("(x=>[...Array(x.snapshotLength).keys()].map(i=>x.snapshotItem(i)))(document.evaluate(%s,%s,null,7,null))", scriptText(t.XPath), node)
	}
	return fmt.Sprintf("all(%s%s)", scriptText(t.CSS), root)
}

// filters is the JavaScript that follows a list to select some of it.
func (t Target) filters(root string) string {
	code := ""
	if t.CSS != "" && t.Role+t.Text+t.Label+t.XPath != "" {
		code += ".filter(e=>e.matches(" + scriptText(t.CSS) + "))"
	}
	if t.HasText != "" {
		code += ".filter(e=>" + compare("t(e.textContent)", t.HasText, Contains) + ")"
	}
	if t.HasRegex != "" {
		code += ".filter(e=>" + compare("t(e.textContent)", t.HasRegex, Regex) + ")"
	}
	if t.HasNotText != "" {
		code += ".filter(e=>!" + compare("t(e.textContent)", t.HasNotText, Contains) + ")"
	}
	if t.HasNotRegex != "" {
		code += ".filter(e=>!" + compare("t(e.textContent)", t.HasNotRegex, Regex) + ")"
	}
	if t.Attribute != "" {
		code += ".filter(e=>" + compare("e.getAttribute("+scriptText(t.Attribute)+")", t.AttributeRegex, Regex) + ")"
	}
	if t.Has != nil {
		code += ".filter(e=>(w=>" + t.Has.find("w") + ")(e).length)"
	}
	if t.HasNot != nil {
		code += ".filter(e=>!(w=>" + t.HasNot.find("w") + ")(e).length)"
	}
	if t.Or != nil {
		code += ".concat(" + t.Or.find(root) + ")"
	}
	if t.Nth != nil {
		end := fmt.Sprint(",", *t.Nth+1)
		if *t.Nth == -1 {
			end = ""
		}
		code += fmt.Sprintf(".slice(%d%s)", *t.Nth, end)
	}
	return code
}

// same is the JavaScript that compares a text of an element with one of the target.
func (t Target) same(expression, text string) string { return compare(expression, text, t.Match) }

// compare is the JavaScript that compares a text with another one, which ends in "…" if it was
// shortened.
func compare(expression, text, match string) string {
	switch match {
	case Contains:
		return expression + ".toLowerCase().includes(t(" + scriptText(text) + ").toLowerCase())"
	case Regex:
		m := regexLiteral.FindStringSubmatch(text)
		return "RegExp(" + scriptText(m[1]) + "," + scriptText(m[2]) + ").test(" + expression + ")"
	}
	if beginning, shortened := strings.CutSuffix(text, "…"); shortened {
		return expression + ".startsWith(t(" + scriptText(beginning) + "))"
	}
	return expression + "===t(" + scriptText(text) + ")"
}

// scriptText is a JavaScript string. A placeholder in it is filled with escaped text.
func scriptText(text string) string { return routine.JSONText(text) }

// describe names the element for an error message.
func (t Target) describe() string {
	switch {
	case t.Near != "":
		return fmt.Sprintf("%s '%s' near '%s'", t.Role, t.Name, t.Near)
	case t.Role != "":
		return fmt.Sprintf("%s '%s'", t.Role, t.Name)
	case t.Text != "":
		return fmt.Sprintf("the text '%s'", t.Text)
	case t.Label != "":
		return fmt.Sprintf("a field '%s'", t.Label)
	case t.CSS != "":
		return fmt.Sprintf("'%s'", t.CSS)
	}
	return "found by XPath"
}
