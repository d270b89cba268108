package mcp

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/lesson"
)

// requestsTool returns the tool that lists the requests of a lesson's page.
func requestsTool() builtin {
	nextSteps := maps.Clone(lessonNextSteps)
	nextSteps[routine.CodeNotFound] = "list_network_requests without id lists the requests of a lesson; start_lesson opens one"
	return builtin{name: "list_network_requests", title: "List the page's requests", scope: scopeTeach, readOnly: true,
		nextSteps: nextSteps, handle: (*Server).listNetworkRequests,
		description: "The data requests (XHR, fetch, form posts) that the page has made, with the shapes of what went in and came out. " +
			"With id: that request as a fetch operation, its tokens traced to where they come from. A fetch is usually the fastest and steadiest routine.",
		schema: `{"type":"object","properties":{` + lessonArgument + `,"id":{"type":"integer","description":"Number in the list"},` +
			`"find":{"type":"string","description":"Only requests whose URL or answer has this text, as a price that you see on the page"},` +
			`"since":{"type":"integer","description":"Only those after operation number"}},"required":["lesson"],"additionalProperties":false}`}
}

// saveTool returns the tool that makes a routine of a lesson.
func saveTool() builtin {
	return builtin{name: "save_lesson", title: "Save the lesson as a routine", scope: scopeTeach, destructive: true, openWorld: true,
		nextSteps: lessonNextSteps, handle: (*Server).saveLesson,
		description: "Check the lesson's operations as a routine, run it once from scratch to prove it, and save it: as a new routine (draft until it is proved), " +
			"or as the next version of the one that was mended. Without name or with dry_run it only shows the routine and proposals for parameters.",
		schema: `{"type":"object","properties":{` + lessonArgument + `,"name":{"type":"string"},` +
			`"description":{"type":"string","description":"What it does and gives, for an agent that has to choose it"},` +
			`"parameters":{"type":"array","items":{"type":"object"},` +
			`"description":"Declarations: name, type, description, validation, x-secret; replaces typed literals equal to from"},` +
			`"prove":{"type":"string","enum":["all","check_last","no"],` +
			`"description":"check_last: everything but the last acting operation, of which only the target is looked for"},` +
			`"other_values":{"type":"object","description":"A second set of values to prove with"},` +
			`"expected_version":{"type":"integer"},"dry_run":{"type":"boolean"}},"required":["lesson"],"additionalProperties":false}`}
}

func (s *Server) listNetworkRequests(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Lesson string      `json:"lesson"`
		ID     *lenientInt `json:"id"`
		Find   string      `json:"find"`
		Since  lenientInt  `json:"since"`
	}
	text, err := "", decodeLessonCall(q, &a, &a.Lesson)
	switch {
	case err != nil:
	case a.ID != nil:
		var one *lesson.RequestOperation
		if one, err = s.lessons.Request(ctx, wire.PrincipalOf(ctx), a.Lesson, int(*a.ID)); err == nil {
			text = one.Text()
		}
	default:
		var list *lesson.RequestList
		if list, err = s.lessons.Requests(ctx, wire.PrincipalOf(ctx), a.Lesson, lesson.RequestsQuery{Find: a.Find, Since: int(a.Since)}); err == nil {
			text = list.Text()
		}
	}
	if err != nil {
		return s.builtinError(ctx, q.Params.Name, err)
	}
	return lessonResult(text, false)
}

func (s *Server) saveLesson(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Lesson      string                     `json:"lesson"`
		Name        string                     `json:"name"`
		Description string                     `json:"description"`
		Parameters  []json.RawMessage          `json:"parameters"`
		Prove       lesson.Prove               `json:"prove"`
		Other       map[string]json.RawMessage `json:"other_values"`
		Expected    *lenientInt                `json:"expected_version"`
		DryRun      lenientBool                `json:"dry_run"`
	}
	if err := decodeLessonCall(q, &a, &a.Lesson); err != nil {
		return s.builtinError(ctx, q.Params.Name, err)
	}
	r := s.startReporter(ctx, q, 0)
	saved, err := s.lessons.Save(ctx, wire.PrincipalOf(ctx), a.Lesson, lesson.SaveRequest{Name: a.Name, Description: a.Description, Parameters: a.Parameters,
		Prove: a.Prove, OtherValues: a.Other, ExpectedVersion: (*int)(a.Expected), DryRun: bool(a.DryRun), Progress: r.continuousProgress(), Via: routine.ViaMCP})
	r.stop()
	notProved := saved != nil && routine.CodeOf(err) == routine.CodeNotProved
	if err != nil && !notProved {
		return s.builtinError(ctx, q.Params.Name, err)
	}
	result := structuredResult(saved)
	result.IsError = notProved
	return result
}
