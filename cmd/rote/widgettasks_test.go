//go:build widgets

package main

import "fmt"

var widgetTasks = []widgetTask{
	{"mui", "type into a text field", typeInto("#name", "Ada Lovelace"), "name=Ada Lovelace;"},
	{"mui", "choose from an autocomplete by typing", then(typeInto("#film", "stal"), clickOn("li[role=option]")), "film=Stalker;"},
	{"mui", "choose from an autocomplete by keys", then(typeInto("#film", "du"), pressKey("ArrowDown"), pressKey("Enter")), "film=Dune;"},
	{"mui", "choose from a select", then(clickOn("#country"), clickOn("[data-country=Chile]")), "country=Chile;"},
	{"mui", "type a date", typeInto(".MuiPickersTextField-root", "03152031"), "day=2031-03-15;"},
	{"mui", "pick a date", then(clickOn("button[aria-label^='Choose date']"), clickOn("[role=row][aria-rowindex='3'] [aria-colindex='4']")), "day=2030-05-15;"},
	{"mui", "tick a checkbox", clickOn("#terms"), "terms=true;"},
	{"mui", "turn on a switch", clickOn("#news"), "news=true;"},
	{"mui", "choose a radio", clickOn("input[name=size][value=large]"), "size=large;"},
	{"mui", "rate with stars", clickOn("label:has(+ input[name=stars][value='4'])"), "stars=4;"},
	{"mui", "change the tab", clickOn("#tab-two"), "tab=1;"},
	{"mui", "choose from a menu", then(clickOn("#more"), clickOn("#archive")), "menu=archive;"},
	{"mui", "confirm in a dialog", then(clickOn("#delete"), clickOn("#confirm")), "dialog=confirmed;"},
	{"mui", "apply in a drawer that slides in", then(clickOn("#open-drawer"), clickOn("#apply")), "drawer=applied;"},

	{"antd", "choose from a select by typing", then(typeInto("#city", "osl"), clickOn(".ant-select-item-option[title=Oslo]")), "city=Oslo;"},
	{"antd", "choose several", then(clickOn("#tags"), clickOn("[title=red]"), clickOn("[title=blue]")), "tags=red,blue;"},
	{"antd", "type a date", then(typeInto("#day", "2031-03-15"), pressKey("Enter")), "day=2031-03-15;"},
	{"antd", "pick a date", then(clickOn("#day"), clickOn("td[title='2030-05-17']")), "day=2030-05-17;"},
	{"antd", "type a number", typeInto("#count", "12"), "count=12;"},
	{"antd", "choose what is suggested", then(typeInto("#mail", "ann"), clickOn("[title='ann@two.example']")), "mail=ann@two.example;"},
	{"antd", "choose in a cascade", then(clickOn("#place"), clickOn("[title=Europe]"), clickOn("[title=Italy]")), "place=europe,italy;"},
	{"antd", "choose in a tree", then(clickOn("#tree"), clickOn("[title=Pear]")), "tree=pear;"},
	{"antd", "choose a radio button", clickOn("input[type=radio][value=l]"), "size=l;"},
	{"antd", "turn on a switch", clickOn("#switch"), "switch=true;"},
	{"antd", "confirm in a bubble", then(clickOn("#remove"), clickOn("#sure")), "confirm=sure;"},
	{"antd", "confirm in a dialog", then(clickOn("#modal"), clickOn("#ok")), "modal=ok;"},
	{"antd", "sort a table", then(clickOn("th.age"), `{"type": "js_evaluate", "js":`+
		`"(() => { document.querySelector('#said').append('ages=' + [...document.querySelectorAll('td.age')].map(c => c.textContent)) })()"}`), "ages=0,1,2,3,4"},

	{"material", "type into a field", typeInto("#name", "Ada"), "name=Ada;"},
	{"material", "write several lines", typeInto("#note", "one\ntwo"), "note=one\ntwo;"},
	{"material", "choose from a select", then(clickOn("#fruit"), clickOn("md-select-option[value=pear]")), "fruit=pear;"},
	{"material", "tick a checkbox", clickOn("#terms"), "terms=true;"},
	{"material", "turn on a switch", clickOn("#news"), "news=true;"},
	{"material", "choose a radio", clickOn("#large"), "size=large;"},
	{"material", "confirm in a dialog", then(clickOn("#open"), clickOn("#yes")), "dialog=yes;"},
	{"material", "change the tab", clickOn("#two"), "tab=1;"},

	{"shoelace", "type into a field", typeInto("#name", "Ada"), "name=Ada;"},
	{"shoelace", "choose from a select", then(clickOn("#colour"), clickOn("sl-option[value=blue]")), "colour=blue;"},
	{"shoelace", "tick a checkbox", clickOn("#terms"), "terms=true;"},
	{"shoelace", "turn on a switch", clickOn("#news"), "news=true;"},
	{"shoelace", "open details and click inside", then(clickOn("#more"), clickOn("#inside")), "inside=clicked;"},
	{"shoelace", "choose from a menu", then(clickOn("#trigger"), clickOn("#paste")), "menu=paste;"},
	{"shoelace", "apply in a drawer that slides in", then(clickOn("#open"), clickOn("#apply")), "drawer=applied;"},

	{"select2", "choose by searching", then(clickOn("#one + .select2 .select2-selection"), typeInto(".select2-dropdown .select2-search__field", "eb"),
		pressKey("Enter")), "one=Ebony;"},
	{"select2", "choose several", then(clickOn("#many + .select2"), clickOn(".select2-results__option:nth-child(2)"), clickOn("#many + .select2"),
		clickOn(".select2-results__option:nth-child(4)")), "many=Beige,Denim;"},

	{"flatpickr", "pick a date", then(clickOn("#day"), clickOn(".flatpickr-calendar.open [aria-label='May 17, 2030']")), "day=2030-05-17;"},
	{"flatpickr", "pick a day of the next month", then(clickOn("#day"), clickOn(".flatpickr-calendar.open .flatpickr-next-month"),
		clickOn(".flatpickr-calendar.open [aria-label='June 3, 2030']")), "day=2030-06-03;"},
	{"flatpickr", "pick a range", then(clickOn("#span"), clickOn(".flatpickr-calendar.open [aria-label='May 6, 2030']"),
		clickOn(".flatpickr-calendar.open [aria-label='May 9, 2030']")), "span=2030-05-06 to 2030-05-09;"},

	{"grid", "sort by a column", clickOn(".ag-header-cell[col-id=price] .ag-header-cell-label"), "first=Item 0;"},
	{"grid", "filter the rows", then(typeInto(".ag-floating-filter input", "Item 99"), `{"type": "sleep", "timeout_seconds": 1}`), "rows=11;"},
	{"grid", "edit a cell", then(`{"type": "click", "selector": "[row-id='Item 2'] [col-id=price]", "click_count": 2}`,
		replaceIn("[row-id='Item 2'] [col-id=price] input", "55"), pressKey("Enter")), "edited=Item 2:55;"},

	{"tinymce", "write into the editor", typeInto(".tox-edit-area", "Hello there"), "html=&lt;p&gt;Hello there&lt;/p&gt;;"},
	{"tinymce", "write in bold", then(typeInto(".tox-edit-area", "Loud"), pressKey("Control+a"), clickOn("button[data-mce-name=bold]")),
		"html=&lt;p&gt;&lt;strong&gt;Loud&lt;/strong&gt;&lt;/p&gt;;"},

	{"quill", "write into the editor", typeInto(".ql-editor", "Hello there"), `text=[{"insert":"Hello there\n"}];`},
	{"quill", "write what looks like a list", typeInto(".ql-editor", "- one\ntwo"), `text=[{"insert":"- one\ntwo\n"}];`},
	{"quill", "write a list", then(clickOn("button.ql-list[value=bullet]"), typeInto(".ql-editor", "one\ntwo")),
		`{"insert":"one"},{"attributes":{"list":"bullet"},"insert":"\n"},{"insert":"two"}`},

	{"codemirror", "replace the text", replaceIn(".cm-content", "if (a) { b('c') }"), `doc="if (a) { b('c') }";`},
	{"codemirror", "write several lines", replaceIn(".cm-content", "function f() {\n  return [1]\n}\n"), `doc="function f() {\n  return [1]\n}\n";`},
	{"monaco", "replace the text", replaceIn(".monaco-editor", "if (a) { b('c') }"), `doc="if (a) { b('c') }";`},
	{"monaco", "write several lines", replaceIn(".monaco-editor", "function f() {\n  return [1]\n}\n"), `doc="function f() {\n  return [1]\n}\n";`},

	{"imask", "type a telephone number", typeInto("#phone", "2025550143"), "phone=+1 (202) 555-0143;"},
	{"imask", "type an amount", typeInto("#amount", "1234567.5"), "amount=1,234,567.5;"},
	{"imask", "type a date", typeInto("#day", "15032029"), "day=15.03.2029;"},

	{"sortable", "move an item", then(pointer("pointerdown", "#one"), pointer("pointermove", "#two"), pointer("pointermove", "#three"),
		`{"type": "sleep", "timeout_seconds": 0.3}`, pointer("pointerup", "#three")), "order=two,three,one;"},
}

// pointer is a script that sends an event of the mouse from the lower half of
// an element, as there is no operation that drags.
func pointer(event, selector string) string {
	return fmt.Sprintf(`{"type": "js_evaluate", "js": "(() => { const item = document.querySelector('%[2]s'), box = item.getBoundingClientRect();`+
		` item.dispatchEvent(new PointerEvent('%[1]s', {bubbles: true, cancelable: true, button: 0, pointerType: 'mouse',`+
		` clientX: box.x + 20, clientY: box.bottom - 3})) })()"}`,
		event, selector)
}
