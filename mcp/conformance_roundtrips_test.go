//go:build conformance

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// states are the request states that the fixtures give out; another is forged.
var states = map[string]bool{"state": true, "first round": true, "second round": true}

func question(text, field, kind string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: text, RequestedSchema: object{"type": "object", "properties": object{field: object{"type": kind}}, "required": []string{field}}}
}

func capital() mcp.CreateMessageParams {
	return mcp.CreateMessageParams{Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("What is the capital of France?")}}, MaxTokens: 100}
}

// roundTripFixtures ask the client by answering with what they need to know,
// as revision 2026-07-28 has it.
func roundTripFixtures(m *server.MCPServer) {
	input := server.NewInputRequestBuilder
	name := question("What is your name?", "name", "string")
	// until asks until the client has answered id.
	until := func(id string, b func() *server.InputRequestBuilder) handler {
		return func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if _, answered := server.InputResponse(q.Params.InputResponses, id); answered {
				if q.Params.RequestState != "" && !states[q.Params.RequestState] {
					return nil, errors.New("requestState is not ours")
				}
				return mcp.NewToolResultText("state-ok"), nil
			}
			return b().ToolResult(), nil
		}
	}
	addTool(m, "test_input_required_result_elicitation", func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if e := server.ElicitationResponse(q.Params.InputResponses, "user_name"); e != nil {
			if given, _ := e.Content.(map[string]any); given["name"] != nil && given["name"] != "" {
				return mcp.NewToolResultText("Hello, " + given["name"].(string)), nil
			}
		}
		return input("").Elicit("user_name", name).ToolResult(), nil
	})
	addTool(m, "test_input_required_result_sampling",
		until("capital_question", func() *server.InputRequestBuilder { return input("").Sample("capital_question", capital()) }))
	addTool(m, "test_input_required_result_list_roots", until("client_roots", func() *server.InputRequestBuilder { return input("").Roots("client_roots") }))
	confirm := func() *server.InputRequestBuilder {
		return input("state").Elicit("confirm", question("Please confirm", "ok", "boolean"))
	}
	addTool(m, "test_input_required_result_request_state", until("confirm", confirm))
	addTool(m, "test_input_required_result_tampered_state", until("confirm", confirm))
	addTool(m, "test_input_required_result_multiple_inputs", until("user_name", func() *server.InputRequestBuilder {
		return input("state").Elicit("user_name", name).Sample("greeting", capital()).Roots("client_roots")
	}))
	addTool(m, "test_streaming_elicitation", until("user_name", func() *server.InputRequestBuilder { return input("").Elicit("user_name", name) }))
	second := until("step2", func() *server.InputRequestBuilder {
		return input("second round").Elicit("step2", question("Step 2: What is your favorite color?", "color", "string"))
	})
	addTool(m, "test_input_required_result_multi_round", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(q.Params.InputResponses) == 0 {
			return input("first round").Elicit("step1", question("Step 1: What is your name?", "name", "string")).ToolResult(), nil
		}
		return second(ctx, q)
	})
	addTool(m, "test_input_required_result_capabilities", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		b, asked := input(""), false
		if c := clientCapabilities(ctx); c.Sampling != nil {
			b, asked = b.Sample("sample", capital()), true
		}
		if c := clientCapabilities(ctx); c.Elicitation != nil {
			b, asked = b.Elicit("elicit", name), true
		}
		if !asked {
			return mcp.NewToolResultText("ok"), nil
		}
		return b.ToolResult(), nil
	})
	addTool(m, "test_missing_capability", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if clientCapabilities(ctx).Sampling == nil {
			return nil, errNoSampling
		}
		return mcp.NewToolResultText("ok"), nil
	})
	m.AddPrompt(mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription("fixture")), func(_ context.Context, q mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if server.ElicitationResponse(q.Params.InputResponses, "user_context") != nil {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("context")}}}, nil
		}
		return input("").Elicit("user_context", question("What context should the prompt use?", "context", "string")).PromptResult(), nil
	})
}

// errNoSampling is replaced by an error with the right code in withCodes.
var errNoSampling = errors.New("missing required client capability: sampling")

// withCodes sets the code of errors of fixtures, which handlers of mcp-go cannot
// choose. Our own handlers need no such codes.
func withCodes(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Name") != "test_missing_capability" {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		var m map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &m); err == nil && m["error"] != nil {
			m["error"] = object{"code": mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "message": errNoSampling.Error(),
				"data": object{"requiredCapabilities": object{"sampling": object{}}}}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(m)
	})
}

func clientCapabilities(ctx context.Context) mcp.ClientCapabilities {
	if i := server.RequestProtocolInfoFromContext(ctx); i != nil && i.ClientCapabilities != nil {
		return *i.ClientCapabilities
	}
	return mcp.ClientCapabilities{}
}
