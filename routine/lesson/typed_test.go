package lesson

import (
	"testing"

	"rote/routine"
)

func TestFormerTextWarning(t *testing.T) {
	for _, row := range []struct {
		name, former, now, typed string
		secret                   bool
		want                     string
	}{
		{"added", "1", "12", "2", false, `the field had "1" and holds "12" now: "clear": true replaces what it had`},
		{"replaced by the page", "1", "2", "2", false, ""},
		{"typed again", "2", "22", "2", false, `the field had "2" and holds "22" now: "clear": true replaces what it had`},
		{"refused", "1", "1", "x", false, ""},
		{"added and formatted", "1,000", "10,002", "2", false, `the field had "1,000" and holds "10,002" now: "clear": true replaces what it had`},
		{"replaced and formatted", "5", "1,500", "1500", false, ""},
		{"another text", "Oslo", "Bergen", "Ber", false, ""},
		{"a session value", "a", "ab", "", false, `the field had "a" and holds "ab" now: "clear": true replaces what it had`},
		{"a secret", "a", "a***", routine.Masked, true, `the field had a text, to which the typed one was added: "clear": true replaces what it had`},
		{"a secret that replaced it", "a", routine.Masked, routine.Masked, true, ""},
		{"a field for a secret", routine.Masked, routine.Masked, "abc", true, `the field was not empty before: "clear": true replaces what it had`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := formerTextWarning(row.former, row.now, row.typed, row.secret); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
