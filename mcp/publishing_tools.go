package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/service"
	"rote/routine/tool"
)

const expectedArgument = `"expected_version":{"type":"integer","minimum":1,"description":"Fail if the routine is at another version"}`

const idArgument = `"id":{"type":"string","description":"Tool name, or Routine_… id"}`

const patchArgument = `"patch":{"type":"array","description":"JSON Patch (RFC 6902) of the definition, as in ` +
	`[{\"op\":\"replace\",\"path\":\"/operations/1/selector\",\"value\":\"#buy\"}]","items":{"type":"object"}}`

// publishingTools returns the tools that change stored routines.
func publishingTools() []builtin {
	return []builtin{
		{name: "update_routine", title: "Change a routine", scope: routine.ScopeRoutinesWrite, destructive: true, handle: (*Server).updateRoutine,
			description: "Save the next version of a routine: a new definition (routine), or changes to the present one (patch, with id). " +
				"The tool keeps its name. With routine and without id, the routine with the definition's name is changed, or created if there is none.",
			schema: `{"type":"object","properties":{"id":{"type":"string",` +
				`"description":"Tool name, or Routine_… id; left out: the routine that has the definition's name"},` +
				routineArgument + `,` + patchArgument + `,` + expectedArgument + `},"additionalProperties":false}`},
		{name: "publish_routine", title: "Publish a routine", scope: routine.ScopeRoutinesWrite, handle: (*Server).publishRoutine,
			description: "Turn on or off that a routine is a tool. Turning it on also makes it active.",
			schema: `{"type":"object","properties":{` + idArgument + `,"on":{"type":"boolean"},` + expectedArgument +
				`},"required":["id","on"],"additionalProperties":false}`},
		{name: "archive_routine", title: "Archive a routine", scope: routine.ScopeRoutinesWrite, destructive: true, handle: (*Server).archiveRoutine,
			description: "Take a routine out of use: it is neither run nor listed. publish_routine brings it back.",
			schema:      `{"type":"object","properties":{` + idArgument + `,` + expectedArgument + `},"required":["id"],"additionalProperties":false}`},
	}
}

func (s *Server) updateRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID       string         `json:"id"`
		Routine  definitionText `json:"routine"`
		Patch    definitionText `json:"patch"`
		Expected *lenientInt    `json:"expected_version"`
	}
	return s.changeRoutine(ctx, q, &a, nil, func() (*routine.Routine, []routine.Problem, error) {
		if len(a.Patch) > 0 {
			text, err := a.Patch.text()
			switch {
			case err != nil:
				return nil, nil, err
			case len(a.Routine) > 0:
				return nil, nil, routine.Errorf(routine.CodeInvalid, "give either routine or patch, not both")
			case a.ID == "":
				return nil, nil, errNoID
			}
			return s.service.JSONPatchRoutine(ctx, wire.PrincipalOf(ctx), s.routineID(ctx, a.ID), text, expectedVersions(a.Expected))
		}
		text, err := a.Routine.text()
		if err != nil {
			return nil, nil, err
		}
		if a.ID == "" {
			condition := service.PutCondition{Versions: expectedVersions(a.Expected)}
			r, _, warnings, err := s.service.PutRoutine(ctx, wire.PrincipalOf(ctx), definitionName(text), text, condition)
			return r, warnings, err
		}
		return s.service.ReplaceRoutine(ctx, wire.PrincipalOf(ctx), s.routineID(ctx, a.ID), text, expectedVersions(a.Expected))
	})
}

// definitionName returns the name in the text of a definition. It is empty if there
// is none, which the check of the definition reports.
func definitionName(text []byte) string {
	var d struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(text, &d)
	return d.Name
}

func (s *Server) publishRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID       string       `json:"id"`
		On       *lenientBool `json:"on"`
		Expected *lenientInt  `json:"expected_version"`
	}
	return s.changeRoutine(ctx, q, &a, &a.ID, func() (*routine.Routine, []routine.Problem, error) {
		if a.On == nil {
			return nil, nil, routine.Errorf(routine.CodeInvalid, "the argument on is missing: true or false")
		}
		r, err := s.service.PublishRoutine(ctx, wire.PrincipalOf(ctx), s.routineID(ctx, a.ID), bool(*a.On), expectedVersions(a.Expected))
		return r, nil, err
	})
}

func (s *Server) archiveRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID       string      `json:"id"`
		Expected *lenientInt `json:"expected_version"`
	}
	return s.changeRoutine(ctx, q, &a, &a.ID, func() (*routine.Routine, []routine.Problem, error) {
		r, err := s.service.ArchiveRoutine(ctx, wire.PrincipalOf(ctx), s.routineID(ctx, a.ID), expectedVersions(a.Expected))
		return r, nil, err
	})
}

// errNoID refuses a call that names no routine.
var errNoID = routine.Errorf(routine.CodeInvalid, "id is required: the tool name of a routine, or its Routine_… id")

// changeRoutine decodes the arguments, makes the change and returns the changed
// routine as the result. id, unless nil, is the argument that must not be empty.
func (s *Server) changeRoutine(ctx context.Context, q mcp.CallToolRequest, arguments any, id *string,
	change func() (*routine.Routine, []routine.Problem, error)) *mcp.CallToolResult {
	err := decode(q, arguments)
	var r *routine.Routine
	var warnings []routine.Problem
	if err == nil && id != nil && *id == "" {
		err = errNoID
	}
	if err == nil {
		r, warnings, err = change()
	}
	if err != nil {
		return s.builtinError(ctx, q.Params.Name, err)
	}
	return savedRoutineResult(r, warnings)
}

// expectedVersions returns the versions that a change is allowed for; nil allows
// all.
func expectedVersions(expected *lenientInt) []int {
	if expected == nil {
		return nil
	}
	return []int{int(*expected)}
}

// routineID returns the id of the routine with this tool name or id, even if the
// routine is not published now. If there is none, it returns key.
func (s *Server) routineID(ctx context.Context, key string) string {
	p := wire.PrincipalOf(ctx)
	if o, err := s.organization(p); err == nil {
		if r := o.registry.find(key); r != nil {
			return r.id
		}
	}
	if strings.HasPrefix(key, "Routine_") || !tool.ValidName(key) {
		return key
	}
	id, err := s.service.ToolOwner(ctx, p, key)
	if err != nil { // the caller gets an error when it reads the routine
		return key
	}
	return id
}
