package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
)

// secretTools returns the tool that lists secrets. No tool sets one: its value would pass
// through the model.
func secretTools() []builtin {
	return []builtin{{name: "list_secrets", title: "List secrets", scope: routine.ScopeSecretsRead, readOnly: true, handle: (*Server).listSecrets,
		description: "Secrets that routines may use: {{secret:NAME.FIELD}}, {{totp:NAME}}, {{code:NAME}}. Only people set them.",
		schema:      `{"type":"object","additionalProperties":false}`}}
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

// maxListedSecrets limits the secrets in the result of list_secrets.
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
