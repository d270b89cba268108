package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
)

// secretTools returns the tools that list secrets and sessions. No tool sets one: its values
// would pass through the model.
func secretTools() []builtin {
	return []builtin{{name: "list_secrets", title: "List secrets", scope: routine.ScopeSecretsRead, readOnly: true, handle: (*Server).listSecrets,
		description: "Secrets that routines may use: {{secret:NAME.FIELD}}, {{totp:NAME}}, {{code:NAME}}. Only people set them.",
		schema:      `{"type":"object","additionalProperties":false}`},
		{name: "list_sessions", title: "List saved logins", scope: routine.ScopeSecretsRead, readOnly: true, handle: (*Server).listSessions,
			description: `Saved logins that routines may use: "session": "NAME". Only people make them.`,
			schema:      `{"type":"object","additionalProperties":false}`}}
}

// sessionRow is one session in the result of list_sessions.
type sessionRow struct {
	Name      string                   `json:"name"`
	Hosts     []string                 `json:"hosts"`
	Mode      routine.SessionMode      `json:"mode"`
	Condition routine.SessionCondition `json:"condition"`
}

func (s *Server) listSessions(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	if err := decode(q, &struct{}{}); err != nil {
		return s.builtinError(ctx, "list_sessions", err)
	}
	list, total, err := s.service.Sessions(ctx, wire.PrincipalOf(ctx), maxListedSecrets, 0)
	if err != nil {
		return s.builtinError(ctx, "list_sessions", err)
	}
	rows := []sessionRow{}
	for _, info := range list {
		rows = append(rows, sessionRow{info.Name, info.Hosts, info.Mode, info.Condition})
	}
	return structuredResult(struct {
		Sessions []sessionRow `json:"sessions"`
		Total    int          `json:"total"`
	}{rows, total})
}

// secretRow is one secret in the result of list_secrets.
type secretRow struct {
	Name        string            `json:"name"`
	Fields      []string          `json:"fields"`
	OneTimeCode bool              `json:"totp,omitempty"`
	Hosts       []string          `json:"hosts"`
	FieldRule   routine.FieldRule `json:"field_rule"`
	Requests    bool              `json:"requests"`
	Description string            `json:"description,omitempty"`
}

// maxListedSecrets limits the results of list_secrets and list_sessions.
const maxListedSecrets = 200

func (s *Server) listSecrets(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	if err := decode(q, &struct{}{}); err != nil {
		return s.builtinError(ctx, "list_secrets", err)
	}
	list, total, err := s.service.Secrets(ctx, wire.PrincipalOf(ctx), maxListedSecrets, 0)
	if err != nil {
		return s.builtinError(ctx, "list_secrets", err)
	}
	rows := []secretRow{}
	for _, info := range list {
		row := secretRow{Name: info.Name, Fields: []string{}, Hosts: info.Hosts, FieldRule: info.Field, Requests: info.Requests,
			Description: truncate(clean(info.Description), 200)}
		for _, f := range info.Fields {
			if f.TOTP {
				row.OneTimeCode = true
				continue
			}
			row.Fields = append(row.Fields, f.Name)
		}
		rows = append(rows, row)
	}
	return structuredResult(struct {
		Secrets []secretRow `json:"secrets"`
		Total   int         `json:"total"`
	}{rows, total})
}
