package mcp

import (
	"testing"
)

// A float64 would make one number of these.
func TestHTTPLongRequestIDsAreReturnedUnchanged(t *testing.T) {
	f := newHTTPFixture(t, named("only"))
	for _, e := range []era{legacy, modern} {
		c := f.caller(t, e, "ann")
		for _, id := range []string{"9007199254740993", "-9007199254740993", "12345678901234567890", "0.1000000000000000055", "7", `"9007199254740993"`} {
			for method, params := range map[string]string{"tools/call": `{"name":"only","arguments":{}}`, "tools/lost": `{"x":0}`} {
				list := c.ask(`{"id":` + id + `,"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
				if m := list[len(list)-1]; string(m.ID) != id || (m.Error == nil) != (method == "tools/call") {
					t.Errorf("%s %s of %s: %s", e, method, id, m.raw)
				}
			}
			list := c.ask(calling(id, "only")) // as events
			if last := list[len(list)-1]; len(list) < 2 || string(last.ID) != id || string(list[0].Params.ProgressToken) != id {
				t.Errorf("%s, id %s: %d messages, %s", e, id, len(list), last.raw)
			}
		}
	}
}

func TestHTTPCancelOfALongRequestID(t *testing.T) {
	f := newHTTPFixture(t, hang)
	c := f.caller(t, legacy, "ann")
	answered := make(chan string, 2)
	for _, id := range []string{"9007199254740992", "9007199254740993"} {
		go func() {
			list := c.ask(call(id, "hang", "{}"))
			answered <- string(list[len(list)-1].ID)
		}()
		<-f.hanging
	}
	_ = c.post(t.Context(), cancelled("9007199254740993")).Body.Close()
	if id := <-answered; id != "9007199254740993" || f.browser.Closed() != 1 {
		t.Errorf("%s was cancelled, %d pages are closed", id, f.browser.Closed())
	}
	_ = c.post(t.Context(), cancelled("9007199254740992")).Body.Close()
	<-answered
}

func TestLongProgressTokensAreReturnedUnchanged(t *testing.T) {
	p := initialized(t, newTestServer(t, named("only")).Server)
	p.send(calling("9007199254740993", "only"))
	if m := p.next(); string(m.Params.ProgressToken) != "9007199254740993" {
		t.Error(m.raw)
	}
}
