package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"rote/browser/chromium"
	"rote/browser/egress"
	"rote/browser/recorder"
	"rote/routine/recording"
	"rote/routine/service"
)

type recordCommand struct {
	URL     string       `arg:"" help:"The page to begin with."`
	Output  string       `short:"o" help:"Write the routine to this file; its form with a request to the same name with .fetch.json." placeholder:"FILE" env:"-"`
	Save    string       `help:"Store the routine under this name." placeholder:"NAME" env:"-"`
	Prove   string       `help:"all: do everything again without a window, also what changes the site. no: nothing." enum:",all,no" default:"" env:"-"`
	Session string       `help:"Start logged in with this saved session, which the routine gets; the recording changes nothing in it." placeholder:"NAME" env:"-"`
	Secret  []secretFlag `help:"Secret for doing it again: the parameter NAME, for hosts, as NAME@HOST[,HOST]=FILE. Repeatable." placeholder:"SECRET" sep:"none"`

	// open is [recorder.Open] except in tests.
	open func(context.Context, recorder.Config) (*recorder.Window, error)
}

// maxRecording is how long a recording may take.
const maxRecording = 60 * time.Minute

// errRecordNoDisplay says what to do on a machine that can show no window.
var errRecordNoDisplay = errors.New("there is no display: use rote teach, or record in Chrome DevTools and rote import")

// errDiscarded ends a recording that the person does not want.
var errDiscarded = errors.New("nothing was saved")

// Run opens a browser, records what the person does there, and makes a routine of it.
func (c *recordCommand) Run(ctx context.Context, g *globals, s streams) error {
	if _, err := readSecrets(c.Secret, g); err != nil { // before the person works
		return err
	}
	policy, err := g.egressPolicy()
	if err != nil {
		return err
	}
	config, err := c.config(g, s)
	if err != nil {
		return err
	}
	login, err := c.login(ctx, g, s)
	if err != nil {
		return err
	}
	proxy, err := egress.Listen(policy, egress.Limits{Bytes: int64(g.MaxTraffic)})
	if err != nil {
		return err
	}
	defer proxy.Close()
	config.Proxy = proxy.Addr()
	answering, stop := context.WithCancel(ctx)
	defer stop()
	t := &recordTerminal{out: s.err, lines: readLines(answering, s.in), denials: proxy.Denials}
	if login != nil {
		config.State, config.UserAgent = login.State, login.UserAgent
		t.recording.StartFrom(c.Session, login.State.HiddenValues())
	}
	if err := c.record(ctx, config, t); err != nil {
		return err
	}
	return c.finish(ctx, g, s, t)
}

// config checks the arguments and finds the browser.
func (c *recordCommand) config(g *globals, s streams) (recorder.Config, error) {
	config := recorder.Config{URL: c.URL, Warn: func(lacks string, _ error) { fmt.Fprintln(s.err, "rote: the browser:", lacks) }}
	if err := checkPageURL(c.URL, ""); err != nil {
		return config, err
	}
	if c.Output != "" {
		if info, err := os.Stat(filepath.Dir(c.Output)); err != nil || !info.IsDir() {
			return config, fmt.Errorf("-o %s: there is no folder %s", c.Output, filepath.Dir(c.Output))
		}
	}
	if !hasDisplay() {
		return config, errRecordNoDisplay
	}
	var err error
	config.Executable, err = chromium.FindWindowed(g.BrowserPath)
	return config, err
}

// login reads the login of the session, if the recording has one, before the person works.
func (c *recordCommand) login(ctx context.Context, g *globals, s streams) (login *service.RecordingLogin, err error) {
	if c.Session == "" {
		return nil, nil
	}
	if err := checkSessionName(c.Session); err != nil {
		return nil, err
	}
	page, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = warningLog(s.err)
	}
	a, err := openAppWithoutBrowser(ctx, g, s, mayCreate)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.service.RecordingLogin(ctx, g.localPrincipal(), c.Session, page)
}

// record records until the person ends it.
func (c *recordCommand) record(ctx context.Context, config recorder.Config, t *recordTerminal) error {
	open := c.open
	if open == nil {
		open = recorder.Open
	}
	w, err := open(ctx, config)
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Fprintf(t.out, "A browser opens with %s. Do the task there, and click what is to be the result with Alt.\n%s", c.URL, recordHelp)
	return t.run(ctx, w)
}

// finish builds the routine from the recording, tries it, and writes it.
func (c *recordCommand) finish(ctx context.Context, g *globals, s streams, t *recordTerminal) error {
	name := cmp.Or(c.Save, nameOfFile(c.Output), "recorded")
	built := t.recording.Build(name)
	if len(built.Operations) < 2 {
		return fmt.Errorf("nothing was done on the page: %w", errDiscarded)
	}
	t.propose(ctx, built.Proposals)
	built = t.recording.Build(name)
	t.report(built)
	made := &madeRoutine{command: c, name: name, built: built, definition: built.Definition, t: t}
	if len(built.Errors) == 0 {
		if err := made.tryAndStore(ctx, g, s); err != nil {
			return errors.Join(err, made.write(s)) // what was recorded is not lost
		}
	}
	if err := made.write(s); err != nil {
		return err
	}
	if len(built.Errors) > 0 {
		return errors.New("the routine is not valid as it is")
	}
	return nil
}

// nameOfFile is the name of a routine that is written to a file.
func nameOfFile(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), ".json")
}

var notInFileNames = regexp.MustCompile(`[^\pL\pN._-]+`)

// fetchFile is the file for the form of the routine with a request.
func (c *recordCommand) fetchFile() string {
	switch {
	case c.Output != "":
		return strings.TrimSuffix(c.Output, ".json") + ".fetch.json"
	case c.Save != "":
		return notInFileNames.ReplaceAllString(c.Save, "_") + ".fetch.json"
	}
	return ""
}

// indented is the text of a routine for a file.
func indented(definition json.RawMessage) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(definition)
	return []byte(b.String()), err
}

// report prints what the check says, and the steps that the routine does not do as they were done.
func (t *recordTerminal) report(b *recording.Built) {
	for _, p := range b.Errors {
		fmt.Fprintf(t.out, "error: %s [%s]\n", p, p.Code)
	}
	for _, p := range b.Warnings {
		fmt.Fprintf(t.out, "warning: %s [%s]\n", p, p.Code)
	}
	for _, item := range b.Items {
		if item.Message != "" {
			fmt.Fprintf(t.out, "%s: %s: %s [%s]\n", item.What, item.Source.Text, item.Message, item.Code)
		}
	}
}
