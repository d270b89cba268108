package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// advice is a text that names one of the service's own tools, for callers who may
// call that tool, and the text for all others, which may be empty. Every text for
// a caller that names such a tool is an advice.
type advice struct{ tool, text, otherwise string }

// offers reports whether a caller sees one of the service's own tools.
func (s *Server) offers(p routine.Principal, tool string) bool {
	return slices.ContainsFunc(s.builtins(), func(b builtin) bool { return b.name == tool && b.allows(p) })
}

// advise returns the text of a for the caller.
func (s *Server) advise(ctx context.Context, a advice) string {
	if s.offers(wire.PrincipalOf(ctx), a.tool) {
		return a.text
	}
	return a.otherwise
}

// adviseAll returns the texts of all of list for the caller, joined by blanks.
func (s *Server) adviseAll(ctx context.Context, list ...advice) string {
	var texts []string
	for _, a := range list {
		if text := s.advise(ctx, a); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// unreadable says what to do about a result for a caller without get_execution.
const unreadable = "this token may not read executions, so no call gives it: ask for a token with the scope executions:read"

// addInstructions gives each caller the instructions that fit its token.
func (s *Server) addInstructions(hooks *server.Hooks) {
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
		r.Instructions = s.instructions(ctx)
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		r.Instructions = s.instructions(ctx)
	})
}

func (s *Server) instructions(ctx context.Context) string {
	find := s.adviseAll(ctx, advice{tool: "search_routines", text: "search_routines finds those that are not listed."},
		advice{tool: "run_routine", text: "run_routine runs those that are not listed."})
	if find != "" {
		find = " " + find
	}
	wait := s.advise(ctx, advice{"get_execution", "call get_execution as next says, and do not run the routine again.",
		"do not run the routine again. To read its result, " + unreadable + "."})
	teach := s.advise(ctx, advice{tool: "start_lesson", text: "To make a routine for a web task that none does, " +
		"or to mend one that fails, open its page with start_lesson: " +
		"you do the task there once, and save_lesson makes the routine of it.\n"})
	return strings.NewReplacer("FIND", find, "WAIT", wait, "TEACH", teach).Replace(instructions)
}
