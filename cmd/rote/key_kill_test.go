package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/seeded"
)

// Rotations of the keys that are killed at random moments leave every value readable, and the next
// one completes them.
func TestKilledKeyRotations(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r, random := newRote(t), seeded.Rand(t)
			rounds := 10 * crashRounds(t)
			r.life = time.Duration(rounds+2) * testTime
			if name == "Postgres" { // whose keys are changed in a file
				text := strings.TrimPrefix(r.env[1], "ROTE_STATE_KEY=")
				r.env[1] = "ROTE_STATE_KEY=" + r.file("key", text+"\n")
			}
			s := r.keeper()
			const secrets = 12
			fields := map[string]string{}
			for i := range 20 {
				fields[fmt.Sprint("field", i)] = soughtPassword
			}
			for i := range secrets {
				if status, answer := s.call("PUT", fmt.Sprint("/secrets/shop", i), `{"hosts":["shop.example"],"fields":`+routine.JSONText(fields)+`}`); status != 201 {
					t.Fatal(answer)
				}
			}
			s.stop(os.Interrupt)
			rotate := [][]string{{"key", "rotate"}, {"key", "rotate", "--data"}}
			began := time.Now()
			for _, args := range rotate {
				if _, errs, code := r.run(args...); code != 0 {
					t.Fatal(errs)
				}
			}
			whole, killed := time.Since(began)/2, 0
			for round := range rounds {
				c := r.command(rotate[round%2]...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(whole))))
				k := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
				k.Env = c.Env
				if k.Run() != nil {
					killed++
				}
				cancel()
			}
			if killed < rounds/4 {
				t.Errorf("only %d of %d rotations were killed", killed, rounds)
			}
			for _, args := range append(rotate, []string{"key", "prune"}) {
				if out, errs, code := r.run(args...); code != 0 {
					t.Fatalf("%q: %s%s", args, out, errs)
				}
			}
			for i := range secrets {
				if out, errs, code := r.run("secret", "test", fmt.Sprint("shop", i)); code != 0 || strings.Count(out, "\tok\n") != len(fields) {
					t.Errorf("exit %d\n%s%s", code, out, errs)
				}
			}
			if out, _, _ := r.run("key", "list"); strings.Contains(out, "missing") {
				t.Error(out)
			}
		})
	}
}
