//go:build conformance

package mcp

import (
	"context"
	"fmt"
	"strings"

	"rote/mcp/wire"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// fixtures are the tools, resources and prompts that the official suite calls
// by name, on a server with all that the library can do.
func fixtures() *server.MCPServer {
	m := server.NewMCPServer("fixtures", "1.0.0", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithCompletions(), server.WithLogging(), server.WithElicitation())
	m.EnableSampling()
	contentFixtures(m)
	talkFixtures(m)
	changeFixtures(m)
	resourceFixtures(m)
	promptFixtures(m)
	roundTripFixtures(m)
	return m
}

const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

type (
	handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error)
	object  = map[string]any
)

func addTool(m *server.MCPServer, name string, f handler) {
	m.AddTool(mcp.NewTool(name, mcp.WithDescription("fixture")), f)
}

// gives returns a tool with a constant result.
func gives(content ...mcp.Content) handler {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func embedded(uri, kind, text string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: text})
}

func contentFixtures(m *server.MCPServer) {
	addTool(m, "test_simple_text", gives(mcp.NewTextContent("This is a simple text response for testing.")))
	addTool(m, "test_image_content", gives(mcp.NewImageContent(pixel, "image/png")))
	addTool(m, "test_audio_content", gives(mcp.NewAudioContent(silence, "audio/wav")))
	addTool(m, "test_embedded_resource", gives(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")))
	addTool(m, "test_multiple_content_types", gives(mcp.NewTextContent("Multiple content types test:"), mcp.NewImageContent(pixel, "image/png"),
		embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)))
	addTool(m, "test_error_handling", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	m.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "fixture", []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema",`+
		`"type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},`+
		`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},`+
		`"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},`+
		`"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`)), gives(mcp.NewTextContent("ok")))
	m.AddTool(mcp.NewToolWithRawSchema("test_custom_header", "fixture", []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)),
		gives(mcp.NewTextContent("ok")))
}

// talkFixtures tell and ask the client while they are called, on the stream of
// their own call.
func talkFixtures(m *server.MCPServer) {
	tell := func(ctx context.Context, method string, params object) error {
		return wire.NotifierOf(ctx)(method, params)
	}
	addTool(m, "test_tool_with_logging", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := tell(ctx, "notifications/message", object{"level": "info", "logger": "fixtures", "data": text}); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("Tool with logging executed successfully"), nil
	})
	addTool(m, "test_tool_with_progress", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, done := range []int{0, 50, 100} {
			if q.Params.Meta == nil || q.Params.Meta.ProgressToken == nil {
				break
			}
			if err := tell(ctx, "notifications/progress", object{"progressToken": q.Params.Meta.ProgressToken, "progress": done, "total": 100}); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("progress reported"), nil
	})
	addTool(m, "test_sampling", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p := capital()
		p.Messages[0].Content = mcp.NewTextContent(q.GetString("prompt", ""))
		r, err := m.RequestSampling(ctx, mcp.CreateMessageRequest{Request: mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)}, CreateMessageParams: p})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(fmt.Sprintf("LLM response: %v", r.Content)), nil
	})
	ask := func(name string, properties object, required ...string) {
		addTool(m, name, func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			schema := object{"type": "object", "properties": properties}
			if len(required) > 0 {
				schema["required"] = required
			}
			r, err := m.RequestElicitation(ctx, mcp.ElicitationRequest{Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)},
				Params: mcp.ElicitationParams{Message: q.GetString("message", "fixture"), RequestedSchema: schema}})
			if err != nil {
				return nil, err
			}
			return mcp.NewToolResultText(fmt.Sprintf("User response: action=%s, content=%v", r.Action, r.Content)), nil
		})
	}
	ask("test_elicitation", object{"username": object{"type": "string"}, "email": object{"type": "string"}}, "username", "email")
	ask("test_elicitation_sep1034_defaults", object{
		"name": object{"type": "string", "default": "John Doe"}, "age": object{"type": "integer", "default": 30}, "score": object{"type": "number", "default": 95.5},
		"status":   object{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": object{"type": "boolean", "default": true}})
	titled := []any{object{"const": "value1", "title": "First Option"}, object{"const": "value2", "title": "Second Option"}, object{"const": "value3", "title": "Third Option"}}
	plain := []string{"option1", "option2", "option3"}
	ask("test_elicitation_sep1330_enums", object{
		"untitledSingle": object{"type": "string", "enum": plain}, "titledSingle": object{"type": "string", "oneOf": titled},
		"legacyEnum":    object{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"Option One", "Option Two", "Option Three"}},
		"untitledMulti": object{"type": "array", "items": object{"type": "string", "enum": plain}}, "titledMulti": object{"type": "array", "items": object{"anyOf": titled}}})
}

// changeFixtures change the lists that contain them, and log.
func changeFixtures(m *server.MCPServer) {
	done := gives(mcp.NewTextContent("done"))
	addTool(m, "test_trigger_tool_change", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addTool(m, "test_passing", done)
		m.DeleteTools("test_passing")
		return done(ctx, q)
	})
	addTool(m, "test_trigger_prompt_change", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		m.AddPrompt(mcp.NewPrompt("test_passing"), nil)
		m.DeletePrompts("test_passing")
		return done(ctx, q)
	})
	addTool(m, "test_logging_tool", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = m.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "fixtures", "a line")) // not to who did not ask
		return done(ctx, q)
	})
}

func resourceFixtures(m *server.MCPServer) {
	m.AddResource(mcp.NewResource("test://static-text", "static-text", mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}}, nil
		})
	m.AddResource(mcp.NewResource("test://static-binary", "static-binary", mcp.WithMIMEType("image/png")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: pixel}}, nil
		})
	m.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, q mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(q.Params.URI, "test://template/"), "/data")
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: q.Params.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}}, nil
		})
}

func promptFixtures(m *server.MCPServer) {
	says := func(contents ...mcp.Content) *mcp.GetPromptResult {
		r := &mcp.GetPromptResult{}
		for _, c := range contents {
			r.Messages = append(r.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
		}
		return r
	}
	add := func(name string, f func(map[string]string) *mcp.GetPromptResult, arguments ...string) {
		options := []mcp.PromptOption{mcp.WithPromptDescription("fixture")}
		for _, a := range arguments {
			options = append(options, mcp.WithArgument(a, mcp.ArgumentDescription("fixture"), mcp.RequiredArgument()))
		}
		m.AddPrompt(mcp.NewPrompt(name, options...), func(_ context.Context, q mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return f(q.Params.Arguments), nil
		})
	}
	add("test_simple_prompt", func(map[string]string) *mcp.GetPromptResult {
		return says(mcp.NewTextContent("This is a simple prompt for testing."))
	})
	add("test_prompt_with_arguments", func(a map[string]string) *mcp.GetPromptResult {
		return says(mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])))
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(a map[string]string) *mcp.GetPromptResult {
		return says(embedded(a["resourceUri"], "text/plain", "Embedded resource content for testing."), mcp.NewTextContent("Please process the embedded resource above."))
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) *mcp.GetPromptResult {
		return says(mcp.NewImageContent(pixel, "image/png"), mcp.NewTextContent("Please analyze the image above."))
	})
}
