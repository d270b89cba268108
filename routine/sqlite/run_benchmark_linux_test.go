package sqlite

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// BenchmarkRun measures what the ledger costs a synchronous run, and next to it a bare
// INSERT and a bare UPDATE of the same rows in the same database. The ratio of the two is
// what the Store adds: times depend on the machine and on what else it does.
func BenchmarkRun(b *testing.B) {
	for _, row := range []struct {
		name   string
		waited bool
	}{{"at once", false}, {"after waiting", true}} {
		b.Run(row.name, func(b *testing.B) {
			s := open(b, tempPath(b))
			var ledger, bare cost
			for b.Loop() {
				ledger.add(func() { saveRun(b, s, row.waited) })
				bare.add(func() { saveBareRun(b, s) })
			}
			b.ReportMetric(float64(ledger.wall.Microseconds())/float64(b.N), "µs/run")
			b.ReportMetric(float64(ledger.cpu.Microseconds())/float64(b.N), "µs-cpu/run")
			b.ReportMetric(float64(ledger.wall)/float64(bare.wall), "x-bare")
			b.ReportMetric(float64(ledger.cpu)/float64(bare.cpu), "x-bare-cpu")
			b.ReportMetric(0, "ns/op") // both together mean nothing
		})
	}
}

// cost is the time and the CPU time that something took in all.
type cost struct{ wall, cpu time.Duration }

func (c *cost) add(do func()) {
	cpu, began := cpuTime(), time.Now()
	do()
	c.wall += time.Since(began)
	c.cpu += cpuTime() - cpu
}

// cpuTime is what the process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// saveRun makes the calls that the service makes for one run.
func saveRun(b *testing.B, s *Store, waited bool) {
	if _, err := s.Changes(b.Context()); err != nil {
		b.Fatal(err)
	}
	e := routinetest.Execution(b)
	if !waited {
		e.Status, e.StartedAt = routine.ExecutionRunning, new(routinetest.Time)
	}
	must(b, s.CreateExecution(b.Context(), e))
	if waited {
		must(b, s.StartExecution(b.Context(), e.ID, routinetest.Time))
	}
	must(b, s.FinishExecution(b.Context(), routinetest.Ended(e)))
}

// saveBareRun saves a row of the same size with one statement, and ends it with another.
func saveBareRun(b *testing.B, s *Store) {
	id := uuid.Must(uuid.NewV7()).String()
	result, err := rows.Encode(routinetest.Ended(routinetest.Execution(b)).Result)
	must(b, err)
	_, err = s.write.ExecContext(b.Context(), `
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, parameters, created_by, organization_id, owner)
		VALUES (?, ?, 'find_price', 3, 'running', '', 1, '{"item":"lamp"}', 'ann', 'acme', ?)`, id, id, s.owner.id)
	must(b, err)
	_, err = s.write.ExecContext(b.Context(), `UPDATE executions SET status = 'completed', result = ?, completed_at = 2 WHERE id = ?`, result, id)
	must(b, err)
}
