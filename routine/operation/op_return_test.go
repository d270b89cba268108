package operation

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

// A value that is nested too deeply for readers stays text, so that the
// execution can be read again.
func TestDeepValuesStayText(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"[{\"":[`, n/2) + strings.Repeat("]}", n/2) }
	inString := func(text string) string { return routine.JSONText(text) }
	for name, row := range map[string]struct{ text, want string }{
		"as deep as may be":        {nested(maxDataDepth), nested(maxDataDepth)},
		"deeper":                   {"[" + nested(maxDataDepth) + "]", inString("[" + nested(maxDataDepth) + "]")},
		"deeper, inside a string":  {inString("[" + nested(maxDataDepth) + "]"), inString("[" + nested(maxDataDepth) + "]")},
		"inside a string":          {inString(nested(maxDataDepth)), nested(maxDataDepth)},
		"brackets that are text":   {`["` + strings.Repeat(`[\"{`, 2*maxDataDepth) + `"]`, `["` + strings.Repeat(`[\"{`, 2*maxDataDepth) + `"]`},
		"wide":                     {"[" + strings.Repeat("[],", 2*maxDataDepth) + "1]", "[" + strings.Repeat("[],", 2*maxDataDepth) + "1]"},
		"as deep as the reader is": {strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), inString(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))},
	} {
		got := storedValue(row.text)
		if string(got) != row.want {
			t.Errorf("%s: %.80s", name, got)
		}
		if _, err := json.Marshal(map[string]any{"execution": map[string]any{"result": got}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
