package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/service"
)

// An answer says so if a typed text was added to one that the field had, and never what a
// secret field holds.
func TestLessonSaysWhatAFieldHolds(t *testing.T) {
	t.Parallel()
	const secret = "tr0ub4dor-9Kx"
	url := site(t, map[string]any{"/": `<label>Pieces <input type=number name=n value=1 min=1 max=99></label>
		<label>City <input name=city value=Oslo onfocus="select()"></label>
		<label>Code <input name=code value=A1></label><label>Password <input type=password name=pw value=old></label>
		<label>Street <input name=street maxlength=4></label><label>Size <select name=size><option>S<option>M</select></label>
		<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<label>Late <input name=late value=7></label>'), 400)</script>`}) + "/"
	l := lessonsIn(t, &watchedBrowser{Browser: shared}, func(c *lesson.Config) {
		c.Secrets = func(routine.Principal) map[string]service.GivenSecret {
			return map[string]service.GivenSecret{"PIN": {Hosts: []string{"127.0.0.1"}, Field: routine.FieldAny,
				Fields: map[string]routine.Hidden{routine.ValueField: secret}}}
		}
	})
	started, err := l.Start(testContext(t), lessonAuthor, lesson.StartRequest{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	const same, replace = "Page: no change.", `"clear": true replaces what it had`
	for _, row := range []struct {
		operation, says string
		same            bool // whether the page did not change
	}{
		{`{"type":"input_text","selector":"[name=late]","text":"3"}`, `the field had "7" and holds "73" now: ` + replace, false},
		{`{"type":"input_text","selector":"[name=n]","text":"{{pieces}}"}`, `the field had "1" and holds "12" now: ` + replace, false},
		{`{"type":"input_text","selector":"[name=n]","text":"{{pieces}}","clear":true}`, "", true},
		{`{"type":"input_text","selector":"[name=city]","text":"Bergen"}`, "", true},
		{`{"type":"input_text","selector":"[name=size]","text":"M"}`, "", true},
		{`{"type":"input_text","selector":"[name=street]","text":"Long street"}`, `holds another text than was typed, "Long"`, false},
		{`{"type":"input_text","selector":"[name=code]","text":"{{pin}}"}`, "the field had a text, to which the typed one was added: " + replace, true},
		{`{"type":"input_text","selector":"[name=pw]","text":"{{pin}}"}`, "the field was not empty before: " + replace, true},
	} {
		answer, text := try(t, l, started.ID, map[string]json.RawMessage{"pieces": json.RawMessage("2"), "pin": json.RawMessage(`{"secret":"PIN"}`)}, row.operation)
		if !answer.OK || !strings.Contains(text, row.says) || row.says == "" && strings.Contains(text, "Warning") || strings.Contains(text, same) != row.same {
			t.Errorf("%s: want %q, and no change: %t, in\n%s", row.operation, row.says, row.same, text)
		}
		if strings.Contains(text+routine.JSONText(answer), secret) {
			t.Errorf("%s shows the secret: %s", row.operation, text)
		}
	}
	answer, err := l.Try(testContext(t), lessonAuthor, started.ID, lesson.TryRequest{At: 2,
		Operations: []json.RawMessage{json.RawMessage(`{"type":"input_text","selector":"[name=n]","text":"3"}`)}})
	if err != nil || !strings.Contains(answer.Text(), `the field had "2" and holds "23" now: `+replace) {
		t.Errorf("at another operation: %v %v", answer, err)
	}
}
