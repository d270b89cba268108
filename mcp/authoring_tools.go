package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/service"
)

const routineArgument = `"routine":{"type":"object","description":"The definition: name, description, parameters, operations; the resource ` + schemaURI +
	` is its JSON Schema"}`

// authoringTools returns the tools that write routines, list their runs, schedule them and list secrets.
func authoringTools() []builtin {
	return slices.Concat([]builtin{
		{name: "validate_routine", title: "Check a routine", scope: routine.ScopeRoutinesRead, readOnly: true, handle: (*Server).validateRoutine,
			description: "Check a routine definition without saving it. Tells every problem at once, each with its JSON pointer and what to do.",
			schema:      `{"type":"object","properties":{` + routineArgument + `},"required":["routine"],"additionalProperties":false}`},
		{name: "create_routine", title: "Save a new routine", scope: routine.ScopeRoutinesWrite, handle: (*Server).createRoutine,
			description: "Check a routine definition and save it. It becomes a tool; the answer gives its name.",
			schema:      `{"type":"object","properties":{` + routineArgument + `},"required":["routine"],"additionalProperties":false}`},
		importTool(),
		{name: "list_executions", title: "List executions", scope: routine.ScopeExecutionsRead, readOnly: true, handle: (*Server).listExecutions,
			description: "The runs of routines, newest first, without their data.",
			schema: `{"type":"object","properties":{"routine_id":{"type":"string","description":"Tool name, or Routine_… id; left out: all"},` +
				`"schedule_id":{"type":"string","description":"Schedule_… id; left out: all"},` +
				`"status":{"type":"string","enum":["pending","running","completed","failed"]},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},` +
				`"offset":{"type":"integer","minimum":0}},"additionalProperties":false}`},
	}, publishingTools(), scheduleTools(), secretTools())
}

// validation is the result of validate_routine.
type validation struct {
	Valid    bool              `json:"valid"`
	Errors   []routine.Problem `json:"errors"`
	Warnings []routine.Problem `json:"warnings"`
}

func (s *Server) validateRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	text, err := definitionArgument(q)
	if err != nil {
		return s.builtinError(ctx, "validate_routine", err)
	}
	v := validation{Valid: true, Errors: []routine.Problem{}}
	_, warnings, err := s.service.Validate(ctx, wire.PrincipalOf(ctx), text)
	v.Warnings = cleanProblems(warnings)
	if routine.CodeOf(err) == routine.CodeInvalid {
		v.Valid, v.Errors = false, cleanProblems(routine.AsError(err).Problems)
	} else if err != nil {
		return s.builtinError(ctx, "validate_routine", err)
	}
	return structuredResult(v)
}

// cleanProblems returns at most maxProblems problems, without the invisible
// characters that they may quote from the definition.
func cleanProblems(problems []routine.Problem) []routine.Problem {
	shown := append([]routine.Problem{}, problems[:min(len(problems), maxProblems)]...)
	for i := range shown {
		p := &shown[i]
		p.Pointer, p.Message, p.Hint = clean(p.Pointer), clean(p.Message), clean(p.Hint)
	}
	return shown
}

// definitionText is a definition as its author wrote it, so that the positions of
// problems are right. Models also send it as a JSON string.
type definitionText json.RawMessage

// UnmarshalJSON keeps the JSON text.
func (w *definitionText) UnmarshalJSON(text []byte) error {
	*w = append((*w)[:0], text...)
	return nil
}

func (w definitionText) text() ([]byte, error) {
	if len(w) == 0 {
		return nil, routine.Errorf(routine.CodeInvalid, "the argument routine is missing: give the definition as an object")
	}
	var text string
	if json.Unmarshal(w, &text) == nil {
		return []byte(text), nil
	}
	return w, nil
}

// definitionArgument returns the argument routine of a call.
func definitionArgument(q mcp.CallToolRequest) ([]byte, error) {
	var a struct {
		Routine definitionText `json:"routine"`
	}
	if err := decode(q, &a); err != nil {
		return nil, err
	}
	return a.Routine.text()
}

// savedResult is the result of a tool that has saved a routine.
type savedResult struct {
	ID       string            `json:"id"`
	Tool     string            `json:"tool"`
	Version  int               `json:"version"`
	Status   routine.Status    `json:"routine_status"`
	Listed   bool              `json:"published"`
	Warnings []routine.Problem `json:"warnings"`
}

func savedRoutineResult(r *routine.Routine, warnings []routine.Problem) *mcp.CallToolResult {
	return structuredResult(savedResult{r.ID, r.ToolName, r.Version, r.Status, r.Published(), cleanProblems(warnings)})
}

func (s *Server) createRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	text, err := definitionArgument(q)
	if err != nil {
		return s.builtinError(ctx, "create_routine", err)
	}
	r, warnings, err := s.service.CreateRoutine(ctx, wire.PrincipalOf(ctx), text, service.Idempotency{})
	if err != nil {
		return s.builtinError(ctx, "create_routine", err)
	}
	return savedRoutineResult(r, warnings)
}

// executionRow is one execution in the result of list_executions.
type executionRow struct {
	ExecutionID string                  `json:"execution_id"`
	RoutineID   string                  `json:"routine_id"`
	RoutineName string                  `json:"routine_name"`
	Status      routine.ExecutionStatus `json:"status"`
	ErrorCode   routine.Code            `json:"error_code,omitempty"`
	Error       string                  `json:"error,omitempty"`
	CreatedAt   time.Time               `json:"created_at"`
	Seconds     *float64                `json:"duration_seconds"`
}

func (s *Server) listExecutions(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Routine  string     `json:"routine_id"`
		Schedule string     `json:"schedule_id"`
		Status   string     `json:"status"`
		Limit    lenientInt `json:"limit"`
		Offset   lenientInt `json:"offset"`
	}
	err := decode(q, &a)
	f := routine.ExecutionFilter{ScheduleID: a.Schedule, Status: routine.ExecutionStatus(a.Status),
		Limit: min(int(a.Limit), routine.MaxPageLimit), Offset: max(int(a.Offset), 0)}
	if f.Limit <= 0 {
		f.Limit = routine.DefaultPageLimit
	}
	if err == nil && a.Routine != "" {
		var r *entry
		if r, err = s.routine(ctx, a.Routine); err == nil {
			f.RoutineID = r.id
		}
	}
	var list []*routine.Execution
	total := 0
	if err == nil {
		list, total, err = s.service.Executions(ctx, wire.PrincipalOf(ctx), f)
	}
	if err != nil {
		return s.builtinError(ctx, "list_executions", err)
	}
	rows := []executionRow{}
	for _, e := range list {
		row := executionRow{ExecutionID: e.ID, RoutineID: e.RoutineID, RoutineName: truncate(clean(e.RoutineName), 100), Status: e.Status, ErrorCode: e.ErrorCode,
			CreatedAt: e.CreatedAt, Seconds: e.DurationSeconds}
		if e.Error != nil {
			row.Error = truncate(routine.OneLine(clean(*e.Error)), 200)
		}
		rows = append(rows, row)
	}
	return structuredResult(struct {
		Executions []executionRow `json:"executions"`
		routine.Total
	}{rows, routine.NewTotal(total)})
}
