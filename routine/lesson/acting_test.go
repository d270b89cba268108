package lesson

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestActing(t *testing.T) {
	page := "https://shop.test/cart"
	for _, row := range []struct {
		name      string
		operation string
		element   *routine.ElementDescription
		request   routine.Request
		want      []string
	}{
		{"a form", `{"type":"click","selector":"#buy"}`, nil,
			routine.Request{Method: "POST", URL: "https://shop.test/orders?x=1", Kind: "form"}, []string{"POST /orders"}},
		{"below the site", `{"type":"click","selector":"#buy"}`, nil, routine.Request{Method: "PUT", URL: "https://api.shop.test/orders"}, []string{"PUT /orders"}},
		{"a query", `{"type":"click","selector":"#buy"}`, nil, routine.Request{Method: "GET", URL: "https://shop.test/orders"}, nil},
		{"a collector", `{"type":"click","selector":"#buy"}`, nil, routine.Request{Method: "POST", URL: "https://stats.test/hit"}, nil},
		{"a GraphQL query", `{"type":"click","selector":"#buy"}`, nil, routine.Request{Method: "POST", URL: "https://shop.test/graphql",
			Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"query":"query A { b }"}`}, nil},
		{"a log-in", `{"type":"click","selector":"#go"}`, &routine.ElementDescription{Matches: 1, InLoginForm: true},
			routine.Request{Method: "POST", URL: "https://shop.test/session"}, nil},
		{"an order that asks for the password", `{"type":"click","selector":"#go"}`,
			&routine.ElementDescription{Matches: 1, InLoginForm: true, Target: routine.Target{Role: "button", Name: "Place order"}},
			routine.Request{Method: "POST", URL: "https://shop.test/orders"}, []string{"POST /orders"}},
		{"a fetch to another site", `{"type":"fetch","endpoint":{"url":"https://api.test/orders","method":"POST","body":{"a":1}}}`, nil,
			routine.Request{Method: "POST", URL: "https://api.test/orders", ByOperation: true}, []string{"POST /orders"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.request.Number, row.request.PageURL = 1, page
			p := routinetest.Page{Requests: requestsOf(nil, []routine.Request{row.request})}
			if row.element != nil {
				p.Describe = describeAs(*row.element)
			}
			c := newClassroom(t, p)
			id := c.start(t)
			answer := c.tried(t, id, TryRequest{Operations: raw(row.operation)})
			if diff := cmp.Diff(row.want, answer.Operations[1].Acting); diff != "" {
				t.Errorf("acting (-want +got):\n%s", diff)
			}
		})
	}
}

// The Enter key in a form with a password is a log-in too.
func TestLoginByKey(t *testing.T) {
	field := routine.ElementDescription{Matches: 1, InLoginForm: true, Field: &routine.Field{Type: "text"}}
	c := newClassroom(t, routinetest.Page{Describe: describeAs(field), Requests: requestsOf(nil, nil,
		[]routine.Request{{Number: 1, Method: "POST", URL: "https://shop.test/session", PageURL: "https://shop.test/"}},
		[]routine.Request{{Number: 2, Method: "POST", URL: "https://shop.test/orders", PageURL: "https://shop.test/"}})})
	id := c.start(t)
	answer := c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#user","text":"ada"}`,
		`{"type":"press","key":"Enter"}`, `{"type":"press","key":"Enter"}`)})
	if o := answer.Operations; o[2].Acting != nil || !slices.Equal(o[3].Acting, []string{"POST /orders"}) {
		t.Errorf("%+v", o)
	}
}
