package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/service"
	"rote/routine/spelling"
)

// An agent sees which secrets there are, runs a routine that uses one, and in a whole session
// no answer has the value.
func TestSecretsOverMCP(t *testing.T) {
	const value = "hunter2-very-secret"
	logIn := `{"name": "log_in", "description": "Logs in.", "operations": [{"type": "navigate", "url": "https://shop.example/"},
		{"type": "input_text", "selector": "#p", "text": "{{secret:shop.password}}"}, {"type": "return_html"}]}`
	h := newTestServer(t, logIn).with(t, Config{Authoring: true})
	h.browser.Page.HTML = "<b>" + value + "</b>"
	c := connect(t, h.Server)
	said := strings.Builder{}
	call := func(tool, want string, arguments map[string]any) {
		t.Helper()
		result, text := callTool(t, c, tool, arguments)
		said.WriteString(text + routine.JSONText(result))
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", tool, text, want)
		}
	}
	call("log_in", "ask a person to run: rote secret set shop --host shop.example --field password", nil)
	call("log_in", "do not send a password yourself", nil)
	keeper := ann
	keeper.Scopes |= routine.ScopeSecretsWrite
	_, _, err := h.service.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{"hosts": ["shop.example"], "description": "The shop",
		"fields": {"password": "`+value+`"}, "totp": "JBSWY3DPEHPK3PXP"}`), service.PutCondition{})
	if err != nil {
		t.Fatal(err)
	}
	call("list_secrets", `{"secrets":[{"name":"shop","fields":["password"],"totp":true,"hosts":["shop.example"],"field_rule":"password","requests":false,`+
		`"description":"The shop"}],"total":1}`, nil)
	call("list_secrets", "unknown field", map[string]any{"name": "shop"})
	_, err = h.service.ImportSession(t.Context(), keeper, routine.ViaREST, "shop", []byte("shop.example\tFALSE\t/\tTRUE\t0\tsid\t"+value),
		[]string{"shop.example"}, service.PutCondition{})
	if err != nil {
		t.Fatal(err)
	}
	call("list_sessions", `{"sessions":[{"name":"shop","hosts":["shop.example"],"mode":"shared","condition":"fresh"}],"total":1}`, nil)
	call("list_sessions", "unknown field", map[string]any{"name": "shop"})
	call("log_in", "***", nil)
	call("list_executions", `"completed"`, nil)
	call("describe_routine", "{{secret:shop.password}}", map[string]any{"id": "log_in", "definition": true})

	// The answer about a run that waits for a code says what to ask the person for.
	waits := json.RawMessage(`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"},
		{"type": "input_text", "selector": "#p", "text": "{{code:shop}}", "timeout_ms": 60000}]}`)
	call("run_routine", "the run waits for a one-time code of secret shop that the site has sent to a person: ask for: rote secret code shop",
		map[string]any{"routine": waits, "wait_seconds": 1})
	if err := h.service.GiveCode(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{"code": "`+value+`"}`)); err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	said.WriteString(routine.JSONText(tools))
	for _, spelled := range spelling.All(value) {
		if strings.Contains(said.String(), spelled) || strings.Contains(h.log.String(), spelled) {
			t.Errorf("the value is in an answer or in the log: %s", said.String())
		}
	}
}
