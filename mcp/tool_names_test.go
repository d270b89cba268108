package mcp

import (
	"path/filepath"
	"strings"
	"testing"

	"rote/routine/service"
)

// A tool keeps its name through all changes of the routine and restarts, so that
// agents can keep using it and no other name has to be reserved.
func TestToolNameIsImmutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rote.db")
	s := openService(t, path)
	id := create(t, s, ann, named("first name")).ID
	for _, change := range []struct {
		what, title, tools string
		do                 func() error
	}{
		{"a patch of the name", "another", "first_name", func() error {
			_, _, err := s.PatchRoutine(t.Context(), ann, id, []byte(`{"name":"another"}`), nil)
			return err
		}},
		{"a patch of the name of the tool", "another", "first_name", func() error {
			_, _, _ = s.PatchRoutine(t.Context(), ann, id, []byte(`{"tool_name":"mine","mcp_tool_name":"mine"}`), nil) // refused
			return nil
		}},
		{"another definition", "third", "first_name", func() error {
			_, _, err := s.ReplaceRoutine(t.Context(), ann, id, []byte(named("third")), nil)
			return err
		}},
		{"a restored version", "first name", "first_name", func() error {
			_, _, err := s.RestoreRoutine(t.Context(), ann, id, 1, nil)
			return err
		}},
		{"a routine of the same name", "first name", "first_name first_name_", func() error {
			create(t, s, ann, named("first name"))
			return nil
		}},
		{"being archived", "", "first_name_", func() error {
			_, err := s.ArchiveRoutine(t.Context(), ann, id, nil)
			return err
		}},
		{"a routine that comes while it is archived", "", "first_name_ first_name_", func() error {
			create(t, s, ann, named("first name"))
			return nil
		}},
		{"being published again", "first name", "first_name first_name_ first_name_", func() error {
			_, err := s.PublishRoutine(t.Context(), ann, id, true, nil)
			return err
		}},
	} {
		if err := change.do(); err != nil {
			t.Fatalf("%s: %v", change.what, err)
		}
		for _, service := range []*service.Service{s, openService(t, path)} {
			p := initialized(t, newServer(t, Config{Service: service, RefreshInterval: -1}))
			names := strings.Fields(p.tools())
			for i, name := range names {
				if strings.HasPrefix(name, "first_name_") {
					names[i] = "first_name_" // what tells it from others follows
				}
			}
			if got := strings.Join(names, " "); got != change.tools {
				t.Errorf("after %s: %s, want %s", change.what, got, change.tools)
			}
			if change.title == "" {
				continue
			}
			p.send(call("1", "first_name", "{}"))
			answers := p.answer("1").raw
			p.send(call("2", "describe_routine", `{"id":"first_name"}`))
			answers += p.answer("2").raw
			if !strings.Contains(answers, `"completed"`) || !strings.Contains(answers, `\"name\":\"`+change.title+`\"`) || !strings.Contains(answers, id) {
				t.Errorf("after %s: %.900s", change.what, answers)
			}
		}
	}
}
