package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"rote/routine"
	"rote/routine/lesson"
)

type teachCommand struct {
	URL       string       `arg:"" optional:"" help:"Where the task begins."`
	Incognito *bool        `help:"Start without the saved logins of the project, as by default; --no-incognito or =false starts with them." negatable:"" env:"-"`
	Session   string       `help:"Start from this saved session, which the saved routine gets; the lesson changes nothing in it." placeholder:"NAME" env:"-"`
	Secret    []secretFlag `help:"Secret for fields and requests of hosts, as NAME@HOST[,HOST]=FILE. Repeatable." placeholder:"SECRET" sep:"none"`
	JSON      bool         `name:"json" help:"Read a tool call as JSON from each line, and answer each with a line of JSON." env:"-"`
}

// lessonLife is how long the page of rote teach stays open: its user may think for long.
const lessonLife = 12 * time.Hour

// Run opens a page and does what the lines of standard input say, until they end.
func (c *teachCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if c.URL == "" && !c.JSON {
		return errors.New("give the URL where the task begins, as in rote teach https://shop.example/")
	}
	secrets, err := readSecrets(c.Secret, g)
	if err != nil {
		return err
	}
	if s.log == nil {
		s.log = warningLog(s.err)
	}
	a, err := openApp(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	a.openLessons(lesson.Config{Max: 1, MaxPerOwner: 1, Idle: lessonLife, Total: lessonLife, Secrets: secrets})
	defer func() { err = errors.Join(err, a.Close()) }()
	t := &lessonClient{lessons: a.lessons, principal: g.localPrincipal(), progress: func(p routine.Progress) {
		fmt.Fprintf(s.err, "%d/%d %s\n", p.Index+1, p.Total, p.Operation)
	}}
	if c.JSON {
		return c.serveJSON(ctx, t, s)
	}
	return c.serveLines(ctx, t, s)
}

// startCall returns the call that starts the lesson.
func (c *teachCommand) startCall() toolCall {
	return toolCall{"start_lesson", routine.RawJSON(lesson.StartRequest{URL: c.URL, Incognito: c.Incognito, Session: c.Session})}
}

// readLines sends the lines of in, until it ends or ctx does.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 4<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// next returns the next line. It reports false when there is none or ctx has ended.
func next(ctx context.Context, lines <-chan string) (string, bool) {
	select {
	case line, ok := <-lines:
		return line, ok
	case <-ctx.Done():
		return "", false
	}
}

// repl answers commands for a reader.
type repl struct {
	*lessonClient
	out io.Writer
	// terminal: the commands come from a person at a terminal, who sees what they type.
	terminal bool
	// grey: selectors are printed in grey.
	grey bool
}

const teachPrompt = "rote> "

// errTeachFailed ends rote teach when a command of a file or a pipe has failed: the
// following ones rely on it.
var errTeachFailed = errors.New("a command failed, so the following ones were not done")

// serveLines answers commands until they end. From a file or a pipe, the first one that
// fails is the last one.
func (c *teachCommand) serveLines(ctx context.Context, t *lessonClient, s streams) error {
	r := &repl{lessonClient: t, out: s.out, terminal: isTerminal(s.in), grey: isTerminal(s.out) && os.Getenv("NO_COLOR") == ""}
	answer, ok, err := t.call(ctx, c.startCall())
	if err != nil {
		return err
	}
	if r.print(answer); !ok && !r.terminal {
		return errors.Join(errTeachFailed, r.finish(ctx))
	}
	if r.terminal {
		fmt.Fprintln(r.out, "help lists the commands.")
	}
	lines := readLines(ctx, s.in)
	for t.id != "" {
		if r.terminal {
			fmt.Fprint(r.out, teachPrompt)
		}
		line, more := next(ctx, lines)
		if !more {
			if r.terminal {
				fmt.Fprintln(r.out)
			}
			break
		}
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if !r.terminal {
			fmt.Fprintln(r.out, teachPrompt+line)
		}
		if err := r.run(ctx, line); err != nil {
			if !errors.Is(err, errReported) {
				r.printError(err)
			}
			if !r.terminal {
				return errors.Join(errTeachFailed, r.finish(ctx))
			}
		}
	}
	return r.finish(ctx)
}

// finish ends the lesson if that was not done.
func (r *repl) finish(ctx context.Context) error {
	if r.unsaved {
		fmt.Fprintf(r.out, "The lesson ended. Operations that were not saved: %d.\n", r.operations)
	}
	if r.id == "" {
		return nil
	}
	_, _, err := r.lessonClient.call(context.WithoutCancel(ctx), toolCall{Tool: "end_lesson"})
	return err
}

// run does one command.
func (r *repl) run(ctx context.Context, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	var names []string
	for _, c := range teachCommands() {
		if c.name == name && c.run != nil {
			return c.run(r, ctx, strings.TrimSpace(rest))
		}
		names = append(names, c.name)
	}
	if hint := routine.DidYouMean(name, names); hint != "" {
		return fmt.Errorf("there is no command %q; %s", name, hint)
	}
	return fmt.Errorf("there is no command %q; help lists them", name)
}

// call makes a call and prints its answer. It returns errReported if an operation has
// failed.
func (r *repl) call(ctx context.Context, tool string, arguments any) error {
	c := toolCall{Tool: tool}
	if arguments != nil {
		text, err := routine.EncodeJSON(arguments)
		if err != nil {
			return err
		}
		c.Arguments = text
	}
	answer, ok, err := r.lessonClient.call(ctx, c)
	if err != nil {
		return err
	}
	if r.print(answer); !ok {
		return errReported
	}
	return nil
}

// print prints an answer. Selectors, which come after the last " | " of a line, are grey on
// a terminal.
func (r *repl) print(answer lessonAnswer) {
	for line := range strings.Lines(strings.TrimRight(answer.Text(), "\n") + "\n") {
		if i := strings.LastIndex(line, " | "); r.grey && i >= 0 {
			line = line[:i] + "\x1b[90m" + strings.TrimRight(line[i:], "\n") + "\x1b[0m\n"
		}
		fmt.Fprint(r.out, line)
	}
}

func (r *repl) printError(err error) {
	var e *routine.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(r.out, "error: %v\n", err)
		return
	}
	fmt.Fprintf(r.out, "error: %s [%s]\n", e.Headline(), e.Code)
	for _, p := range e.Problems {
		fmt.Fprintf(r.out, "  %s\n", p)
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// jsonAnswer is a line of rote teach --json.
type jsonAnswer struct {
	Tool string `json:"tool"`
	// OK is false if the call or its operation failed.
	OK     bool       `json:"ok"`
	Text   string     `json:"text,omitempty"`
	Answer any        `json:"answer,omitempty"`
	Error  *jsonError `json:"error,omitempty"`
}

type jsonError struct {
	Code     routine.Code      `json:"code"`
	Message  string            `json:"message"`
	Problems []routine.Problem `json:"problems,omitempty"`
}

// serveJSON answers a call for each line, until the lines or the lesson end. Without a
// URL, the first call starts the lesson.
func (c *teachCommand) serveJSON(ctx context.Context, t *lessonClient, s streams) error {
	reply := func(call toolCall) error {
		a := jsonAnswer{Tool: call.Tool}
		answer, ok, err := t.call(ctx, call)
		if err != nil {
			e := routine.AsError(err)
			a.Error = &jsonError{e.Code, e.Message, e.Problems}
		} else {
			a.OK, a.Text, a.Answer = ok, answer.Text(), answer
		}
		text, err := routine.EncodeJSON(a)
		if err != nil {
			return err
		}
		_, err = s.out.Write(append(text, '\n'))
		return err
	}
	if c.URL != "" {
		if err := reply(c.startCall()); err != nil {
			return err
		}
	}
	lines := readLines(ctx, s.in)
	for {
		line, more := next(ctx, lines)
		if !more {
			break
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		var call toolCall
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			return fmt.Errorf(`a line must be a call such as {"tool":"take_snapshot","arguments":{}}: %w`, err)
		}
		if err := reply(call); err != nil {
			return err
		}
	}
	if t.id == "" {
		return nil
	}
	_, _, err := t.call(context.WithoutCancel(ctx), toolCall{Tool: "end_lesson"})
	return err
}
