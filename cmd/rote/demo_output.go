package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"rote/routine"
)

// warningLog logs warnings and errors for a person, each in one line without
// time and level.
func warningLog(w io.Writer) *slog.Logger { return slog.New(&warningHandler{w: w}) }

type warningHandler struct {
	mu    sync.Mutex
	w     io.Writer
	attrs []slog.Attr
}

func (h *warningHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

func (h *warningHandler) Handle(_ context.Context, r slog.Record) error {
	words := r.Message
	add := func(a slog.Attr) bool {
		words += fmt.Sprintf("; %s: %v", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := fmt.Fprintf(h.w, "warning: %s\n", oneLine(words))
	return err
}

func (h *warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warningHandler{w: h.w, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *warningHandler) WithGroup(string) slog.Handler { return h }

// maxLineChars limits the characters of a warning or error that the demo
// prints.
const maxLineChars = 600

// oneLine returns text as one line of at most maxLineChars characters.
func oneLine(text string) string { return routine.Truncate(routine.OneLine(text), maxLineChars) }

// restError returns the error for an unexpected REST response: its message, its
// code and what to do next.
func restError(status string, body []byte) error {
	var problem struct {
		Detail string       `json:"detail"`
		Code   routine.Code `json:"code"`
	}
	if json.Unmarshal(body, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("%s: %s", status, oneLine(string(body)))
	}
	words := fmt.Sprintf("%s [%s]", oneLine(problem.Detail), problem.Code)
	switch problem.Code {
	case routine.CodeBrowserUnavailable: // the message says what to do
	case routine.CodeTimeout:
		words += "\nNext: run the demo again when this machine is less busy."
	default:
		words += "\nNext: run \"rote browser check\", which tries the browser alone."
	}
	return errors.New(words)
}
