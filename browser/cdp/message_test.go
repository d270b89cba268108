package cdp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/go-rod/rod/lib/proto"
)

// messages are such as Chromium writes them, and others that must not be mistaken for them.
var messages = []string{
	`{"id":7,"result":{}}`,
	`{"id":7,"result":{"result":{"type":"string","value":"a"}},"sessionId":"A1"}`,
	`{"id":7,"result":{"value":"},\"sessionId\":\"B2\"}"},"sessionId":"A1"}`,
	`{"id":7,"result":{"value":"},\"sessionId\":\"B2\"}"}}`,
	`{"id":7,"error":{"code":-32000,"message":"no"},"sessionId":"A1"}`,
	`{"id":7,"error":{"code":-32000,"message":"\",\"result\":{}"}}`,
	`{"method":"Page.loadEventFired","params":{"timestamp":1.5},"sessionId":"A1"}`,
	`{"method":"Target.detachedFromTarget","params":{"sessionId":"B2","targetId":"T"}}`,
	`{"method":"Target.detachedFromTarget","params":{"info":{},"sessionId":"B2"}}`,
	`{"method":"Target.attachedToTarget","params":{"info":{},"sessionId":"B2"},"sessionId":"A1"}`,
	`{"method":"Inspector.detached"}`,
	`{ "method": "Page.enabled", "params": {"a": 1}, "sessionId": "A1" }`,
	`{"method":"a\"b","params":{},"sessionId":"A1"}`,
	`{"sessionId":"A1","id":7,"result":{}}`,
	`{"id":7,"result":null}`,
	`{"id":7,"result":[]}`,
	`{"id":-7,"result":{}}`,
	`{}`,
}

// A message that is split says the same as one that is decoded.
func FuzzSplitMessage(f *testing.F) {
	for _, m := range messages {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want message
		if !utf8.ValidString(text) || !json.Valid([]byte(text)) || json.Unmarshal([]byte(text), &want) != nil || hasOthers(text) {
			return // Chromium writes JSON in ASCII, and each member once
		}
		got, ok := splitMessage([]byte(text))
		if ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is split into %+v, and means %+v", text, got, want)
		}
	})
}

// hasOthers reports whether a message has other members than those that Chromium writes,
// or one of them twice or in capitals.
func hasOthers(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return true
	}
	known := map[string]bool{"id": true, "method": true, "params": true, "result": true, "error": true, "sessionId": true}
	for d.More() {
		name, err := d.Token()
		if s, isName := name.(string); err != nil || !isName || !known[s] {
			return true
		}
		known[name.(string)] = false
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return true
		}
	}
	return false
}

// The messages that come with each operation are split, not decoded.
func TestCommonMessagesAreSplit(t *testing.T) {
	for _, m := range messages[:4] {
		if _, ok := splitMessage([]byte(m)); !ok {
			t.Errorf("%s is decoded", m)
		}
	}
	event := []byte(messages[6])
	allocations := testing.AllocsPerRun(100, func() { _, _ = parseMessage(event) })
	if allocations > 2 { // the method and the session
		t.Errorf("an event takes %v allocations", allocations)
	}
}

// recorder is a transport that counts writes.
type recorder struct {
	*fakeBrowser
	writes [][]string
}

func (r *recorder) Write(messages ...[]byte) error {
	var all []string
	for _, m := range messages {
		all = append(all, string(m))
	}
	r.writes = append(r.writes, all)
	return nil
}

// Requests that are sent together are written together, up to a length, with one encoding
// of those that are prepared.
func TestRequestsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{fakeBrowser: newFakeBrowser()}
		c := NewClient(r)
		defer c.Close()
		long := Prepare(proto.PageAddScriptToEvaluateOnNewDocument{Source: "a && b < c" + strings.Repeat(" ", maxTogether)})
		c.SendAll("S", proto.PageEnable{}, RawRequest("No.such", func() {}), proto.RuntimeEvaluate{Expression: "a<b"})
		sent := c.SendAll("S", long, proto.PageEnable{})
		want := [][]string{
			{`{"id":1,"sessionId":"S","method":"Page.enable","params":{}}`,
				`{"id":3,"sessionId":"S","method":"Runtime.evaluate","params":{"expression":"a<b"}}`},
			{`{"id":4,"sessionId":"S","method":"Page.addScriptToEvaluateOnNewDocument","params":{"source":"a && b < c` +
				strings.Repeat(" ", maxTogether) + `"}}`},
			{`{"id":5,"sessionId":"S","method":"Page.enable","params":{}}`},
		}
		if !reflect.DeepEqual(r.writes, want) {
			t.Errorf("wrote %.300q", r.writes)
		}
		if requests, _ := c.InUse(); requests != 4 || len(sent) != 2 {
			t.Errorf("%d requests are remembered", requests)
		}
	})
}

// What is encoded when the client is made costs a run nothing but its length.
func BenchmarkSendPrepared(b *testing.B) {
	c := NewClient(&silent{newFakeBrowser()})
	defer c.Close()
	m := Prepare(proto.PageAddScriptToEvaluateOnNewDocument{Source: strings.Repeat("if (a && b) { return '<'; }\n", 2000)})
	b.ReportAllocs()
	for b.Loop() {
		c.Send("S", m.ProtoReq(), m).Forget()
	}
}

func BenchmarkSend(b *testing.B) {
	c := NewClient(&silent{newFakeBrowser()})
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		c.Send("S", "Input.dispatchMouseEvent", proto.InputDispatchMouseEvent{Type: "mousePressed", X: 1.5, Y: 2}).Forget()
	}
}

func BenchmarkParseMessage(b *testing.B) {
	m := []byte(`{"method":"Page.lifecycleEvent","params":{"frameId":"4D5E","loaderId":"6A7B","name":"load","timestamp":1.5},"sessionId":"0123456789ABCDEF"}`)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = parseMessage(m)
	}
}

// silent is a transport that drops all messages.
type silent struct{ *fakeBrowser }

func (*silent) Write(...[]byte) error { return nil }
