package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Neither the program nor its browser, both of which have secrets in memory, leaves a core dump.
func TestNoCoreDumps(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	if status, answer := s.call("POST", "/executions", fmt.Sprintf(`{"routine":{"name":"n","description":"d","operations":[{"type":"navigate","url":"%s/"},
		{"type":"return_html"}]}}`, r.shop)); status != 201 {
		t.Fatal(answer)
	}
	pids := []string{fmt.Sprint(s.cmd.Process.Pid)}
	for _, line := range processes(t, "--user-data-dir="+r.home) {
		pids = append(pids, regexp.MustCompile(`\d+`).FindString(line))
	}
	if len(pids) < 2 {
		t.Fatal("no browser runs")
	}
	none := regexp.MustCompile(`(?m)^Max core file size +0 +0 `)
	for _, pid := range pids {
		limits, err := os.ReadFile("/proc/" + pid + "/limits")
		if err != nil || !none.Match(limits) {
			t.Errorf("process %s: %v\n%s", pid, err, strings.SplitAfter(string(limits), "Max core"))
		}
	}
}
