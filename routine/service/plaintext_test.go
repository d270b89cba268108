package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/definition"
)

// invisible are characters of every kind that PlainText removes.
var invisible = []rune{0, 7, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x180b, 0x180e, 0x200b, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
	0x2060, 0x2064, 0x2066, 0x2067, 0x2068, 0x2069, 0x206f, 0x3164, 0xfe00, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef}

func TestPlainText(t *testing.T) {
	for _, r := range invisible {
		if got := routine.PlainText("a" + string(r) + "b"); got != "ab" {
			t.Errorf("%U: %q", r, got)
		}
		quoted := fmt.Sprintf("%q: [%s]", "k", `"a`+string(r)+`b"`)
		if r < ' ' {
			continue // JSON has it as an escape only
		}
		got := routine.EscapeInvisible("{" + quoted + "}")
		var is, was any
		if strings.ContainsRune(got, r) || json.Unmarshal([]byte(got), &is) != nil || json.Unmarshal([]byte("{"+quoted+"}"), &was) != nil || fmt.Sprint(is) != fmt.Sprint(was) {
			t.Errorf("%U: %q", r, got)
		}
	}
	for _, kept := range []string{"", "a b\n\tc\r", "Größe 日本 שלום مرحبا", "👩\u200d👧 ❤\ufe0f ☎\ufe0e", "می\u200cخواهم", "\u0600١٢", "\ufffd"} {
		if got := routine.PlainText(kept); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
		if got := routine.EscapeInvisible(kept); got != kept {
			t.Errorf("%q was escaped as %q", kept, got)
		}
	}
	if got := routine.PlainText("a\xffb"); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
}

// TestWarnsOfInvisibleCharacters: an author learns that a text that agents read
// is published without them.
func TestWarnsOfInvisibleCharacters(t *testing.T) {
	for _, field := range []string{"/name", "/description", "/parameters/0/description", "/tags/1"} {
		texts := map[string]string{"/name": "n", "/description": "d", "/parameters/0/description": "p", "/tags/1": "t"}
		texts[field] = "ab\u202ecd"
		text := fmt.Sprintf(`{"name": %q, "description": %q, "tags": ["x", %q], "parameters": [{"name": "q", "description": %q}],
			"operations": [{"type": "navigate", "url": "https://shop.example/{{q}}"}, {"type": "return_html"}]}`,
			texts["/name"], texts["/description"], texts["/tags/1"], texts["/parameters/0/description"])
		text = strings.ReplaceAll(text, `\u202e`, "\u202e") // %q escapes it
		_, warnings, err := definition.Parse([]byte(text))
		if err != nil || len(warnings) != 1 || warnings[0].Pointer != field || warnings[0].Code != "invisible_character" || !strings.Contains(warnings[0].Message, "U+202E") {
			t.Errorf("%s: %v %v", field, warnings, err)
		}
	}
}
