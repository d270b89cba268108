package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/mcp/wire"
	"rote/routine"
)

// greeting is the instructions that a caller gets from initialize, and from
// server/discover, which must be the same.
func greeting(t *testing.T, s *Server, p routine.Principal) string {
	t.Helper()
	o, err := s.organization(p)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, message := range []string{hello, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`} {
		text, err := json.Marshal(o.protocol.HandleMessage(wire.WithPrincipal(t.Context(), p), []byte(message)))
		var answer struct{ Result struct{ Instructions string } }
		if err != nil || json.Unmarshal(text, &answer) != nil || answer.Result.Instructions == "" {
			t.Fatalf("%v: %s", err, text)
		}
		texts = append(texts, answer.Result.Instructions)
	}
	if texts[0] != texts[1] {
		t.Errorf("initialize and server/discover differ:\n%s\n%s", texts[0], texts[1])
	}
	return texts[0]
}

// If an organization has no routine, the agent gets a hint how to create one
// that fits its rights and the operator's settings.
func TestNoRoutinesHint(t *testing.T) {
	runner := ann
	runner.Scopes = routine.ScopeExecutionsRun
	for _, row := range []struct {
		name  string
		c     Config
		p     routine.Principal
		wants string
		not   string
	}{
		{"without tools to write with", Config{}, ann, "The operator of this server adds one with: rote add FILE. With --toolsets teach,authoring", "create_routine"},
		{"on this machine", Config{AddCommand: "rote add FILE --db /home/ann/rote.db"}, ann, "rote add FILE --db /home/ann/rote.db. With", "create_routine"},
		{"with tools to write with", Config{Authoring: true}, ann, "store it with create_routine", "operator"},
		{"with lessons", Config{Lessons: newFakeLessons()}, ann, "Make one on a live page: start_lesson", "operator"},
		{"with lessons and tools to write with", Config{Lessons: newFakeLessons(), Authoring: true}, ann,
			"which start_lesson opens; or write one and store it", "operator"},
		{"with lessons, for a token that may not write", Config{Lessons: newFakeLessons()}, runner, "The operator of this server adds one", "start_lesson"},
		{"a token that may not write", Config{Authoring: true}, runner, "The operator of this server adds one", "create_routine"},
		{"read only", Config{Authoring: true, ReadOnly: true}, ann, "The operator of this server adds one", "create_routine"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t).with(t, row.c)
			var found struct {
				Routines []searchHit
				Next     string
			}
			own(t, connectAs(t, h.Server, row.p), "search_routines", map[string]any{"query": "flights"}, &found)
			for _, text := range []string{found.Next, greeting(t, h.Server, row.p)} {
				first, rest, _ := strings.Cut(text, "\n")
				if !strings.HasPrefix(first, "No routine is published here yet") || !strings.Contains(first, row.wants) || strings.Contains(first, row.not) {
					t.Errorf("%s", text)
				}
				if text != found.Next && rest != h.instructions(wire.WithPrincipal(t.Context(), row.p)) {
					t.Errorf("the other instructions are gone: %s", rest)
				}
			}
			create(t, h.service, ann, published[0])
			if text := greeting(t, h.Server, row.p); text != h.instructions(wire.WithPrincipal(t.Context(), row.p)) {
				t.Errorf("with a routine: %s", text)
			}
			own(t, connectAs(t, h.Server, row.p), "search_routines", map[string]any{"query": "nothing like this"}, &found)
			if !strings.HasPrefix(found.Next, "no routine has all of these words") {
				t.Errorf("words that occur nowhere: %q", found.Next)
			}
		})
	}
}
