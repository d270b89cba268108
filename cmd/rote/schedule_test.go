package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"
)

// The command line alone schedules a routine, pauses and resumes it.
func TestScheduleCommands(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	path := filepath.Join(r.home, "order.json")
	if err := os.WriteFile(path, []byte(`{"name": "order", "description": "Orders.", "parameters": [
		{"name": "amount", "type": "integer", "description": "How many"}, {"name": "code", "description": "Whose", "x-secret": true}],
		"operations": [{"type": "navigate", "url": "https://shop.example/{{amount}}?{{code}}"}, {"type": "return_html"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args []string, code int, out, errs string) string {
		t.Helper()
		gotOut, gotErr, got := r.run(args...)
		if got != code || !strings.Contains(gotOut, out) || !strings.Contains(gotErr, errs) {
			t.Fatalf("%s: exit %d\n%s\n%s", name, got, gotOut, gotErr)
		}
		return gotOut
	}
	run("store the routine", []string{"add", path}, 0, "created order", "")
	var sc routine.Schedule
	made := run("add", []string{"schedule", "add", "order", "0 7 * * mon-fri", "--zone", "Europe/Berlin", "-p", "amount=2", "-p", "code=s3cret", "--json"},
		0, "", "")
	if err := json.Unmarshal([]byte(made), &sc); err != nil || sc.RunsAs != "local" || string(sc.Parameters) == "" || strings.Contains(made, "s3cret") {
		t.Fatalf("%v: %s", err, made)
	}
	run("both wrong", []string{"schedule", "add", "order", "0 25 * * *", "--zone", "x"}, 1, "", "rote: /zone: ")
	run("no parameters", []string{"schedule", "add", "order", "@daily"}, 1, "", `/parameters/amount: "amount" is required`)
	run("an unknown routine", []string{"schedule", "add", "nothing", "@daily"}, 1, "", "rote list")
	run("a callback", []string{"schedule", "add", "order", "@daily", "-p", "amount=2", "-p", "code=x", "--callback-url", "http://127.0.0.1:1/",
		"--notify", "on_change",
		"--allow-host", "127.0.0.1"},
		0, "next run ", "")
	run("notify without a callback", []string{"schedule", "add", "order", "@daily", "-p", "amount=2", "-p", "code=x", "--notify", "on_change"},
		1, "", "callback_url")
	run("list", []string{"schedule", "list", "--routine", "order", "--limit", "1"}, 0, "LAST SKIP", "1 of 2 are shown")
	run("pause", []string{"schedule", "pause", sc.ID}, 0, "paused "+sc.ID+", next run paused", "")
	run("show", []string{"schedule", "show", sc.ID}, 0, `"enabled": false`, "")
	run("resume", []string{"schedule", "resume", sc.ID}, 0, " 07:00 CE", "")
	run("remove", []string{"schedule", "remove", sc.ID}, 0, "removed "+sc.ID, "")
	run("show what is removed", []string{"schedule", "show", sc.ID}, 1, "", "rote schedule list")
}
