package console

import (
	"encoding/json"
	"net"
	"strings"
)

// snippet is a text to copy.
type snippet struct{ ID, Title, Hint, Text string }

// address returns the address of the service as the browser sees it, without a slash at its
// end. A name below localhost, which not every program can resolve, is written as localhost.
func (q *request) address() string {
	scheme := "http://"
	if q.isHTTPS() || q.isBehindProxy() {
		scheme = "https://"
	}
	host := q.Host
	if name, port, err := net.SplitHostPort(host); err == nil && strings.HasSuffix(strings.ToLower(name), ".localhost") {
		host = net.JoinHostPort("localhost", port)
	}
	return scheme + host + strings.TrimSuffix(q.base, "/console")
}

// tokenSnippets returns the next step with a new token: a first call, and the settings with
// which clients connect to the MCP server of an address.
func tokenSnippets(address, token string) []snippet {
	type object = map[string]any
	settings := func(v any) string {
		text, _ := json.MarshalIndent(v, "", "  ") // maps of texts always encode
		return string(text)
	}
	server, bearer := address+"/mcp", "Bearer "+token
	header := object{"Authorization": bearer}
	return []snippet{
		{"token-curl", "cURL", "In a shell: list the routines.", "curl -s -H 'X-Service-Token: " + token + "' " + shellQuote(address+"/routines")},
		{"token-claude-code", "Claude Code", "In a shell.",
			"claude mcp add --transport http rote " + shellQuote(server) + " --header 'Authorization: " + bearer + "'"},
		{"token-claude-desktop", "Claude Desktop", "In claude_desktop_config.json. It starts local servers only, so a bridge from npm connects to this one.",
			settings(object{"mcpServers": object{"rote": object{"command": "npx",
				"args": []string{"-y", "mcp-remote", server, "--header", "Authorization:${AUTH}"}, "env": object{"AUTH": bearer}}}})},
		{"token-cursor", "Cursor", "In .cursor/mcp.json. Do not check the file in: it has the token.",
			settings(object{"mcpServers": object{"rote": object{"url": server, "headers": header}}})},
		{"token-vscode", "VS Code", "In .vscode/mcp.json. Do not check the file in: it has the token.",
			settings(object{"servers": object{"rote": object{"type": "http", "url": server, "headers": header}}})},
	}
}

// shellQuote returns a text as one word of a POSIX shell.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if text != "" && strings.TrimFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
