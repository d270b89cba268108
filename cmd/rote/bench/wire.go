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
	crossed traffic
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

// traffic counts what passes between a browser and its client, in both directions.
type traffic struct{ messages, bytes float64 }

func (t traffic) minus(u traffic) traffic { return traffic{t.messages - u.messages, t.bytes - u.bytes} }

// leanFlags are the command line of a browser that has as little to do as possible.
func leanFlags(profile string) []string {
	args := []string{"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--disable-gpu", "--window-size=1280,800"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}

// add counts one message.
func (t *traffic) add(bytes int) {
	t.messages++
	t.bytes += float64(bytes)
}

// traffic returns what has passed so far.
func (w *wire) traffic() traffic {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crossed
}

// startWire starts a browser, whose profile directory is removed at the end.
func startWire(browser *exec.Cmd, profile string) (*wire, error) {
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &wire{browser: browser, dir: profile, out: out, answers: map[int]chan envelope{}, events: map[string]chan envelope{}}
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
		w.crossed.add(len(text))
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
	w.crossed.add(len(text) + 1)
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
