package wire

import (
	"strings"
	"testing"
)

func TestRequestIDIsHiddenInMessagesOnly(t *testing.T) {
	id := newRequestID([]byte("9007199254740993"))
	for message, want := range map[string]string{
		`{"id":9007199254740993,"params":{"id":9007199254740993}}`: `{"id":"rote-number:9007199254740993","params":{"id":9007199254740993}}`,
		`[9007199254740993]`: `[9007199254740993]`,
		`null`:               `null`,
		`{`:                  `{`,
	} {
		if got := string(id.hide([]byte(message), "id")); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
	if got := string(id.restore(id.hide([]byte(`{"id":9007199254740993}`), "id"))); got != `{"id":9007199254740993}` {
		t.Error(got)
	}
	for _, given := range []string{"", "null", "7", "999999999999999", `"` + strings.Repeat("x", 40) + `"`, `{"an":"object that is long"}`} {
		if id := newRequestID([]byte(given)); id.given != nil {
			t.Errorf("%s is hidden", given)
		}
	}
}
