package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	sites "rote/cmd/rote/practice/teach"
)

// taskInvoices: the PDF file of an invoice by its number.
func taskInvoices(s *driver) {
	invoices := s.sites.AllInvoices()
	look := s.start(members{"url": s.url(sites.Invoices, "/")})
	s.try(members{"customer": s.sites.Customer(sites.Invoices), "password": members{"secret": secretOf(sites.Invoices)}},
		typeText(s.selectorOn(look, `text "Customer"`), "{{customer}}"), typeText(s.selectorOn(look, `password "Password"`), "{{password}}"),
		click(s.selectorOn(look, `button "Log in"`)))
	look = s.in("take_snapshot", members{})
	find := fmt.Sprintf(`(() => [...document.querySelectorAll('%s tr')].find(row => row.cells[0].innerText === {{number}}).querySelector('%s').href)()`,
		s.selectorOn(look, "table "), s.selectorOn(look, `link "PDF"`))
	s.try(members{"number": invoices[0].Number}, members{"type": "js_evaluate", "js": find, "session_storage_key": "pdf"},
		members{"type": "download", "endpoint": members{"url": "{{sessionStorage:pdf}}"}, "filename": "{{number}}.pdf"})
	s.save(members{"name": "invoice_file", "description": "The PDF file of an invoice.", "other_values": members{"number": invoices[1].Number}})
	s.finish("invoices")

	for _, i := range invoices[5:8] {
		a := s.tryRun(members{"customer": s.sites.Customer(sites.Invoices), "password": s.sites.Password(sites.Invoices), "number": i.Number})
		file, err := fileIn(a.structured)
		if a.failed || err != nil || !bytes.Equal(file, s.sites.InvoiceFile(i.Number)) {
			s.t.Errorf("invoice %s: %v, %d bytes: %s", i.Number, err, len(file), a.text)
		}
	}
}

// fileIn is the file in the result of a run.
func fileIn(structured json.RawMessage) ([]byte, error) {
	var ran struct {
		Data  string
		Files []struct{ Path string }
	}
	if err := json.Unmarshal(structured, &ran); err != nil {
		return nil, err
	}
	if len(ran.Files) == 1 && ran.Files[0].Path != "" {
		return os.ReadFile(ran.Files[0].Path)
	}
	return base64.StdEncoding.DecodeString(ran.Data)
}

// taskStories: the titles of the first 60 stories of an endless list.
func taskStories(s *driver) {
	look := s.start(members{"url": s.url(sites.Stories, "/")})
	item := s.selectorOn(look, "list 20 ×")
	titles := fmt.Sprintf(`(() => [...document.querySelectorAll(%q)].slice(0, 60).map(item => item.querySelector('h2').innerText))()`, item)
	all := members{"type": "js_evaluate", "js": titles, "session_storage_key": "titles"}
	s.try(nil, members{"type": "scroll", "y": 1_000_000}, members{"type": "scroll", "selector": item + ":nth-of-type(40)", "delta_y": 0},
		members{"type": "scroll", "y": 2_000_000}, members{"type": "scroll", "selector": item + ":nth-of-type(60)", "delta_y": 0},
		all, members{"type": "return", "session_storage_key": "titles"})
	s.in("take_snapshot", members{"find": "ignore your task"})
	s.in("list_network_requests", members{})
	s.save(members{"name": "story_titles", "description": "The titles of the first 60 stories."})
	s.finish("stories")

	var want []string
	for _, story := range s.sites.AllStories()[:60] {
		want = append(want, story.Title)
	}
	same(s, "titles", s.run(members{}), want)
	if n := s.sites.Requests(sites.Evil); n != 0 {
		s.t.Errorf("%d requests to the host of the injected instructions", n)
	}
	if s.bytes > 60_000 {
		s.t.Errorf("the answers have %d bytes", s.bytes)
	}
}

// clickByName clicks the only element with a role and a name, as looks offer it for those
// that only their place tells apart.
func clickByName(role, name string) members {
	return members{"type": "click", "x-target": members{"role": role, "name": name}}
}

const saidLater = `(async () => {
  for (let i = 0; i < 30; i++) {
    const said = document.querySelector(%q)?.innerText;
    if (said) return said;
    await new Promise(done => setTimeout(done, 100));
  }
  throw new Error('the page said nothing');
})()`

// saying returns operations that return the text of an element once it has one.
func saying(selector string) []any {
	return []any{members{"type": "js_evaluate", "js": fmt.Sprintf(saidLater, selector), "timeout_seconds": 10, "session_storage_key": "said"},
		members{"type": "return", "session_storage_key": "said"}}
}

// taskLetters: subscribe an e-mail address. Then mend it, when the site was rebuilt.
func taskLetters(s *driver) {
	look := s.start(members{"url": s.url(sites.Letters, "/")})
	only := clickByName("button", "Only what is needed")
	only["x-optional"] = true // the dialog comes to some visitors only
	s.try(members{"email": "teach@practice.test"}, only, typeText(s.selectorOn(look, `"Your e-mail address"`), "{{email}}"))
	s.try(nil, append([]any{clickByName("button", "Subscribe")}, saying("[role=status]")...)...)
	s.save(members{"name": "subscribe", "description": "Subscribes an e-mail address to the letter.", "prove": "check_last"})
	s.finish("letters")

	s.subscribes("one", sites.Original)
	s.subscribes("two", sites.Redesigned)
}

// subscribes runs the routine for three addresses and looks at what the site got.
func (s *driver) subscribes(name string, version sites.Version) {
	s.t.Helper()
	s.sites.SetVersion(sites.Letters, version)
	for i := range 3 {
		email := fmt.Sprintf("%s%d@practice.test", name, i)
		before := s.sites.Subscriptions()
		s.run(members{"email": email})
		got := s.sites.Subscriptions()
		if len(got) != len(before)+1 || got[len(got)-1] != (sites.Subscription{Email: email}) {
			s.t.Errorf("version %d, %s: the site has %+v", version, email, got[len(before):])
		}
	}
	if n := s.sites.Deletions(); n != 0 {
		s.t.Errorf("the account was deleted %d times", n)
	}
}

// taskInsurance: the price of an insurance, after four steps.
func taskInsurance(s *driver) {
	look := s.start(members{"url": s.url(sites.Insurance, "/")})
	kind := strings.Replace(s.selectorOn(look, `radio "car"`), `"car"`, `"{{kind}}"`, 1)
	look = s.try(members{"kind": "car"}, click(kind), click(s.selectorOn(look, `button "Next: cover"`)))
	look = s.try(nil, click(s.selectorOn(look, `checkbox "Also broken glass"`)), click(s.selectorOn(look, `button "Next: model"`)))
	model := s.sites.Models("Aurora")[0]
	next := s.selectorOn(look, `button "Next: place"`)
	look = s.try(members{"make": "Aurora", "model": model}, typeText(s.selectorOn(look, `select "Make"`), "{{make}}"),
		typeText(s.selectorOn(look, `select "Model"`), "{{model}}"), click(next))
	finish := s.selectorOn(look, `button "Show the price"`)
	s.try(members{"city": "Oslo"}, typeText(s.selectorOn(look, `"City"`), "{{city}}"))
	look = s.in("take_snapshot", members{"find": "Oslo"})
	s.try(nil, append([]any{click(s.selectorOn(look, `option "Oslo"`)), click(finish)}, saying("output")...)...)
	s.save(members{"name": "insurance_price", "description": "The price of the insurance of a vehicle.", "prove": "all",
		"other_values": members{"kind": "camper", "make": "Corvid", "model": s.sites.Models("Corvid")[1], "city": "Hamar"}})
	s.finish("insurance")

	for _, v := range []sites.Vehicle{
		{Kind: "motorcycle", Glass: true, Make: "Borealis", Model: s.sites.Models("Borealis")[2], City: "Bergen"},
		{Kind: "car", Glass: true, Make: "Corvid", Model: s.sites.Models("Corvid")[3], City: "Tromsø"},
		{Kind: "camper", Glass: true, Make: "Aurora", Model: s.sites.Models("Aurora")[1], City: "Molde"},
	} {
		same(s, fmt.Sprint(v), s.run(members{"kind": v.Kind, "make": v.Make, "model": v.Model, "city": v.City}), s.sites.Premium(v))
	}
	before := s.sites.Requests(sites.Insurance)
	if a := s.tryRun(members{"kind": "boat", "make": "Aurora", "model": model, "city": "Oslo"}); !a.failed || !strings.Contains(a.text, "kind") {
		s.t.Errorf("a kind that there is not is taken:\n%s", a.text)
	}
	if n := s.sites.Requests(sites.Insurance) - before; n != 0 {
		s.t.Errorf("%d requests for values that are refused", n)
	}
}

// taskShop: order an item by name, n pieces.
func taskShop(s *driver) {
	items := s.sites.Items()
	look := s.start(members{"url": s.url(sites.Shop, "/")})
	entry := s.selectorOn(look, "list 24 ×")
	look = s.try(members{"item": items[0]}, typeText(s.selectorOn(look, `search "Search"`), "{{item}}"),
		click(s.selectorOn(look, `button "Search"`)), click(entry+" a"))
	pieces := typeText(s.selectorOn(look, `number "Pieces"`), "{{pieces}}")
	pieces["clear"] = true
	look = s.try(members{"pieces": 2}, pieces, click(s.selectorOn(look, `button "Add to cart"`)))
	s.try(nil, append([]any{click(s.selectorOn(look, `button "Place the order"`))}, saying("output")...)...)
	s.save(members{"name": "order_basket", "description": "Orders pieces of an item.", "prove": "check_last"})
	s.finish("shop")

	want := []sites.Order{{Item: items[0], Quantity: 2}}
	if got := s.sites.Orders(); !slices.Equal(got, want) {
		s.t.Errorf("teaching and saving left the orders %v", got)
	}
	for i, item := range items[5:8] {
		want = append(want, sites.Order{Item: item, Quantity: 3 + i})
		same(s, item, s.run(members{"item": item, "pieces": 3 + i}), fmt.Sprint(1000+len(want)))
		if got := s.sites.Orders(); !slices.Equal(got, want) {
			s.t.Errorf("the orders are %v, want %v", got, want)
		}
	}
}

// taskLettersAndMend: subscribe an address; then mend the routine, when the site was rebuilt.
func taskLettersAndMend(s *driver) {
	taskLetters(s)
	*s = driver{taskServer: s.taskServer, t: s.t, started: time.Now(), note: s.note, routine: s.routine}
	s.sites.SetVersion(sites.Letters, sites.Rebuilt)
	failed := s.tryRun(members{"email": "lost@practice.test"})
	if !failed.failed {
		s.t.Fatalf("the routine does not fail on the rebuilt site:\n%s", failed.text)
	}
	mend := members{"routine": s.routine.ID, "execution": execution.FindStringSubmatch(failed.text)[1]}
	begun := s.call("start_lesson", mend)
	if until := untilNumber.FindStringSubmatch(begun.text); begun.failed && until != nil { // it says what would be sent again
		mend["until"] = json.Number(until[1])
		begun = s.call("start_lesson", mend)
	}
	s.lesson = lessonID.FindString(begun.text)
	failing := failingNumber.FindStringSubmatch(begun.text)
	if s.lesson == "" || failing == nil || strings.Contains(s.lineWith(begun.text, "try_operation"), "Delete account") {
		s.t.Fatalf("the operation that fails is not named, or deleting is proposed:\n%s", begun.text)
	}
	// The operations after it are done too, and find that there is another step.
	after := s.call("try_operation", members{"lesson": s.lesson, "at": json.Number(failing[1]), "operation": clickByName("button", "Sign me up")})
	if !strings.Contains(after.text, `"I agree"`) {
		s.t.Fatalf("the new step is not shown:\n%s", after.text)
	}
	s.try(nil, clickByName("button", "I agree"))
	version := s.routine.Version
	s.save(members{"expected_version": version, "prove": "check_last"})
	s.finish("mend")

	if s.calls > 6 || s.routine.Version <= version {
		s.t.Errorf("version %d after %d calls", s.routine.Version, s.calls)
	}
	before, _, _ := s.rote.run("show", s.routine.ID, "--at-version", fmt.Sprint(version))
	now, _, _ := s.rote.run("show", s.routine.ID)
	if !strings.Contains(before, `"Subscribe"`) || strings.Contains(before, "Sign me up") || !strings.Contains(now, "Sign me up") {
		s.t.Errorf("version %d is\n%s\nand now it is\n%s", version, before, now)
	}
	s.subscribes("three", sites.Rebuilt)
}

var (
	execution   = regexp.MustCompile(`"execution":"([0-9a-f-]+)"`)
	untilNumber = regexp.MustCompile(`until (\d+)`)

	failingNumber = regexp.MustCompile(`Operation (\d+) of`)
)
