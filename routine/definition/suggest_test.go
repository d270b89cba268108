package definition

import (
	"testing"

	"rote/routine"
	"rote/routine/operation"
)

func TestNearestIsWhatWasMeant(t *testing.T) {
	fields := []string{"selector", "button", "click_count", "timeout_ms", "ensure_visible", "type", "text", "js", "session_storage_key",
		"timeout_seconds", "url_regex", "x-secret", "min_value", "max_value", "enum_values"}
	for name, want := range map[string]string{
		"selecter": "selector", "Selector": "selector", "clickCount": "click_count", "click-count": "click_count", "timeout": "timeout_ms", "timeoutMs": "timeout_ms", "ensureVisible": "ensure_visible",
		"bottun": "button", "css": "selector", "xpath": "selector", "value": "text", "code": "js", "storage_key": "session_storage_key", "secret": "x-secret", "min": "min_value", "options": "enum_values",
		"colour": "", "x": "", "": "", "wait_until": "", "frame": "", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": "",
	} {
		if got := routine.Nearest(name, fields); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"goto": "navigate", "fill": "input_text", "wait": "sleep", "clik": "click",
		"js-evaluate": "js_evaluate", "return_htm": "return_html", "retrun": "return", "jsEvaluate": "js_evaluate", "html": "return_html",
		"scroll_down": "scroll", "hover": "", "store": "", "upload": ""} {
		if got := routine.Nearest(name, operation.KindNames()); got != want {
			t.Errorf("type %q: %q, want %q", name, got, want)
		}
	}
}
