package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/seeded"
)

// typedTimes is how often the routine of TestKilledWhileTyping types the password, and
// eventsEachTime about how many events of the page this makes each time.
const (
	typedTimes     = 10
	eventsEachTime = 2
)

// A server that is killed while it types a secret leaves the value in no file: neither in the
// database, its journal and its dump, nor in the profile of the browser, the temporary
// directory and the log. The next server uses the secret as before.
func TestKilledWhileTyping(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r, site, random := newRote(t), newEchoSite(t), seeded.Rand(t)
			rounds := crashRounds(t)
			r.life, r.shop = time.Duration(rounds+2)*testTime, site.URL
			s := r.keeper()
			typing := strings.Repeat(`,{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}","clear":true}`, typedTimes)
			definition := strings.Replace(secretRoutine("logs_in"), sendForm, typing+sendForm, 1)
			id := s.made(definition)
			fields := routine.JSONText(map[string]string{"username": soughtUsername, "password": soughtPassword})
			if status, answer := s.call("PUT", "/secrets/shop", `{"hosts":["`+site.host()+`"],"field_rule":"any","fields":`+fields+`}`); status != 201 {
				t.Fatal(answer)
			}
			parameters := fmt.Sprintf(`{"parameters":{"site":%q}}`, site.URL)
			for range rounds {
				moment := 1 + random.IntN(typedTimes*eventsEachTime)
				reached := site.events(moment)
				if status, answer := s.async("/routines/"+id, parameters); status != 202 {
					t.Fatal(answer)
				}
				select {
				case <-reached:
				case <-time.After(testTime):
					t.Fatalf("no event %d", moment)
				}
				s.stop(syscall.SIGKILL)
				waitNone(t, "--user-data-dir="+r.home)
				wantNoSecretIn(t, 10, r.home) // with the profile of the browser
				wantNoSecret(t, "the log", []byte(s.log.String()+s.out.String()))
				profiles(t, r.home)
				again := r.serve()
				again.token, s = s.token, again
			}
			before := site.arrived()
			if status, answer := s.call("POST", "/routines/"+id+"/execute", parameters); status != 201 || site.arrived() != before+1 {
				t.Errorf("%d %v", status, answer)
			}
			s.stop(os.Interrupt)
			r.dump()
			if wantNoSecretIn(t, 1, r.home); name == "Postgres" {
				wantNoSecretIn(t, 100, postgresServer.Dir())
			}
		})
	}
}

// events returns a channel that is closed when the fields of the site's page have had n events
// from now on.
func (s *echoSite) events(n int) <-chan struct{} {
	reached := make(chan struct{})
	s.atEvent(n, func() { close(reached) })
	return reached
}

// atEvent makes the site do something at the nth event of its page's fields from now on, while
// the page waits.
func (s *echoSite) atEvent(n int, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = func() {
		s.mu.Lock()
		n--
		now := n == 0
		s.mu.Unlock()
		if now {
			do()
		}
	}
}
