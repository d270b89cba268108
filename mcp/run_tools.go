package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
)

// runTools returns the tools that find and run routines and manage their runs.
// They are always listed, because some clients never fetch a changed list.
func runTools() []builtin {
	return []builtin{
		{name: "search_routines", title: "Search routines", scope: routine.ScopeExecutionsRun, readOnly: true, handle: (*Server).searchRoutines,
			description: "Find stored web-automation routines by what they do. " +
				"All words must occur in name, description, tags or parameters; without query the most recently changed come first.",
			advice: []advice{{"run_routine", "Each has a tool name for run_routine.", "Each has a tool name; those that are listed as tools can be called."}},
			schema: `{"type":"object","properties":{"query":{"type":"string","description":"Words, as in: flight prices"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":50,"default":10}},"additionalProperties":false}`},
		{name: "describe_routine", title: "Describe a routine", scope: routine.ScopeExecutionsRun, readOnly: true, handle: (*Server).describeRoutine,
			description: "A routine's parameters as JSON Schema, a line on each operation, and the shape of its result. With definition, also the JSON to change.",
			schema: `{"type":"object","properties":{` + idArgument + `,"definition":{"type":"boolean",` +
				`"description":"Add the whole definition, as its author wrote it"},` +
				`"export":{"type":"string","enum":["recorder","playwright","curl"],"description":"Instead: the routine for this other tool"}},` +
				`"required":["id"],"additionalProperties":false}`},
		{name: "run_routine", title: "Run a routine", scope: routine.ScopeExecutionsRun, destructive: true, openWorld: true, handle: (*Server).runRoutine,
			description: "Run a routine that is not listed as a tool of its own. It may act on a live site.",
			advice: []advice{{"get_execution", "A run that takes longer than wait_seconds continues: get_execution returns its result.",
				"A run that takes longer than wait_seconds continues: " + unreadable + "."}},
			schema: `{"type":"object","properties":{` + idArgument + `,` + runArguments + `},"required":["id"],"additionalProperties":false}`,
			authoringSchema: `{"type":"object","properties":{` + idArgument + `,"routine":{"type":"object",` +
				`"description":"Instead of id: a definition, as in validate_routine, to run once without saving it"},` + runArguments + `},"additionalProperties":false}`},
		{name: "get_execution", title: "Get an execution", scope: routine.ScopeExecutionsRead, readOnly: true, handle: (*Server).getExecution,
			description: "The result of a run, or its progress if it has not ended after wait_seconds. For a failed run, also what was on the page. " +
				"To read the rest of data that was truncated, make the call in next.",
			schema: `{"type":"object","properties":{"execution_id":{"type":"string"},"path":{"type":"string","description":"JSON pointer into data, as in /items"},` +
				`"offset":{"type":"integer","minimum":0,"description":"Items, members or characters to skip"},"limit":{"type":"integer","minimum":1},` +
				`"rest_of":{"type":"string",` +
				`"description":"As next gives it: the answer is a page of what this JSON pointer leads to, and names the call for the next page"},` +
				`"text_offset":{"type":"integer","minimum":0,` +
				`"description":"As next gives it: data is a piece of the JSON text of what path leads to, from this character on"},` +
				`"wait_seconds":{"type":"integer","minimum":0,"maximum":45,"description":"How long to wait for the end of the run; 0: return its progress at once"},` +
				`"screenshot":{"type":"boolean","description":"For a failed run, add a picture of the page"}},"required":["execution_id"],"additionalProperties":false}`},
		{name: "cancel_execution", title: "Cancel an execution", scope: routine.ScopeExecutionsRun, destructive: true, handle: (*Server).cancelExecution,
			description: "Cancel a run. Changes that it has made on the site stay.",
			schema:      `{"type":"object","properties":{"execution_id":{"type":"string"}},"required":["execution_id"],"additionalProperties":false}`},
	}
}

// searchHit is one routine in the result of search_routines.
type searchHit struct {
	ID          string `json:"id"`
	Tool        string `json:"tool"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	// Published is false for a routine that is not published, which only authors
	// find. It is left out for all others.
	Published *bool `json:"published,omitempty"`
}

func (e *entry) searchHit() searchHit {
	return searchHit{e.id, e.tool.Name, truncate(routine.OneLine(e.name), 100), truncate(routine.OneLine(e.authorDescription), 200),
		e.tool.Annotations.ReadOnly, nil}
}

func (s *Server) searchRoutines(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Query string     `json:"query"`
		Limit lenientInt `json:"limit"`
	}
	p := wire.PrincipalOf(ctx)
	o, err := s.organization(p)
	if err == nil {
		err = decode(q, &a)
	}
	if err != nil {
		return s.builtinError(ctx, "search_routines", err)
	}
	limit := min(max(int(a.Limit), 0), 50)
	if limit == 0 {
		limit = 10
	}
	list, total := []searchHit{}, 0
	words := strings.Fields(strings.ToLower(a.Query))
	for _, r := range o.registry.lastChangedFirst() {
		if !containsAll(r.searchText, words) {
			continue
		}
		if total++; len(list) < limit {
			list = append(list, r.searchHit())
		}
	}
	if s.authoring && p.Has(routine.ScopeRoutinesRead) && p.Has(routine.ScopeRoutinesWrite) {
		others, more, err := s.service.Unpublished(ctx, p, words, limit)
		if err != nil {
			return s.builtinError(ctx, "search_routines", err)
		}
		for _, r := range others[:min(len(others), limit-len(list))] {
			f := newEntry(r).searchHit()
			f.Published = new(false)
			f.ReadOnly = f.ReadOnly && r.Omitted == nil // otherwise its operations are not known here
			list = append(list, f)
		}
		total += more
	}
	next := ""
	switch {
	case total > 0:
	case len(words) > 0 && len(o.registry.lastChangedFirst()) > 0:
		next = "no routine has all of these words: search with fewer, or without query"
	default:
		next = s.noRoutinesMessage(p)
	}
	return structuredResult(struct {
		Routines []searchHit `json:"routines"`
		routine.Total
		Next string `json:"next,omitempty"`
	}{list, routine.NewTotal(total), next})
}

// containsAll reports whether all words occur in a text. Both are in lower case.
func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (s *Server) describeRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID         string      `json:"id"`
		Definition lenientBool `json:"definition"`
		Export     string      `json:"export"`
	}
	err := decode(q, &a)
	var r *entry
	if err == nil {
		r, err = s.routine(ctx, a.ID)
	}
	if err == nil && a.Export != "" {
		return s.exportRoutine(ctx, r.id, a.Export)
	}
	var stored *routine.Routine
	if err == nil && bool(a.Definition) {
		stored, err = s.service.Routine(ctx, wire.PrincipalOf(ctx), r.id)
	}
	if err != nil {
		return s.builtinError(ctx, "describe_routine", err)
	}
	if stored != nil {
		return structuredResult(newEntry(stored).withDefinition(&stored.Definition))
	}
	if !wire.PrincipalOf(ctx).Has(routine.ScopeRoutinesRead) {
		return structuredResult(r.withoutOperations())
	}
	return structuredText(r.described())
}

// routine returns the routine with this tool name or id. A published one is not
// read from the store.
func (s *Server) routine(ctx context.Context, id string) (*entry, error) {
	if id == "" {
		return nil, errNoID
	}
	p := wire.PrincipalOf(ctx)
	o, err := s.organization(p)
	if err != nil {
		return nil, err
	}
	if r := o.registry.find(id); r != nil {
		return r, nil
	}
	if !p.Has(routine.ScopeRoutinesRead) { // such a caller may only use tools
		return nil, routine.Errorf(routine.CodeNotFound, "there is no tool %q", truncate(id, 80))
	}
	r, err := s.service.Routine(ctx, p, s.routineID(ctx, id))
	if err != nil {
		return nil, err
	}
	return newEntry(r), nil
}

func (s *Server) getExecution(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID         string      `json:"execution_id"`
		Path       string      `json:"path"`
		Offset     lenientInt  `json:"offset"`
		Limit      lenientInt  `json:"limit"`
		RestOf     *string     `json:"rest_of"`
		TextOffset *lenientInt `json:"text_offset"`
		Wait       *lenientInt `json:"wait_seconds"`
		Screenshot lenientBool `json:"screenshot"`
	}
	err := decode(q, &a)
	if err == nil && a.ID == "" {
		err = errNoExecutionID
	}
	if err != nil {
		return s.builtinError(ctx, "get_execution", err)
	}
	e, err := s.await(ctx, q, a.ID, s.waitTime(a.Wait))
	if e == nil {
		return s.builtinError(ctx, "get_execution", err)
	}
	c := &caller{server: s, id: e.RoutineID, name: e.RoutineName}
	if o, err := s.organization(wire.PrincipalOf(ctx)); err == nil {
		r := o.registry.find(e.RoutineID)
		c.readOnly = r != nil && r.tool.Annotations.ReadOnly
	}
	wanted := dataRange{Path: a.Path, Offset: max(int(a.Offset), 0), Limit: max(int(a.Limit), 0), RestOf: a.RestOf}
	if a.TextOffset != nil {
		wanted.TextOffset = new(max(int(*a.TextOffset), 0))
	}
	result := c.answer(ctx, e, err, wanted)
	if e.Status == routine.ExecutionFailed {
		s.addFailureRecord(ctx, result, e, bool(a.Screenshot))
	}
	return result
}

// errNoExecutionID refuses a call that names no execution.
var errNoExecutionID = routine.Errorf(routine.CodeInvalid, "execution_id is required: it stands in the answer of the call that ran the routine")

// waitTime returns how long a call waits for a run: the wanted number of seconds,
// but at most the soft deadline, after which clients may give up.
func (s *Server) waitTime(wanted *lenientInt) time.Duration {
	if wanted == nil {
		return s.softDeadline
	}
	return min(max(time.Duration(*wanted)*time.Second, time.Millisecond), s.softDeadline)
}

// await waits for the end of an execution and reports its progress to the client,
// if the client has asked for that.
func (s *Server) await(ctx context.Context, q mcp.CallToolRequest, id string, patience time.Duration) (*routine.Execution, error) {
	p := wire.PrincipalOf(ctx)
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if r := s.startReporter(ctx, q, 0); r != nil {
		var following sync.WaitGroup
		following.Go(func() {
			_ = s.service.Watch(waiting, p, id, 0, r.event) // Wait returns the same error
		})
		defer func() { stop(); following.Wait(); r.stop() }()
	}
	return s.service.Wait(waiting, p, id)
}

func (s *Server) cancelExecution(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID string `json:"execution_id"`
	}
	err := decode(q, &a)
	if err == nil && a.ID == "" {
		err = errNoExecutionID
	}
	var e *routine.Execution
	if err == nil {
		e, err = s.service.Cancel(ctx, wire.PrincipalOf(ctx), a.ID)
	}
	if err != nil {
		return s.builtinError(ctx, "cancel_execution", err)
	}
	return structuredResult(struct {
		ExecutionID string                  `json:"execution_id"`
		Status      routine.ExecutionStatus `json:"status"`
		ErrorCode   routine.Code            `json:"error_code,omitempty"`
	}{e.ID, e.Status, e.ErrorCode})
}
