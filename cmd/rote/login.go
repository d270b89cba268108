package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"

	"rote/browser/chromium"
	"rote/browser/window"
	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/service"
)

type loginCommand struct {
	URL     string   `arg:"" help:"The page with which the login begins."`
	Session string   `required:"" help:"The session that keeps the login, which routines refer to: \"session\": \"NAME\"." placeholder:"NAME" env:"-"`
	Host    []string `help:"Host whose cookies and storage are kept, besides those of the session or of URL. Repeatable." placeholder:"HOST" env:"-"`
	Until   string   `help:"The login is complete when the URL of a page matches this regular expression." placeholder:"REGEX" env:"-"`
	Server  string   `help:"Save the session on this rote server; ROTE_SERVICE_TOKEN has a token of scope secrets:write." placeholder:"URL"`

	// open is [window.Open] except in tests.
	open func(context.Context, window.Config) (*window.Window, error)
}

// sessionTarget is where a login is saved.
type sessionTarget interface {
	// hosts returns those of a session; none if there is no such session.
	hosts(ctx context.Context, session string) ([]string, error)
	// save replaces the state and the hosts of a session, which may be new, by those of a text
	// that browserstate.Import reads.
	save(ctx context.Context, session string, text []byte) error
}

// errNotSaved ends the errors of logins.
var errNotSaved = errors.New("nothing was saved")

// Run opens a browser, waits until somebody has logged in there, and saves the login.
func (c *loginCommand) Run(ctx context.Context, g *globals, s streams) error {
	config, err := c.config(g, s)
	if err != nil {
		return err
	}
	return c.withTarget(ctx, g, s, func(target sessionTarget) error {
		before, err := target.hosts(ctx, c.Session)
		if err != nil {
			return err
		}
		hosts, err := c.hosts(before)
		if err != nil {
			return err
		}
		answering, stop := context.WithCancel(ctx)
		defer stop()
		dialog := &loginDialog{lines: readLines(answering, s.in), out: s.err}
		state, userAgent, err := c.logIn(ctx, config, dialog)
		if err != nil {
			return err
		}
		kept, hosts, err := dialog.choose(ctx, state, hosts)
		if err != nil {
			return err
		}
		text, err := kept.Export(hosts, userAgent)
		if err != nil {
			return err
		}
		if err := target.save(ctx, c.Session, text); err != nil {
			return fmt.Errorf("%w: %w", err, errNotSaved)
		}
		_, err = fmt.Fprintf(s.out, "saved session %s for %s: %s\n", c.Session, strings.Join(hosts, ", "), describeState(kept))
		return err
	})
}

// config checks the flags and finds the browser.
func (c *loginCommand) config(g *globals, s streams) (window.Config, error) {
	config := window.Config{URL: c.URL, Warn: func(lacks string, _ error) { fmt.Fprintln(s.err, "rote: the browser:", lacks) }}
	if err := checkPageURL(c.URL, "login"); err != nil {
		return config, err
	}
	err := checkSessionName(c.Session)
	if err != nil {
		return config, err
	}
	if c.Until != "" {
		if config.Until, err = regexp.Compile(c.Until); err != nil {
			return config, fmt.Errorf("--until: %w", err)
		}
	}
	if !hasDisplay() {
		return config, errNoDisplay
	}
	if config.Executable, err = chromium.FindWindowed(g.BrowserPath); err != nil {
		return config, err
	}
	return config, nil
}

// checkSessionName returns an error if a session cannot have a name.
func checkSessionName(name string) error {
	if !routine.ValidSecretName(name) {
		return fmt.Errorf("%s cannot be the name of a session: a name is a letter, then up to 63 letters, digits, _ or -", routine.Quote(name))
	}
	return nil
}

// checkPageURL returns an error if a URL is not that of a page. path is that of the example in it.
func checkPageURL(raw, path string) error {
	if u, err := url.Parse(raw); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s is no URL of a page: write it with its scheme, as in https://shop.example/%s", routine.Quote(raw), path)
	}
	return nil
}

// hasDisplay reports whether a window can be opened on this machine.
func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// errNoDisplay says what to do on a machine that can show no window.
var errNoDisplay = errors.New(`this machine has no display (DISPLAY and WAYLAND_DISPLAY are not set), and a person logs in in a window. ` +
	`Run the command on your own machine, with --server and the URL of this service, and with a token of scope secrets:write in ROTE_SERVICE_TOKEN: ` +
	`rote token create --scope secrets:read --scope secrets:write makes one`)

// hosts returns the hosts of which the login is kept: those of the session, or that of the URL
// if it is new, and those of flags.
func (c *loginCommand) hosts(before []string) ([]string, error) {
	hosts := before
	if len(hosts) == 0 {
		hosts = []string{hostOf(c.URL)}
	}
	for _, host := range append(hosts[:len(hosts):len(hosts)], c.Host...) {
		h, err := routine.ParseSecretHost(host)
		if err != nil {
			return nil, err
		}
		hosts = appendNew(hosts, h.String())
	}
	return hosts, nil
}

// appendNew appends a host that is not there yet.
func appendNew(hosts []string, host string) []string {
	for _, h := range hosts {
		if h == host {
			return hosts
		}
	}
	return append(hosts[:len(hosts):len(hosts)], host)
}

// hostOf returns the host of an origin or URL as a session has it.
func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if rules := (routine.SecretRules{Hosts: []string{host}}); u.Scheme == "http" && !rules.Allows(u.Scheme+"://"+u.Host) {
		return plainHTTP + host
	}
	return host
}

// logIn opens the window and returns what the browser has when the person is done.
func (c *loginCommand) logIn(ctx context.Context, config window.Config, dialog *loginDialog) (*browserstate.State, string, error) {
	open := c.open
	if open == nil {
		open = window.Open
	}
	w, err := open(ctx, config)
	if err != nil {
		return nil, "", err
	}
	defer w.Close()
	fmt.Fprintf(dialog.out, "A browser opens with %s. Log in there. Then press Enter here, or close its window; Ctrl-C saves nothing.\n", c.URL)
	if c.Until != "" {
		fmt.Fprintf(dialog.out, "It closes by itself when the URL of a page matches %s.\n", c.Until)
	}
	if err := dialog.wait(ctx, w, config.Until != nil); err != nil {
		return nil, "", err
	}
	state, err := w.State(ctx)
	if ctx.Err() != nil {
		return nil, "", fmt.Errorf("interrupted: %w", errNotSaved)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", err, errNotSaved)
	}
	return state, w.UserAgent(), nil
}

// loginDialog talks to the person.
type loginDialog struct {
	// lines are what the person types; nil when there are no more.
	lines <-chan string
	out   io.Writer
}

// wait returns when the person has logged in.
func (d *loginDialog) wait(ctx context.Context, w *window.Window, until bool) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", errNotSaved)
		case <-w.Reached():
			return nil
		case _, typed := <-d.lines:
			if typed {
				return nil
			}
			d.lines = nil
		case <-w.Closed():
			if until && !isClosed(w.Reached()) && !d.yes(ctx, "The window was closed before a page matched --until. Save the login nevertheless?") {
				return errNotSaved
			}
			return nil
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// yes asks a question. No answer is no.
func (d *loginDialog) yes(ctx context.Context, question string) bool {
	fmt.Fprintf(d.out, "%s [y/N] ", question)
	line, ok := "", false
	if d.lines != nil {
		line, ok = next(ctx, d.lines)
	}
	if !ok {
		fmt.Fprintln(d.out, "no answer, so no")
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

// choose returns the part of the state that is kept, and its hosts. It asks about other hosts of
// the same sites, and leaves out those of other sites, such as the one that a person logged in
// with.
func (d *loginDialog) choose(ctx context.Context, state *browserstate.State, hosts []string) (*browserstate.State, []string, error) {
	sites := map[string]bool{}
	for _, h := range hosts {
		sites[siteOf(h)] = true
	}
	_, rest := state.Keep(hosts)
	var others []string
	for _, host := range hostsOf(rest) {
		mine, _ := rest.Keep([]string{host})
		switch {
		case !sites[siteOf(host)]:
			others = append(others, fmt.Sprintf("%s (%s)", host, describeState(mine)))
		case d.yes(ctx, fmt.Sprintf("Also keep %s of %s?", describeState(mine), host)):
			hosts = appendNew(hosts, host)
		}
	}
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("interrupted: %w", errNotSaved)
	}
	if len(others) > 0 {
		fmt.Fprintf(d.out, "Left out, because they are other sites (--host HOST keeps one): %s\n", strings.Join(others, ", "))
	}
	kept, _ := state.Keep(hosts)
	if kept.Empty() {
		return nil, nil, fmt.Errorf("the browser has no cookie and no local storage of %s: %w", strings.Join(hosts, ", "), errNotSaved)
	}
	for _, n := range kept.Counts() {
		fmt.Fprintf(d.out, "%s: %s\n", n.Host, describeCount(n.Cookies, n.Storage))
	}
	return kept, hosts, nil
}

// withTarget calls use with where the login is saved: a server, or the database.
func (c *loginCommand) withTarget(ctx context.Context, g *globals, s streams, use func(sessionTarget) error) error {
	if c.Server == "" {
		return openService(ctx, g, s, mayCreate, func(service *service.Service) error {
			return use(&localSessions{service, g.localPrincipal()})
		})
	}
	target, err := newServerSessions(c.Server)
	if err != nil {
		return err
	}
	return use(target)
}

// localSessions are the sessions of the database.
type localSessions struct {
	service   *service.Service
	principal routine.Principal
}

// hosts implements sessionTarget.
func (t *localSessions) hosts(ctx context.Context, session string) ([]string, error) {
	info, err := t.service.Session(ctx, t.principal, session)
	if routine.CodeOf(err) == routine.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return info.Hosts, nil
}

// save implements sessionTarget.
func (t *localSessions) save(ctx context.Context, session string, text []byte) error {
	_, err := t.service.ImportSession(ctx, t.principal, routine.ViaCLI, session, text, nil, service.PutCondition{})
	return err
}
