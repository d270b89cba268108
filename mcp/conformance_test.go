//go:build conformance

package mcp

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"rote/httpapi"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// scored is how many scenarios of a revision count; the others are reported.
var scored = map[string]int{"2025-11-25": 30, "2026-07-28": 37}

// The official suite (npm @modelcontextprotocol/conformance) against the very
// transports and guards of rote serve, with its fixtures in place of routines.
// Nothing is expected to fail. Its program is in ROTE_CONFORMANCE, how often to
// run it in ROTE_CONFORMANCE_RUNS; .ci/npm installs it.
func TestConformance(t *testing.T) {
	core := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	s := newServer(t, Config{Service: core, RefreshInterval: -1})
	o := annOrganization(t, s)
	o.protocol = fixtures()
	h := s.NewHTTP(httpapi.NewAdmission(httpapi.Config{Service: core, Local: &ann}), "")
	listener := httptest.NewServer(withCodes(h))
	defer listener.Close()
	defer h.Close()
	runs, err := strconv.Atoi(os.Getenv("ROTE_CONFORMANCE_RUNS"))
	if err != nil {
		runs = 1
	}
	passed := regexp.MustCompile(`(?m)^✓ `)
	for range runs {
		for revision, want := range scored {
			c := exec.CommandContext(t.Context(), "node", os.Getenv("ROTE_CONFORMANCE"), "server", "--url", listener.URL+"/mcp", "--requirements", revision, "-o", t.TempDir())
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			err := c.Run()
			if n := len(passed.FindAllString(out.String(), -1)); err != nil || n < want {
				t.Fatalf("%s: %v, %d scenarios passed, want %d\n%s", revision, err, n, want, out.String())
			}
			t.Logf("%s: %s", revision, out.String()[max(0, out.Len()-400):])
		}
	}
}
