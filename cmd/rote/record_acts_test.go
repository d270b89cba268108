package main

import "rote/routine/recording"

// recordedActs is what the person does on each page, and then a click with Alt marks its end. With a
// path the page is not that of the name, and end is what is marked.
var recordedActs = []struct {
	name, path, end string
	act             func(p *watched)
}{
	{"form", "", "", func(p *watched) {
		p.click("[name=name]", 0)
		p.types("Ann Lee")
		p.presses("Tab", 9, "")
		p.types("3")
		p.presses("Tab", 9, "")
		p.types("G") // in the list of colours
		p.presses("Tab", 9, "")
		p.types("12242026")
		p.click("[name=gift]", 0)
		p.click("label:has([value=bike])", 0)
		p.click("[name=message]", 0)
		p.types("Ring twice")
		p.click("form button", 0)
		p.at("/pages/done.html")
	}},
	{"editor", "", "", func(p *watched) {
		p.click("[contenteditable]", 0)
		p.types("Hello")
		p.call(p.session, "Input.dispatchKeyEvent",
			map[string]any{"type": "keyDown", "key": "b", "code": "KeyB", "windowsVirtualKeyCode": 66, "modifiers": 2}, &struct{}{})
		p.does(`document.title === "bold"`)
	}},
	{"menu", "", "", func(p *watched) {
		p.click("#open", 0)
		p.presses("ArrowDown", 40, "")
		p.presses("Enter", 13, "\r")
		p.does(`document.title === "Archive"`)
	}},
	{"dialog", "", "", func(p *watched) {
		p.click("#remove", 0)
		p.answers(true, "")
		p.does(`document.title === "removed"`)
	}},
	{"buttons", "", "", func(p *watched) {
		at := p.middle("#file")
		p.clickAt(at, 0, 1)
		p.clickAt(at, 0, 2)
		p.does(`document.title === "opened"`)
		p.button("#file", "right")
		p.click("#rename", 0)
	}},
	{"frame", "", "", func(p *watched) {
		p.middle("iframe")
		p.clickAt(point{170, 130}, 0, 1) // a field of another site
		p.types("High Street")
		p.clickAt(point{170, 175}, 0, 1)
		p.does(`document.title === "paid"`)
	}},
	{"popup", "", "", func(p *watched) {
		p.click("#terms", 0)
		p.until(recording.Opened)
		q := p.other()
		q.click("#more", 0)
		q.closePage()
		p.until(recording.Closed)
		p.click("#agree", 0)
	}},
	{"scroll", "", "", func(p *watched) {
		p.wheel("#text")
		p.wheel("#feed")
		p.does(`feed.children.length === 30`)
		p.click("#feed li:nth-child(25)", 0)
	}},
	{"history", "", "", func(p *watched) {
		p.click("#moved", 0)
		p.at("/pages/arrived.html")
		p.click("#on", 0)
		p.at("/pages/done.html")
		p.back()
		p.at("/pages/arrived.html")
		p.click("#on", 0)
		p.at("/pages/done.html")
		p.address("/pages/terms.html")
		p.click("#more", 0)
		p.does(`(window.old = true)`)
		p.call(p.session, "Page.reload", nil, &struct{}{})
		p.does(`!window.old`)
	}},
	{"secrets", "", "", func(p *watched) {
		p.click("[name=user]", 0)
		p.types("ann")
		p.click("#password", 0)
		p.types("hunt")
		p.click("#eye", 0)
		p.click("#password", 0)
		p.presses("End", 35, "")
		p.types("er2")
		for _, field := range [][2]string{{"#code", "246810"}, {"#card", "4111"}, {"#owner", "ann lee"}, {"#check", "987"}} {
			p.click(field[0], 0)
			p.types(field[1])
		}
	}},
	{"download", "", "", func(p *watched) {
		p.click("#list", 0)
		p.until(recording.Download)
		p.click("#made", 0)
		p.until(recording.Download)
	}},
	{"shop", "/", ".order", func(p *watched) {
		p.click("#q", 0)
		p.types("lamp")
		p.presses("Enter", 13, "\r")
		p.click(".product .name", 0)
		p.click("nav a[href='/account']", 0)
		p.click("#username", 0)
		p.types("ada")
		p.presses("Tab", 9, "")
		p.types("lovelace")
		p.click("#sign-in", 0)
	}},
	{"spa", "", "", func(p *watched) {
		p.click("#orders", 0)
		p.click(".pay", 0)
		p.does(`document.title === "paid"`)
		p.back()
		p.does(`view.textContent === "Start"`)
		p.click("#later", 0)
		p.at("/pages/done.html")
	}},
	{"shadow", "", "", func(p *watched) {
		p.middle("#end")
		p.clickAt(p.inShadow("input"), 0, 1)
		p.types("lamp")
		p.clickAt(p.inShadow("label:nth-of-type(2)"), 0, 1)
		p.clickAt(p.inShadow("b"), 0, 1)
		p.does(`document.title === "lamp"`)
		at := p.middle("shop-closed")
		p.clickAt(point{30, at.Y}, 0, 1)
		p.does(`document.title === "closed"`)
		p.clickAt(p.inFrame("input"), 0, 1)
		p.types("Oslo")
		p.clickAt(p.inFrame("button"), 0, 1)
		p.does(`document.title === "Oslo"`)
	}},
	{"fields", "", "", func(p *watched) {
		p.click("[for=news]", 0)
		p.click("label:has([value=s])", 0)
		p.presses("ArrowRight", 39, "")
		p.click("[name=notes]", 0)
		p.types("one")
		p.presses("Enter", 13, "\r")
		p.types("two")
		p.click("[name=volume]", 0)
		p.presses("ArrowRight", 39, "")
		p.click("[name=extras] option", 0)
		p.click("[name=country]", 0)
		p.types("Norway")
		p.click("[name=phone]", 0)
		p.types("5551234")
		p.presses("Enter", 13, "\r")
		p.does(`document.title === "sent"`)
	}},
	{"alert", "", "", func(p *watched) {
		p.asked("#hello")
		p.answers(true, "")
		p.does(`document.title === "told"`)
		p.asked("#remove")
		p.answers(false, "")
		p.does(`document.title === "kept"`)
		p.asked("#name")
		p.answers(true, "Ann")
		p.does(`document.title === "Ann"`)
		p.asked("#leave")
		p.answers(true, "")
		p.at("/pages/done.html")
	}},
	{"odd", "", "", func(p *watched) {
		p.click("[name=town]", 0)
		p.types("Os")
		p.click(".oslo", 0)
		p.does(`document.title === "Oslo"`)
		p.click("[name=street]", 0)
		p.types("High")
		p.click("#over", 0)
		p.does(`document.title === "over"`)
		p.click("#files li", 0)
		p.click("#files li:nth-child(2)", withControl)
		p.does(`document.title === "both"`)
		p.click("#new", 0)
		p.until(recording.Opened)
		q := p.other()
		q.asked("#choose")
		p.until(recording.Closed)
	}},
}
