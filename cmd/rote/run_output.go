package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"rote/routine"
)

// print prints the run's data or, with --json, the whole execution.
func (c *runCommand) print(e *routine.Execution, s streams) error {
	if c.JSON {
		return printJSON(s.out, withoutRoutine(e))
	}
	printEvidence(s.err, e.Evidence)
	if e.Status != routine.ExecutionCompleted {
		return nil
	}
	if e.Result.Unverified {
		fmt.Fprintln(s.err, "warning: the browser was not verified to confine its pages (--browser-unverified)")
	}
	if e.Result.Outline != "" {
		fmt.Fprintln(s.err, e.Result.Outline)
	}
	if e.Result.Data == nil {
		return nil
	}
	for _, w := range e.Result.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", w)
	}
	if c.Output != "" {
		return c.writeOutput(e.Result, s)
	}
	var text string
	if json.Unmarshal(e.Result.Data, &text) == nil {
		_, err := fmt.Fprintln(s.out, text)
		return err
	}
	return printJSON(s.out, e.Result.Data)
}

// writeOutput writes the data unchanged to the file of --output.
func (c *runCommand) writeOutput(r *routine.Result, s streams) error {
	data := []byte(r.Data)
	var text string
	if json.Unmarshal(r.Data, &text) == nil {
		data = []byte(text)
	}
	if r.IsBase64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return fmt.Errorf("the data is no file: %w", err)
		}
	}
	if c.Output == "-" {
		_, err := s.out.Write(data)
		return err
	}
	f, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// withoutRoutine omits the fields that only executions of stored routines have.
func withoutRoutine(e *routine.Execution) any {
	if e.RoutineID != "" {
		return e
	}
	return struct {
		*routine.Execution
		RoutineID      string `json:"routine_id,omitempty"`
		RoutineVersion int    `json:"routine_version,omitempty"`
	}{Execution: e}
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
