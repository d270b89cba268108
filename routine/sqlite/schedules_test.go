package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// The values of schedules are in no file of the database, and open only with its key and as
// those of their own schedule.
func TestScheduleValuesAreEncrypted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rote.db")
	s := openAt(t, path)
	const secret = "a secret that nobody may read"
	made := func(id string) {
		must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t, func(sc *routine.Schedule) {
			sc.ID, sc.Values = id, json.RawMessage(`{"code":"`+secret+`"}`)
		}), 9))
	}
	made("a")
	made("b")
	must(t, s.Close())
	files, err := filepath.Glob(path + "*")
	must(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte(secret[:12])) {
			t.Errorf("%s shows the values: %v", f, err)
		}
	}
	s = openAt(t, path)
	if got, err := s.ScheduleValues(t.Context(), "a"); string(got) != `{"code":"`+secret+`"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	_, err = s.write.ExecContext(t.Context(), `UPDATE schedules SET sealed = (SELECT sealed FROM schedules WHERE id = 'b') WHERE id = 'a'`)
	must(t, err)
	if got, err := s.ScheduleValues(t.Context(), "a"); !errors.Is(err, routine.ErrSealed) {
		t.Errorf("the values of another schedule: %s, %v", got, err)
	}
	must(t, os.Remove(path+".key"))
	if _, err := s.ScheduleValues(t.Context(), "b"); !errors.Is(err, routine.ErrSealed) {
		t.Errorf("without the key: %v", err)
	}
	// A missing key is not made again: those before could not be read with it.
	if err := s.CreateSchedule(t.Context(), routinetest.Schedule(t), 9); !errors.Is(err, routine.ErrStateKey) {
		t.Errorf("saved without the key: %v", err)
	}
	must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t, func(sc *routine.Schedule) { sc.Values = nil }), 9))
}
