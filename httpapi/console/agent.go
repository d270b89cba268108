package console

import (
	"bytes"
	"encoding/json"
	"strings"

	"rote/routine"
	"rote/routine/tool"
)

// agentView is a routine as agents and programs call it.
type agentView struct {
	*tool.Tool
	// Schema is the input schema of the tool, indented. Problem says why there is no tool.
	Schema, Problem string
	// Snippets are the settings of clients that connect to this server.
	Snippets []snippet
	// Calls are calls of the routine with the values of the form.
	Calls []snippet
}

// agentView returns how the routine is called with the values of a form.
func (q *request) agentView(r *routine.Routine, f *runForm) agentView {
	v := agentView{Tool: tool.Of(r)}
	if err := v.Check(); err != nil {
		v.Problem = err.Error()
	} else {
		var schema bytes.Buffer
		if json.Indent(&schema, v.InputSchema, "", "  ") == nil {
			v.Schema = schema.String()
		}
	}
	v.Snippets = clientSnippets(q.address() + "/mcp")
	v.Calls = callSnippets(q.address(), r, f)
	return v
}

// clientSnippets returns the settings with which clients connect to the MCP server of an
// address.
func clientSnippets(address string) []snippet {
	type object = map[string]any
	settings := func(v any) string {
		text, _ := json.MarshalIndent(v, "", "  ") // maps of texts always encode
		return string(text)
	}
	header := object{"Authorization": "Bearer ${env:ROTE_TOKEN}"}
	return []snippet{
		{"client-claude-code", "Claude Code", "In a shell, with the token in ROTE_TOKEN.",
			"claude mcp add --transport http rote " + shellQuote(address) + ` --header "Authorization: Bearer $ROTE_TOKEN"`},
		{"client-claude-desktop", "Claude Desktop", "In claude_desktop_config.json. It starts local servers only, so a bridge from npm connects to this one.",
			settings(object{"mcpServers": object{"rote": object{"command": "npx",
				"args": []string{"-y", "mcp-remote", address, "--header", "Authorization:${AUTH}"}, "env": object{"AUTH": "Bearer rote_…"}}}})},
		{"client-cursor", "Cursor", "In .cursor/mcp.json, with the token in ROTE_TOKEN.",
			settings(object{"mcpServers": object{"rote": object{"url": address, "headers": header}}})},
		{"client-vscode", "VS Code", "In .vscode/mcp.json. It asks for the token once.",
			settings(object{"inputs": []object{{"type": "promptString", "id": "rote-token", "description": "Service token of rote", "password": true}},
				"servers": object{"rote": object{"type": "http", "url": address, "headers": object{"Authorization": "Bearer ${input:rote-token}"}}}})},
		{"client-http", "HTTP", "Any other client: the address of the server, and a header.",
			address + "\nAuthorization: Bearer rote_…"},
	}
}

// callSnippets returns calls of a routine over REST, on the command line and over MCP.
func callSnippets(address string, r *routine.Routine, f *runForm) []snippet {
	var members, flags []string
	for _, c := range f.Controls {
		text := c.Value
		if text == "" && c.Needed() {
			text = "…"
			if len(c.Examples) > 0 {
				text = c.Examples[0]
			}
		}
		if text == "" {
			continue
		}
		if c.Kind == "file" {
			members = append(members, routine.JSONText(c.Name)+`: [{"name": "FILE", "type": "application/octet-stream", "base64": "…"}]`)
			flags = append(flags, " -p "+shellQuote(c.Name+"=@FILE"))
			continue
		}
		members = append(members, routine.JSONText(c.Name)+": "+string(c.encode(text)))
		flags = append(flags, " -p "+shellQuote(c.Name+"="+text))
	}
	object := "{" + strings.Join(members, ", ") + "}"
	return []snippet{
		{"call-curl", "cURL", "", "curl -s " + shellQuote(address+"/routines/"+r.ID+"/execute") +
			` -H "X-Service-Token: $ROTE_TOKEN" -H 'Content-Type: application/json' -d ` + shellQuote(`{"parameters": `+object+`}`)},
		{"call-cli", "rote run", "", "rote run " + shellQuote(r.ID) + strings.Join(flags, "")},
		{"call-mcp", "MCP call", "", `{"name": ` + routine.JSONText(r.ToolName) + `, "arguments": ` + object + `}`},
	}
}
