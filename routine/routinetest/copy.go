package routinetest

import (
	"encoding/json"
	"slices"
	"time"

	"rote/routine"
)

// The copies below are also what a database would return: times in UTC to
// the microsecond, JSON in its compact form.

func copyRoutine(r *routine.Routine) (*routine.Routine, error) {
	text, err := routine.EncodeJSON(r.Definition)
	if err != nil {
		return nil, err
	}
	c := *r
	c.Definition, err = routine.DecodeDefinition(text)
	c.Newer = r.Newer
	return &c, err
}

func copyExecution(e *routine.Execution) (*routine.Execution, error) {
	c := *e
	c.Error, c.DurationSeconds = copyOf(e.Error), copyOf(e.DurationSeconds)
	c.CreatedAt = *copyTime(&e.CreatedAt)
	c.StartedAt, c.CompletedAt = copyTime(e.StartedAt), copyTime(e.CompletedAt)
	c.Parameters = slices.Clone(e.Parameters)
	c.Files = slices.Clone(e.Files)
	var err error
	if c.Operations, err = copyJSON(e.Operations); err != nil {
		return nil, err
	}
	if c.Evidence, err = copyJSON(e.Evidence); err != nil {
		return nil, err
	}
	c.Result, err = copyJSON(e.Result)
	return &c, err
}

// copyJSON is v as it comes back from a database.
func copyJSON[T any](v T) (c T, err error) {
	text, err := routine.EncodeJSON(v)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(text, &c)
}

func copyFile(f *routine.File) *routine.File {
	c := *f
	c.Data = append([]byte{}, f.Data...)
	return &c
}

func copyToken(t *routine.Token) *routine.Token {
	c := *t
	c.CreatedAt = *copyTime(&t.CreatedAt)
	c.ExpiresAt, c.RevokedAt, c.LastUsedAt = copyTime(t.ExpiresAt), copyTime(t.RevokedAt), copyTime(t.LastUsedAt)
	c.AllowedHosts = slices.Clone(t.AllowedHosts)
	return &c
}

func copyTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC().Truncate(time.Microsecond))
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
