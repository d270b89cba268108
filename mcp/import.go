package mcp

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
)

// importTool returns the tool that makes a routine of a recording.
func importTool() builtin {
	return builtin{name: "import_routine", title: "Make a routine of a recording", scope: scopeTeach, destructive: true, openWorld: true,
		handle: (*Server).importRoutine,
		description: "Turn a Chrome Recorder JSON, a Selenium IDE .side, a HAR file, cURL commands or a script of Playwright or Puppeteer into a routine, " +
			"with a report of what could not be carried over. Saves nothing. With resolve the operations are tried in a lesson.",
		schema: `{"type":"object","properties":{"source":{"type":"string","description":"The text of the file or command"},` +
			`"kind":{"type":"string","enum":["recorder","side","har","curl","playwright","puppeteer"],"description":"Left out: found from the text"},` +
			`"test":{"type":"string","description":"Which test of several; which request of a HAR: its number or a part of its URL"},` +
			`"resolve":{"type":"boolean","description":"true: try it on the live site, up to what fails or may buy, send or delete; ` +
			`try_operation goes on from there"},` +
			`"values":{"type":"object","description":"With resolve: values of the parameters by name"},` +
			`"session":{"type":"string","description":"With resolve: saved session to start from"}},` +
			`"required":["source"],"additionalProperties":false}`}
}

func (s *Server) importRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Source  string                     `json:"source"`
		Kind    string                     `json:"kind"`
		Test    string                     `json:"test"`
		Resolve lenientBool                `json:"resolve"`
		Values  map[string]json.RawMessage `json:"values"`
		Session string                     `json:"session"`
	}
	err := decode(q, &a)
	r := lesson.ImportRequest{Request: importer.Request{Source: a.Source, Kind: a.Kind, Test: a.Test}, Resolve: bool(a.Resolve),
		Values: a.Values, Session: a.Session}
	if err == nil {
		err = r.Check()
	}
	var imported *lesson.Imported
	switch {
	case err != nil:
	case !r.Resolve:
		var static *importer.Imported
		if static, err = s.service.Import(ctx, wire.PrincipalOf(ctx), r.Request); err == nil {
			imported = &lesson.Imported{Imported: *static}
		}
	case s.lessons == nil:
		err = routine.Errorf(routine.CodeInvalid, "resolve tries the operations in a lesson, and this server has none: its --toolsets need teach")
	default:
		reporter := s.startReporter(ctx, q, 0)
		r.Progress = reporter.continuousProgress()
		imported, err = s.lessons.Import(ctx, wire.PrincipalOf(ctx), r)
		reporter.stop()
	}
	if err != nil {
		return s.builtinError(ctx, q.Params.Name, err)
	}
	if imported.Resolved != nil { // the operation that fails is what the caller asked for
		return lessonResult(imported.Text(), false)
	}
	imported.Errors, imported.Warnings = cleanProblems(imported.Errors), cleanProblems(imported.Warnings)
	return structuredResult(imported)
}

// exportRoutine answers with a routine in the format of another tool.
func (s *Server) exportRoutine(ctx context.Context, id, to string) *mcp.CallToolResult {
	exported, err := s.service.Export(ctx, wire.PrincipalOf(ctx), id, to)
	if err != nil {
		return s.builtinError(ctx, "describe_routine", err)
	}
	return structuredResult(exported)
}
