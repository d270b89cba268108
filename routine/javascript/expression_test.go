package javascript

import "testing"

func TestExpression(t *testing.T) {
	for script, want := range map[string]string{
		"(() => 1)()":                                 "(() => 1)()",
		"(() => 1)();":                                "(() => 1)()",
		"/* c */ ;(async () => 1)() ; // end":         "         (async () => 1)()",
		"// a\n;\n(() => { return /;/ })();;\n// b\n": "    \n \n(() => { return /;/ })()",
		"": "", ";": ";", "(() => '": "(() => '",
	} {
		if got := Expression(script); got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}
