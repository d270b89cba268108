package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Many runs through two servers log in once for all of them when the shop has ended the session,
// and if the shop refuses the password, it is asked twice in all.
func TestManyRunsLogInOnce(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r := newRote(t)
			r.life = 10 * testTime
			shop, input := membersShop(t, r)
			servers := []*server{r.keeper(), r.serve()}
			servers[1].token = servers[0].token
			r.followLoggingIn(r.shop, input)
			path := servers[0].pathOf("read_orders")

			shop.EndSessions()
			runMany(servers, path, "completed", "<nil>")
			if shop.Logins() != 2 || shop.Refused() != 0 {
				t.Errorf("%d logins and %d refused, want one more than the first and 0", shop.Logins(), shop.Refused())
			}
			if _, errs, code := r.runWithInput("wrong\n", "secret", "set", "shop", "--field", "password"); code != 0 {
				t.Fatal(errs)
			}
			r.waitLessForCode(servers[0])
			shop.EndSessions()
			runMany(servers, path, "failed", "session_login_failed")
			if shop.Logins() != 2 || shop.Refused() != 2 {
				t.Errorf("%d logins and %d refused, want 2 and 2", shop.Logins(), shop.Refused())
			}
		})
	}
}

// waitLessForCode makes the login routine end sooner where the shop does not ask for a code.
func (r *rote) waitLessForCode(s *server) {
	r.t.Helper()
	text, err := os.ReadFile(r.home + "/log_in.json")
	if err != nil {
		r.t.Fatal(err)
	}
	less := strings.Replace(string(text), `"timeout_ms": 60000`, `"timeout_ms": 1000`, 1)
	if status, answer := s.call("PATCH", s.pathOf("log_in"), less); status != 200 || less == string(text) {
		r.t.Fatalf("%d %v", status, answer)
	}
}

// runMany starts fifty runs at once, or ten without the long tests, through all servers in turn, and
// wants all to end in a way.
func runMany(servers []*server, path, status, code string) {
	t := servers[0].t
	t.Helper()
	n := 10
	if os.Getenv("ROTE_TEST_CRASHES") != "" {
		n = 50
	}
	var all sync.WaitGroup
	executions := make([]string, n)
	for i := range executions {
		all.Go(func() {
			if _, answer := servers[i%len(servers)].async(path, `{"parameters":{},"timeout_seconds":300}`); answer["execution_id"] != nil {
				executions[i] = "/executions/" + answer["execution_id"].(string)
			}
		})
	}
	all.Wait()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * testTime); ; <-tick.C {
		open := 0
		for i, execution := range executions {
			if execution == "" {
				t.Fatalf("call %d was not accepted", i)
			}
			_, e := servers[i%len(servers)].call("GET", execution, "")
			switch {
			case e["completed_at"] == nil:
				open++
			case e["status"] != status || fmt.Sprint(e["error_code"]) != code:
				t.Fatalf("run %d: %v", i, e)
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d runs have not ended", open)
		}
	}
}
