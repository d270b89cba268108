package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine/importer"
)

// importTool returns the tool that makes a routine of a recording.
func importTool() builtin {
	return builtin{name: "import_routine", title: "Make a routine of a recording", scope: scopeTeach, readOnly: true, handle: (*Server).importRoutine,
		description: "Turn a Chrome Recorder JSON, a Selenium IDE .side, a HAR file, cURL commands or a script of Playwright or Puppeteer into a routine, " +
			"with a report of what could not be carried over. Saves nothing.",
		schema: `{"type":"object","properties":{"source":{"type":"string","description":"The text of the file or command"},` +
			`"kind":{"type":"string","enum":["recorder","side","har","curl","playwright","puppeteer"],"description":"Left out: found from the text"},` +
			`"test":{"type":"string","description":"Which test of several; which request of a HAR: its number or a part of its URL"}},` +
			`"required":["source"],"additionalProperties":false}`}
}

func (s *Server) importRoutine(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Source string `json:"source"`
		Kind   string `json:"kind"`
		Test   string `json:"test"`
	}
	err := decode(q, &a)
	var imported *importer.Imported
	if err == nil {
		imported, err = s.service.Import(ctx, wire.PrincipalOf(ctx), importer.Request{Source: a.Source, Kind: a.Kind, Test: a.Test})
	}
	if err != nil {
		return s.builtinError(ctx, q.Params.Name, err)
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
