package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
)

// builtin is one of the service's own tools, as search_routines is.
type builtin struct {
	name, title, description string
	// advice is appended to the description.
	advice []advice
	// schema is the JSON Schema of the arguments. authoringSchema, if not empty, takes
	// its place on servers with the tools that write routines.
	schema, authoringSchema string
	// scope has the scopes that are required to see and to call the tool.
	scope routine.Scopes
	// readOnly: the tool changes nothing, neither here nor on a site. openWorld: it
	// accesses sites.
	readOnly, destructive, openWorld bool
	// nextSteps says what to do after an error with a code; other codes have the same
	// next step for all tools.
	nextSteps map[routine.Code]string
	handle    func(s *Server, ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult
}

// builtins returns the tools that the server's toolsets have, in the order in
// which an agent uses them.
func (s *Server) builtins() []builtin {
	list := runTools()
	if s.lessons != nil && !s.readOnly {
		list = append(list, lessonTools()...)
	}
	if s.authoring {
		list = append(list, authoringTools()...)
	}
	var kept []builtin
	for _, b := range list {
		if b.readOnly || !s.readOnly {
			kept = append(kept, b)
		}
	}
	return kept
}

// allows reports whether the caller has all scopes that the tool needs.
func (b builtin) allows(p routine.Principal) bool {
	return p.Has(routine.ScopeAdmin) || p.Scopes&b.scope == b.scope
}

// tool returns the builtin as it is registered with mcp-go.
func (b builtin) tool(s *Server) server.ServerTool {
	schema := b.schema
	if s.authoring && b.authoringSchema != "" {
		schema = b.authoringSchema
	}
	t := mcp.NewToolWithRawSchema(b.name, b.description, json.RawMessage(schema))
	t.Title = b.title
	t.Annotations = mcp.ToolAnnotation{ReadOnlyHint: new(b.readOnly), DestructiveHint: new(b.destructive), OpenWorldHint: new(b.openWorld)}
	return server.ServerTool{Tool: t, Handler: func(ctx context.Context, q mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				result = s.builtinError(ctx, b.name, panicError(p))
			}
		}()
		return b.handle(s, ctx, q), nil
	}}
}

// builtinError returns the result of a builtin that has failed.
func (s *Server) builtinError(ctx context.Context, tool string, err error) *mcp.CallToolResult {
	f := routine.AsError(s.logInternal(ctx, "", err))
	wire.RecordFailure(ctx, f.Code)
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %s [%s].", tool, strings.TrimRight(truncate(clean(f.Headline()), maxFailureText), "."), f.Code)
	for i, p := range f.Problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "\nand %d more", len(f.Problems)-i)
			break
		}
		b.WriteString("\n" + truncate(clean(problemLine(p)), maxFailureText/4))
	}
	if step := s.builtinNextStep(ctx, tool, f); step != "" {
		b.WriteString("\nNext: " + step + ".")
	}
	return errorResult(b.String())
}

// maxProblems limits how many problems of a definition are in a result.
const maxProblems = 40

// problemLine returns a problem as a line of text, with its position.
func problemLine(p routine.Problem) string {
	text := p.String()
	if p.Line > 0 {
		text = fmt.Sprintf("line %d: %s", p.Line, text)
	}
	return fmt.Sprintf("- %s [%s]", text, p.Code)
}

// builtinNextStep returns what an agent can do after a builtin has failed, or "".
func (s *Server) builtinNextStep(ctx context.Context, tool string, f *routine.Error) string {
	if step := s.ownTools[tool].nextSteps[f.Code]; step != "" {
		return step
	}
	if f.Code == routine.CodeBusy && f.RetryAfter == 0 {
		return "" // waiting does not help, and the message says what to do
	}
	switch f.Code {
	case routine.CodeNotFound:
		return s.advise(ctx, advice{"search_routines", "search_routines finds routines by what they do; ids of executions stand in the answers of calls",
			"check the id; ids of executions stand in the answers of calls"})
	case routine.CodeForbidden:
		return "do not try again: the token of this connection is not good for it"
	case routine.CodePreconditionFailed:
		return s.advise(ctx, advice{"describe_routine", "read the routine again with describe_routine, and change what it is now",
			"the message tells the version that the routine has now: give that one if the change still suits it"})
	case routine.CodeInvalid, routine.CodeConflict, routine.CodeTooLarge:
		return ""
	}
	return nextStep(f)
}

// structuredResult returns v as the result of a builtin: as structured content,
// and as the same JSON in a text, because clients show an agent one or the other.
func structuredResult(v any) *mcp.CallToolResult { return structuredText(routine.RawJSON(v)) }

func structuredText(text []byte) *mcp.CallToolResult {
	return &mcp.CallToolResult{RawStructuredContent: text, Content: []mcp.Content{mcp.NewTextContent(string(text))}}
}

// decode decodes the arguments of a builtin and refuses unknown ones. Models send
// numbers and booleans as strings, which lenientInt and lenientBool accept.
func decode(q mcp.CallToolRequest, into any) error {
	raw := arguments(q)
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text after the arguments")
		}
	}
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	message := strings.TrimPrefix(err.Error(), "json: ")
	if errors.As(err, &wrong) && wrong.Field != "" {
		message = fmt.Sprintf("%q must be a %s, not a %s", wrong.Field, typeName(wrong.Type), wrong.Value)
	}
	return routine.Errorf(routine.CodeInvalid, "invalid arguments: %s; valid are %s", message, strings.Join(argumentNames(into), ", "))
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[lenientInt]():
		return "whole number"
	case reflect.TypeFor[lenientBool]():
		return "boolean"
	}
	switch t.Kind() {
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "object"
	default:
		return t.Kind().String()
	}
}

// argumentNames returns the names of the arguments that a struct is decoded from.
func argumentNames(into any) (names []string) {
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// lenientInt is a whole number that is written as 3, 3.0 or "3".
type lenientInt int

// UnmarshalJSON refuses anything but a whole number of 32 bits.
func (w *lenientInt) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil || f != float64(int32(f)) {
		return &json.UnmarshalTypeError{Value: truncate(string(text), 40), Type: reflect.TypeFor[lenientInt]()}
	}
	*w = lenientInt(f)
	return nil
}

// lenientBool is a boolean that is written as true or "true".
type lenientBool bool

// UnmarshalJSON refuses anything but a boolean.
func (b *lenientBool) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseBool(strings.Trim(string(text), `"`))
	if err != nil {
		return &json.UnmarshalTypeError{Value: truncate(string(text), 40), Type: reflect.TypeFor[lenientBool]()}
	}
	*b = lenientBool(v)
	return nil
}
