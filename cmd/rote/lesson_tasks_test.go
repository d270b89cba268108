package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	sites "rote/cmd/rote/practice/teach"
)

// members are those of a JSON object.
type members = map[string]any

func click(selector string) members { return members{"type": "click", "selector": selector} }
func navigateTo(url string) members { return members{"type": "navigate", "url": url} }
func typeText(selector, text string) members {
	return members{"type": "input_text", "selector": selector, "text": text}
}

// same fails if the data of a run differs.
func same[T any](s *driver, what string, data json.RawMessage, want T) {
	s.t.Helper()
	var got T
	if err := json.Unmarshal(data, &got); err != nil {
		s.t.Errorf("%s: %v: %.300s", what, err, data)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// taskCatalog: the products of a category with price and link.
func taskCatalog(s *driver) {
	s.start(members{"url": s.url(sites.Catalog, "/")})
	s.try(members{"category": "lamps"}, navigateTo(s.url(sites.Catalog, "/c/{{category}}")))
	look := s.in("take_snapshot", members{})
	extraction := s.in("take_snapshot", members{"extract": s.selectorOn(look, "list 40 ×")})
	s.try(nil, s.operationsIn(extraction)...)
	s.save(members{"name": "products_of_category", "description": "The products of a category with price and link.",
		"other_values": members{"category": "beds"}})
	s.finish("catalog")

	for _, version := range []sites.Version{sites.Original, sites.Redesigned} {
		s.sites.SetVersion(sites.Catalog, version)
		for _, category := range []string{"chairs", "sofas", "clocks"} {
			var rows []map[string]string
			if err := json.Unmarshal(s.run(members{"category": category}), &rows); err != nil {
				s.t.Fatal(err)
			}
			products := s.sites.Products(category, 1)
			if len(rows) != len(products) {
				s.t.Fatalf("version %d, %s: %d rows", version, category, len(rows))
			}
			for i, p := range products {
				if rows[i]["name"] != p.Name || rows[i]["url"] != s.url(sites.Catalog, p.Path) || !hasValue(rows[i], p.Price) {
					s.t.Fatalf("version %d, %s: row %d is %v, want %+v", version, category, i, rows[i], p)
				}
			}
		}
	}
}

func hasValue(row map[string]string, value string) bool {
	for _, v := range row {
		if v == value {
			return true
		}
	}
	return false
}

// taskSearch: search products by a word.
func taskSearch(s *driver) {
	look := s.start(members{"url": s.url(sites.Search, "/")})
	s.try(members{"query": "small kettle"}, typeText(s.selectorOn(look, `"What do you look for?"`), "{{query}}"), click(s.selectorOn(look, `button "Search"`)))
	list := s.in("list_network_requests", members{"find": s.sites.Find("small kettle")[0].Name})
	request := s.in("list_network_requests", members{"id": s.requestWith(list, "/api/search")})
	s.in("undo_operations", members{"to": 1})
	s.try(members{"query": "small kettle"}, s.operationsIn(request)...)
	s.save(members{"name": "search_products", "description": "Searches products by a word.", "prove": "all", "other_values": members{"query": "mug"}})
	s.finish("search")

	definition := s.call("describe_routine", members{"id": s.routine.ID, "definition": true}).text
	if !strings.Contains(definition, `fetch`) || strings.Contains(definition, `"click"`) {
		s.t.Errorf("the routine does not fetch:\n%s", definition)
	}
	for _, token := range s.sites.Tokens() {
		if strings.Contains(definition, token) {
			s.t.Errorf("the routine has a token of the lesson's visit:\n%s", definition)
		}
	}
	fastest := time.Hour
	for _, word := range []string{"teapot", "Nord", "folding mug"} {
		found := s.sites.Find(word)
		type answer struct {
			Items []sites.Product `json:"items"`
			Total int             `json:"total"`
		}
		for i := range found {
			found[i].Stars = 0
		}
		start := time.Now()
		data := s.run(members{"query": word})
		fastest = min(fastest, time.Since(start))
		same(s, word, data, answer{found, len(found)})
	}
	s.t.Logf("the fastest run took %v", fastest)
}

// taskPurchases: my orders of a year, behind a login.
func taskPurchases(s *driver) {
	look := s.start(members{"url": s.url(sites.Purchases, "/login")})
	s.try(members{"customer_number": s.sites.Customer(sites.Purchases), "password": members{"secret": secretOf(sites.Purchases)}},
		typeText(s.selectorOn(look, `"Customer number"`), "{{customer_number}}"), typeText(s.selectorOn(look, `password "Password"`), "{{password}}"),
		click(s.selectorOn(look, `button "Log in"`)))
	look = s.in("take_snapshot", members{})
	s.try(members{"year": "2024"}, typeText(s.selectorOn(look, `select "Year"`), "{{year}}"), click(s.selectorOn(look, `button "Show"`)))
	look = s.in("take_snapshot", members{})
	extraction := s.in("take_snapshot", members{"extract": s.selectorOn(look, "table ")})
	s.try(nil, s.operationsIn(extraction)...)
	s.save(members{"name": "my_purchases", "description": "My purchases of a year.", "other_values": members{"year": "2020"}})
	s.finish("purchases")

	for _, year := range []int{2019, 2022, 2025} {
		data := s.run(members{"customer_number": s.sites.Customer(sites.Purchases), "password": s.sites.Password(sites.Purchases),
			"year": fmt.Sprint(year)})
		want := []map[string]string{}
		for _, p := range s.sites.PurchasesOf(year) {
			want = append(want, map[string]string{"number": p.Number, "date": p.Date, "items": p.Items, "total": p.Total})
		}
		same(s, fmt.Sprint(year), data, want)
	}
}

// taskBank: the balance of an account, behind a login in a frame of another host.
func taskBank(s *driver) {
	accounts := s.sites.Accounts()
	look := s.start(members{"url": s.url(sites.Bank, "/")})
	s.try(members{"customer_number": s.sites.Customer(sites.SignIn), "pin": members{"secret": secretOf(sites.SignIn)}},
		click(s.selectorOn(look, `button "Only necessary"`)),
		typeText(s.selectorOn(look, `"Customer number"`), "{{customer_number}}"), typeText(s.selectorOn(look, `password "PIN"`), "{{pin}}"),
		click(s.selectorOn(look, `checkbox "This is my own device"`)), click(s.selectorOn(look, `button "Sign in"`)))
	s.try(members{"account": accounts[0].Number}, navigateTo(s.url(sites.Bank, "/accounts/{{account}}")))
	balance := `(() => document.querySelector('main').innerText.match(/Balance (.*)/)[1])()`
	s.try(nil, members{"type": "js_evaluate", "js": balance, "session_storage_key": "balance"},
		members{"type": "return", "session_storage_key": "balance"})
	s.save(members{"name": "account_balance", "description": "The balance of an account.", "prove": "all",
		"other_values": members{"account": accounts[1].Number}})
	s.finish("bank")

	for _, version := range []sites.Version{sites.Original, sites.Redesigned} {
		s.sites.SetVersion(sites.Bank, version)
		s.sites.SetVersion(sites.SignIn, version)
		for _, a := range accounts[2:] {
			data := s.run(members{"customer_number": s.sites.Customer(sites.SignIn), "pin": s.sites.Password(sites.SignIn), "account": a.Number})
			same(s, fmt.Sprintf("version %d, account %s", version, a.Number), data, a.Balance)
		}
	}
}

// taskQuotes: a quote for a date and a branch.
func taskQuotes(s *driver) {
	values := members{"date": "2030-05-17", "branch": "Oslo"}
	look := s.start(members{"url": s.url(sites.Quotes, "/")})
	s.try(values, typeText(s.selectorOn(look, `date "Date"`), "{{date}}"), typeText(s.selectorOn(look, `select "Branch"`), "{{branch}}"),
		click(s.selectorOn(look, `button "Get the price"`)))
	list := s.in("list_network_requests", members{"find": s.sites.Quote("2030-05-17", "Oslo")})
	request := s.in("list_network_requests", members{"id": s.requestWith(list, "/api/quote")})
	s.in("undo_operations", members{"to": 1})
	s.try(values, s.operationsIn(request)...)
	s.save(members{"name": "van_quote", "description": "What a van costs on a date at a branch.",
		"other_values": members{"date": "2031-01-02", "branch": "Bergen"}})
	s.finish("quotes")

	if shown := s.call("describe_routine", members{"id": s.routine.ID, "definition": true}).text; !strings.Contains(shown, `{"name":"date","type":"date"`) {
		s.t.Errorf("the date is none:\n%s", shown)
	}
	for _, v := range [][2]string{{"2030-12-24", "Tromsø"}, {"2027-02-28", "Trondheim"}, {"2033-06-01", "Bodø"}} {
		same(s, fmt.Sprint(v), s.run(members{"date": v[0], "branch": v[1]}), map[string]string{"quote": s.sites.Quote(v[0], v[1]), "branch": v[1]})
	}
	if a := s.tryRun(members{"date": "24.12.2030", "branch": "Oslo"}); !a.failed || !strings.Contains(a.text, "date") {
		s.t.Errorf("a date in another spelling is taken:\n%s", a.text)
	}
}

// taskNews: the first three pages of the news, by a cursor.
func taskNews(s *driver) {
	s.start(members{"url": s.url(sites.News, "/")})
	s.try(members{"topic": "sport"}, navigateTo(s.url(sites.News, "/t/{{topic}}")))
	look := s.in("take_snapshot", members{})
	more := click(s.selectorOn(look, `button "More news"`))
	s.try(nil, more, more)
	list := s.in("list_network_requests", members{"find": "cursor"})
	request := s.in("list_network_requests", members{"id": s.requestWith(list, "/api/news")})
	s.in("undo_operations", members{"to": 2})
	operations := s.operationsIn(request)
	var keys []string
	var fetches []any
	for _, o := range operations {
		if o := o.(members); o["type"] == "fetch" {
			fetches = append(fetches, o)
			keys = append(keys, fmt.Sprintf("%q", o["session_storage_key"]))
		}
	}
	if len(keys) != 3 {
		s.t.Fatalf("%d requests lead to the third page:\n%s", len(keys), request)
	}
	s.try(members{"topic": "sport"}, append(fetches,
		members{"type": "js_evaluate", "js": "(() => [" + strings.Join(keys, ", ") + "].flatMap(key => JSON.parse(sessionStorage.getItem(key)).items))()",
			"session_storage_key": "all"}, members{"type": "return", "session_storage_key": "all"})...)
	s.save(members{"name": "news_of_topic", "description": "The first three pages of the news of a topic.", "other_values": members{"topic": "music"}})
	s.finish("news")

	for _, topic := range []string{"town", "weather", "science"} {
		same(s, topic, s.run(members{"topic": topic}), s.sites.Articles(topic)[:60])
	}
}
