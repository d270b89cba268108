package definition

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func TestPressNamesAKey(t *testing.T) {
	for key, hint := range map[string]string{
		"Enter": "", "shift+tab": "", "a": "", "F24": "", "Numpad5": "", "{{p}}": "", "Control+{{p}}": "",
		"Entr": `did you mean "Enter"?`, "ArowDown": `did you mean "ArrowDown"?`, "Ctrl+Entre": `did you mean "Enter"?`,
		"Enter+A": "-", "é": "-", "Control+": "-", "Control + {": "",
	} {
		_, _, err := Parse([]byte(strings.Replace(declaring(`{"name": "p"}`), `{"type": "return_html"}`,
			fmt.Sprintf(`{"type": "press", "key": %q}, {"type": "return_html"}`, key), 1)))
		if hint == "" {
			if err != nil {
				t.Errorf("%q: %v", key, err)
			}
			continue
		}
		e := routine.AsError(err)
		if len(e.Problems) != 1 || e.Problems[0].Pointer != "/operations/1/key" || e.Problems[0].Code != "key" || hint != "-" && e.Problems[0].Hint != hint {
			t.Errorf("%q: %+v", key, e.Problems)
		}
	}
}
