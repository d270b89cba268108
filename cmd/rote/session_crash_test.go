package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/routine"
)

// A server that is killed while it logs in keeps nobody from logging in, and its login counts as a
// failure, because the site may have got the password.
func TestKilledWhileLoggingIn(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r, site := newRote(t), newEchoSite(t)
			r.life, r.shop = 4*testTime, site.URL
			s := r.keeper()
			fields := routine.JSONText(map[string]string{"username": soughtUsername, "password": soughtPassword})
			settled := func(status int, answer map[string]any) {
				t.Helper()
				if status >= 300 {
					t.Fatalf("%d %v", status, answer)
				}
			}
			settled(s.call("PUT", "/secrets/shop", `{"hosts":["`+site.host()+`"],"field_rule":"any","fields":`+fields+`}`))
			const inSession = `{"name":%q,"description":"d","session":"shop","operations":%s}`
			at := func(operations string) string { return strings.ReplaceAll(operations, "{{site}}", site.URL) }
			login := s.made(fmt.Sprintf(inSession, "log_in", at(logIn(sendForm))))
			use := "/routines/" + s.made(fmt.Sprintf(inSession, "use", at(`[{"type":"navigate","url":"{{site}}/"},{"type":"return_html"}]`)))
			settled(s.call("PUT", "/sessions/shop", `{"hosts":["`+site.host()+`"],"login":{"routine_id":"`+login+`"}}`))
			killed := func() {
				t.Helper()
				reached := site.events(3) // in the field of the password
				settled(s.async(use, `{"parameters":{}}`))
				select {
				case <-reached:
				case <-time.After(testTime):
					t.Fatal("nothing is typed")
				}
				s.stop(syscall.SIGKILL)
				waitNone(t, "--user-data-dir="+r.home)
				profiles(t, r.home)
				again := r.serve()
				again.token, s = s.token, again
			}
			killed()
			before := site.arrived()
			if status, answer := s.call("POST", use+"/execute", `{"parameters":{}}`); status != 201 || site.arrived() != before+1 {
				t.Errorf("after one kill: %d %v", status, answer)
			}
			if _, errs, code := r.run("session", "clear", "shop"); code != 0 {
				t.Fatal(errs)
			}
			killed()
			killed()
			before = site.arrived()
			if status, answer := s.call("POST", use+"/execute", `{"parameters":{}}`); answer["code"] != "session_login_failed" || site.arrived() != before {
				t.Errorf("after two kills: %d %v", status, answer)
			}
			s.stop(os.Interrupt)
		})
	}
}

// A run that has an exclusive session and dies gives it to the next one, whose server is another.
// A frozen run that continues does nothing any more.
func TestExclusiveSessionOfTheDead(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r := newRote(t)
			r.life = 4 * testTime
			entered, acted := make(chan string, 10), make(chan string, 10)
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				run := q.URL.Query().Get("run")
				switch q.URL.Path {
				case "/enter":
					http.SetCookie(w, &http.Cookie{Name: "run", Value: run, MaxAge: 1000})
					entered <- run
				case "/act":
					acted <- run
				}
				fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><script>if (location.search === '?run=second') document.documentElement.id = 'now'</script>x`)
			}))
			t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
			r.shop = site.URL
			first := r.keeper()
			second := r.serve()
			second.token = first.token
			if status, answer := first.call("PUT", "/sessions/shop", `{"hosts":["`+strings.TrimPrefix(site.URL, "http://")+`"],"mode":"exclusive"}`); status != 201 {
				t.Fatal(answer)
			}
			// The run waits in the middle, the second one hardly.
			path := "/routines/" + first.made(`{"name":"hold","description":"d","session":"shop","parameters":[{"name":"run","description":"d"}],"operations":[
				{"type":"navigate","url":"`+site.URL+`/enter?run={{run}}"},
				{"type":"click","selector":"#now","timeout_ms":30000,"x-optional":true},
				{"type":"navigate","url":"`+site.URL+`/act?run={{run}}"},{"type":"return_html"}]}`)
			// A call that waits for the end is run by the process that gets it.
			start := func(s *server, run string) (answer chan map[string]any) {
				answer = make(chan map[string]any, 1)
				go func() {
					_, got, err := s.try("POST", path+"/execute", `{"parameters":{"run":"`+run+`"}}`)
					if err != nil {
						got = map[string]any{"error": err.Error()}
					}
					answer <- got
				}()
				return answer
			}
			newest := func() string {
				t.Helper()
				_, list := second.call("GET", path+"/executions?limit=1", "")
				return "/executions/" + list["items"].([]any)[0].(map[string]any)["execution_id"].(string)
			}
			wantNext := func(from chan string, want string) {
				t.Helper()
				select {
				case got := <-from:
					if got != want {
						t.Fatalf("%s has the session, want %s", got, want)
					}
				case <-time.After(testTime):
					t.Fatalf("%s does not get the session", want)
				}
			}
			for _, end := range []struct {
				name  string
				do    func(execution string)
				after func(execution string, held chan map[string]any)
			}{
				{"cancelled", func(execution string) { second.call("POST", execution+"/cancel", "") }, func(string, chan map[string]any) {}},
				{"frozen", func(string) { _ = first.cmd.Process.Signal(syscall.SIGSTOP) }, func(execution string, held chan map[string]any) {
					if e := second.awaitStatus(execution, "failed"); e["error_code"] != "interrupted" {
						t.Errorf("frozen: %v", e)
					}
					stored := func() string {
						_, session := second.call("GET", "/sessions/shop", "")
						_, e := second.call("GET", execution, "")
						return routine.JSONText([]any{session, e})
					}
					before := stored()
					if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
						t.Fatal(err)
					}
					first.log.wait(t, func(log string) string { return found(log, "continues as a new one") })
					if e := <-held; e["code"] != "interrupted" {
						t.Errorf("the frozen run ends with %v", e)
					}
					if after := stored(); after != before {
						t.Errorf("the frozen run has written:\n%s\n%s", before, after)
					}
				}},
				{"killed", func(string) { first.stop(syscall.SIGKILL) }, func(string, chan map[string]any) {}},
			} {
				if end.name == "frozen" && name == "SQLite" {
					continue // all processes are of one machine, and a frozen one lives
				}
				held := start(first, "first")
				wantNext(entered, "first")
				execution := newest()
				next := start(second, "second")
				end.do(execution)
				began := time.Now()
				wantNext(entered, "second")
				took := time.Since(began)
				t.Logf("%s: the next run has the session after %v", end.name, took)
				if took > 14*time.Second+testTime/4 { // this machine may have much else to do
					t.Errorf("%s: the next run has the session after %v", end.name, took)
				}
				wantNext(acted, "second")
				if e := <-next; e["status"] != "completed" {
					t.Errorf("%s: the next run: %v", end.name, e)
				}
				end.after(execution, held)
				if len(acted) > 0 {
					t.Fatalf("%s: %s acts too", end.name, <-acted)
				}
			}
			second.stop(os.Interrupt)
			profiles(t, r.home) // of the one that was killed: old enough for the next to sweep
			r.serve().stop(os.Interrupt)
		})
	}
}
