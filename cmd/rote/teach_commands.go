package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"rote/routine/lesson"
)

// teachCommandLine is one command of rote teach.
type teachCommandLine struct {
	name, usage, help string
	run               func(r *repl, ctx context.Context, rest string) error
}

// teachCommands returns the commands in the order of the help.
func teachCommands() []teachCommandLine {
	return []teachCommandLine{
		{"look", "look [WORDS]", "what is on the page; with words, only the lines that have them", (*repl).look},
		{"look", "look in SELECTOR", "a part of the page, in more detail", nil},
		{"requests", "requests [WORDS]", "the requests for data that the page made; with words, those whose URL or answer has them", (*repl).requests},
		{"requests", "requests N", "request N of the list as operations", nil},
		{"click", "click SELECTOR", "click an element", (*repl).click},
		{"type", "type SELECTOR TEXT [as NAME]", "type into a field or choose from a list; as NAME makes the text a parameter", (*repl).typeText},
		{"type", "type SELECTOR secret:SECRET as NAME", "type a secret of --secret", nil},
		{"do", "do JSON [VALUES]", `any operation, as in do {"type":"press","key":"Enter"}; VALUES is an object for its {{names}}`, (*repl).do},
		{"extract", "extract SELECTOR", "return the items of a list, or the rows of a table, as JSON", (*repl).extract},
		{"undo", "undo [N]", "take the last N operations back (1) and do the others again on a new page", (*repl).undo},
		{"save", "save NAME [OPTIONS] DESCRIPTION", "run the routine once from the beginning and store it", (*repl).save},
		{"save", `  option other={"query":"chair"}`, "run it with these values too; the result has to differ", nil},
		{"save", "  option prove=all|check_last|no", "run all again, all but the last operation that changes something, or nothing", nil},
		{"end", "end", "close the page; Control-D and Control-C do the same", (*repl).end},
		{"help", "help", "this list", (*repl).help},
	}
}

func (r *repl) help(context.Context, string) error {
	for _, c := range teachCommands() {
		fmt.Fprintf(r.out, "  %-36s %s\n", c.usage, c.help)
	}
	fmt.Fprintln(r.out, `A selector with blanks outside of brackets goes into single quotes, as in type '#login input' ann`)
	return nil
}

func (r *repl) look(ctx context.Context, rest string) error {
	if scope, ok := strings.CutPrefix(rest, "in "); ok {
		return r.call(ctx, "take_snapshot", lesson.SnapshotRequest{Scope: strings.TrimSpace(scope)})
	}
	return r.call(ctx, "take_snapshot", lesson.SnapshotRequest{Find: rest})
}

func (r *repl) click(ctx context.Context, rest string) error {
	if rest == "" {
		return errors.New("click what? Give the selector that the look shows, as in click #search")
	}
	if quoted, after, err := cutSelector(rest); err == nil && after == "" {
		rest = quoted
	}
	return r.try(ctx, map[string]any{"type": "click", "selector": rest}, nil)
}

var (
	asParameter = regexp.MustCompile(`^(.*)\s+as\s+([A-Za-z_]\w*)$`)
	ofSecret    = regexp.MustCompile(`^secret:(\S+)$`)
)

func (r *repl) typeText(ctx context.Context, rest string) error {
	selector, text, err := cutSelector(rest)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("type what? Give a selector and a text, as in type #q lamp as query")
	}
	name := ""
	if parts := asParameter.FindStringSubmatch(text); parts != nil {
		text, name = parts[1], parts[2]
	}
	var value any = text
	if secret := ofSecret.FindStringSubmatch(text); secret != nil {
		if name == "" {
			return errors.New("a secret needs a name for its parameter, as in type #pin secret:PIN as pin")
		}
		value = map[string]string{"secret": secret[1]}
	} else if strings.HasPrefix(text, `"`) {
		var quoted string
		if err := json.Unmarshal([]byte(text), &quoted); err != nil {
			return fmt.Errorf("the text begins with a quote and is no JSON string: %w", err)
		}
		text, value = quoted, quoted
	}
	if name == "" {
		return r.try(ctx, map[string]any{"type": "input_text", "selector": selector, "text": text}, nil)
	}
	return r.try(ctx, map[string]any{"type": "input_text", "selector": selector, "text": "{{" + name + "}}"}, map[string]any{name: value})
}

func (r *repl) do(ctx context.Context, rest string) error {
	d := json.NewDecoder(strings.NewReader(rest))
	var operation, values map[string]any
	d.UseNumber()
	if err := d.Decode(&operation); err != nil {
		return fmt.Errorf(`give the operation as JSON on one line, as in do {"type":"press","key":"Enter"}: %w`, err)
	}
	if d.More() {
		if err := d.Decode(&values); err != nil {
			return fmt.Errorf(`after the operation comes an object with values, as in {"query":"lamp"}: %w`, err)
		}
	}
	if d.More() {
		return errors.New("there is text after the values: give one operation and one object with values")
	}
	return r.try(ctx, operation, values)
}

// extract does the operations that return all items of a list.
func (r *repl) extract(ctx context.Context, rest string) error {
	if rest == "" {
		return errors.New("extract what? Give the selector of a list's items or of a table, as in extract li.product")
	}
	if quoted, after, err := cutSelector(rest); err == nil && after == "" {
		rest = quoted
	}
	snapshot, err := r.lessons.Snapshot(ctx, r.principal, r.id, lesson.SnapshotRequest{Extract: rest})
	if err != nil {
		return err
	}
	if snapshot.Extraction == nil {
		return errors.New("the page gave no list: look shows the lists with the selector of their items")
	}
	for _, w := range snapshot.Extraction.Warnings {
		fmt.Fprintf(r.out, "warning: %s\n", w)
	}
	return r.call(ctx, "try_operation", map[string]any{"operations": snapshot.Extraction.Operations})
}

func (r *repl) requests(ctx context.Context, rest string) error {
	if n, err := strconv.Atoi(rest); err == nil {
		return r.call(ctx, "list_network_requests", map[string]any{"id": n})
	}
	return r.call(ctx, "list_network_requests", lesson.RequestsQuery{Find: rest})
}

// save saves the lesson as a routine: a name, options and a description.
func (r *repl) save(ctx context.Context, rest string) error {
	name, rest, err := cutSelector(rest)
	if err != nil || name == "" {
		return errors.New("save under which name? As in save search_lamps Searches the shop for lamps")
	}
	q := lesson.SaveRequest{Name: name}
	for {
		option, after, _ := strings.Cut(rest, " ")
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "other":
			d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(rest, "other=")))
			if err := d.Decode(&q.OtherValues); err != nil {
				return fmt.Errorf(`other= needs an object with a value for each parameter, as in other={"query":"chair"}: %w`, err)
			}
			after = rest[len("other=")+int(d.InputOffset()):]
		case "prove":
			q.Prove = lesson.Prove(value)
		case "version":
			version, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("version= needs a number, not %q", value)
			}
			q.ExpectedVersion = &version
		default:
			q.Description = rest
			return r.call(ctx, "save_lesson", q)
		}
		rest = strings.TrimSpace(after)
	}
}

func (r *repl) undo(ctx context.Context, rest string) error {
	n := 1
	if rest != "" {
		var err error
		if n, err = strconv.Atoi(rest); err != nil || n < 1 {
			return fmt.Errorf("%q is no number of operations: write undo, or undo 2", rest)
		}
	}
	if n > r.operations {
		return fmt.Errorf("there are only %d operations", r.operations)
	}
	return r.call(ctx, "undo_operations", map[string]any{"to": r.operations - n})
}

func (r *repl) end(ctx context.Context, _ string) error { return r.call(ctx, "end_lesson", nil) }

// try does one operation.
func (r *repl) try(ctx context.Context, operation, values map[string]any) error {
	arguments := map[string]any{"operation": operation}
	if values != nil {
		arguments["values"] = values
	}
	return r.call(ctx, "try_operation", arguments)
}

// cutSelector splits a line into the selector at its beginning and the rest. The selector
// is in single quotes, or ends at the first blank outside of brackets and quotes.
func cutSelector(line string) (selector, rest string, err error) {
	if quoted, ok := strings.CutPrefix(line, "'"); ok {
		selector, rest, closed := strings.Cut(quoted, "'")
		if !closed {
			return "", "", errors.New("the selector begins with a single quote and has none at its end")
		}
		return selector, strings.TrimSpace(rest), nil
	}
	depth, quote := 0, rune(0)
	for i, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ' ' && depth <= 0:
			return line[:i], strings.TrimSpace(line[i:]), nil
		}
	}
	return line, "", nil
}
