package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// wire is a browser with a pipe, and a minimal client of the DevTools Protocol.
type wire struct {
	browser *exec.Cmd
	dir     string
	out     *os.File

	mu      sync.Mutex
	id      int
	answers map[int]chan envelope
	events  map[string]chan envelope // by session
}

type envelope struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// object is the parameters of a call.
type object = map[string]any

func startWire(executable string) (*wire, error) {
	dir, err := os.MkdirTemp("", "rote-bench-profile-")
	if err != nil {
		return nil, err
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--disable-gpu", "--window-size=1280,800"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	w := &wire{browser: exec.Command(executable, append(args, "about:blank")...), dir: dir, out: out,
		answers: map[int]chan envelope{}, events: map[string]chan envelope{}}
	w.browser.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := w.browser.Start(); err != nil {
		return nil, err
	}
	_ = errors.Join(theirIn.Close(), theirOut.Close())
	go w.read(in)
	return w, nil
}

// close stops the browser, which exits when its pipe is closed.
func (w *wire) close() error {
	err := w.out.Close()
	_ = w.browser.Wait() // how it exits does not matter
	return errors.Join(err, os.RemoveAll(w.dir))
}

func (w *wire) read(in *os.File) {
	defer in.Close()
	for r := bufio.NewReader(in); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var e envelope
		if json.Unmarshal(text[:len(text)-1], &e) != nil {
			continue
		}
		w.mu.Lock()
		answer, events := w.answers[e.ID], w.events[e.Session]
		delete(w.answers, e.ID)
		w.mu.Unlock()
		switch {
		case answer != nil:
			answer <- e
		case events != nil:
			events <- e
		}
	}
}

// send sends a call.
func (w *wire) send(session, method string, params object) (chan envelope, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id++
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  object `json:"params"`
	}{w.id, session, method, params})
	if err != nil {
		return nil, err
	}
	answer := make(chan envelope, 1)
	w.answers[w.id] = answer
	_, err = w.out.Write(append(text, 0))
	return answer, err
}

// call sends a call, waits for the response and decodes it.
func (w *wire) call(ctx context.Context, session, method string, params object, into any) error {
	answer, err := w.send(session, method, params)
	if err != nil {
		return err
	}
	select {
	case e := <-answer:
		if e.Error != nil {
			return fmt.Errorf("%s: %s", method, e.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(e.Result, into)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
