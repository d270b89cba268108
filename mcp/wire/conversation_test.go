package wire

import (
	"log/slog"
	"strings"
	"testing"
)

// A response without JSON would leave the client waiting for ever.
func TestResponseWithoutJSONIsReplaced(t *testing.T) {
	var out strings.Builder
	c := &conversation{log: slog.New(slog.DiscardHandler), out: &lineWriter{w: &out}}
	c.send([]byte("7"), map[string]any{"bad": func() {}})
	if want := `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"internal error: the response could not be encoded"}}` + "\n"; out.String() != want {
		t.Errorf("got %s", out.String())
	}
}
