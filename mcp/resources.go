package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"rote/mcp/wire"
	"rote/routine"
	"rote/schemas"
)

// schemaURI is the resource that has the JSON Schema of routines. The resource
// schemaURI/KIND has that of one kind of operation.
const schemaURI = "schema://routine"

const (
	jsonType   = "application/json"
	schemaType = "application/schema+json"
)

// addResources adds the resources that every organization has.
func (s *Server) addResources(m *server.MCPServer) {
	m.AddResource(mcp.NewResource(schemaURI, "routine schema", mcp.WithMIMEType(schemaType),
		mcp.WithResourceDescription("The JSON Schema of a routine definition, with every operation")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return textResource(schemaURI, schemaType, string(schemas.Routine())), nil
		})
	m.AddResourceTemplate(mcp.NewResourceTemplate(schemaURI+"/{kind}", "operation schema", mcp.WithTemplateMIMEType(schemaType),
		mcp.WithTemplateDescription("The JSON Schema of one kind of operation, such as click")),
		func(ctx context.Context, q mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			kind := strings.TrimPrefix(q.Params.URI, schemaURI+"/")
			schema, ok := schemas.Operation(kind)
			if !ok {
				err := routine.Errorf(routine.CodeNotFound, "there is no kind of operation %s: the kinds are %s",
					routine.Quote(routine.Truncate(kind, 80)), strings.Join(schemas.OperationKinds(), ", "))
				return nil, s.handlerError(ctx, err, resourceNotFound(ctx))
			}
			return textResource(q.Params.URI, schemaType, string(schema)), nil
		})
	for _, t := range []struct {
		template, name, description, kind string
		read                              func(context.Context, string) (any, error)
	}{
		{"routine://{id}", "routine", "A routine as it is stored", jsonType, s.readRoutine},
		{"execution://{id}", "execution", "A run: status, result and what each operation did", jsonType, s.readExecution},
		{"execution://{id}/data", "execution data", "The data of a run, whole", "", s.readData},
		{"execution://{id}/files/{name}", "execution file", "A file that a run brought", "", s.readFile},
	} {
		m.AddResourceTemplate(mcp.NewResourceTemplate(t.template, t.name, mcp.WithTemplateDescription(t.description), mcp.WithTemplateMIMEType(t.kind)),
			func(ctx context.Context, q mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				v, err := t.read(ctx, q.Params.URI)
				if err != nil {
					return nil, s.handlerError(ctx, err, resourceNotFound(ctx))
				}
				if f, ok := v.(*routine.File); ok {
					return fileResource(q.Params.URI, f), nil
				}
				return jsonResource(q.Params.URI, v), nil
			})
	}
}

func textResource(uri, kind, text string) []mcp.ResourceContents {
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: text}}
}

// jsonResource returns a value as JSON, in which invisible characters are escaped.
func jsonResource(uri string, v any) []mcp.ResourceContents {
	return textResource(uri, jsonType, routine.EscapeInvisible(routine.JSONText(v)))
}

func fileResource(uri string, f *routine.File) []mcp.ResourceContents {
	if kind := mediaType(f.ContentType); isText(kind) && utf8.Valid(f.Data) {
		return textResource(uri, kind, cleanData(string(f.Data)))
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: uri, MIMEType: mediaType(f.ContentType), Blob: base64.StdEncoding.EncodeToString(f.Data)}}
}

// splitURI returns the id that follows the scheme of a URI, and the path after it.
func splitURI(uri string) (id, rest string) {
	_, id, _ = strings.Cut(uri, "://")
	id, rest, _ = strings.Cut(id, "/")
	return id, rest
}

func (s *Server) readRoutine(ctx context.Context, uri string) (any, error) {
	id, _ := splitURI(uri)
	r, err := s.service.Routine(ctx, wire.PrincipalOf(ctx), s.routineID(ctx, id))
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Server) readExecution(ctx context.Context, uri string) (any, error) {
	id, _ := splitURI(uri)
	e, err := s.execution(ctx, id)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// execution reads an execution. If its data is a file, it is left out, because it
// is a resource of its own.
func (s *Server) execution(ctx context.Context, id string) (*routine.Execution, error) {
	e, err := s.service.Execution(ctx, wire.PrincipalOf(ctx), id)
	if err != nil {
		return nil, err
	}
	if e.Result != nil && e.Result.IsBase64 {
		e.Result.Data = json.RawMessage("null")
	}
	return e, nil
}

func (s *Server) readData(ctx context.Context, uri string) (any, error) {
	id, _ := splitURI(uri)
	e, err := s.service.Execution(ctx, wire.PrincipalOf(ctx), id)
	switch {
	case err != nil:
		return nil, err
	case e.Result == nil || len(e.Result.Data) == 0:
		return nil, routine.Errorf(routine.CodeNotFound, "the execution is %s and has no data", e.Status)
	case e.Result.IsBase64:
		return downloadFile(e), nil
	}
	return cleanJSON(e.Result.Data), nil
}

// downloadFile returns the file that is the data of an execution.
func downloadFile(e *routine.Execution) *routine.File {
	content := decodeDownload(e.Result)
	return &routine.File{FileInfo: routine.FileInfo{Name: e.Result.Filename, ContentType: e.Result.ContentType, Size: int64(len(content))}, Data: content}
}

func (s *Server) readFile(ctx context.Context, uri string) (any, error) {
	id, rest := splitURI(uri)
	name, err := url.PathUnescape(strings.TrimPrefix(rest, "files/"))
	if err != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the file's name is not escaped as in a URL")
	}
	p := wire.PrincipalOf(ctx)
	e, err := s.service.Execution(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if e.Result != nil && e.Result.IsBase64 && e.Result.Filename == name {
		return downloadFile(e), nil
	}
	return s.service.ExecutionFile(ctx, p, id, name)
}

// filterResources removes from a list what the caller may not read.
func filterResources(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, list *mcp.ListResourcesResult) {
	if !wire.PrincipalOf(ctx).Has(routine.ScopeRoutinesRead) {
		list.Resources = slices.DeleteFunc(list.Resources, func(r mcp.Resource) bool { return strings.HasPrefix(r.URI, routineURI("")) })
	}
}

func routineURI(id string) string { return "routine://" + id }

// routineResource returns a listed routine as a resource.
func (s *Server) routineResource(e *entry) server.ServerResource {
	uri := routineURI(e.id)
	name := truncate(routine.OneLine(e.name), 80)
	if name != e.tool.Name { // names must be unique, for clients and for the paging of lists
		name += " (" + e.tool.Name + ")"
	}
	return server.ServerResource{
		Resource: mcp.NewResource(uri, name, mcp.WithMIMEType(jsonType), mcp.WithResourceDescription(truncate(routine.OneLine(e.authorDescription), 200))),
		Handler: func(ctx context.Context, q mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			v, err := s.readRoutine(ctx, q.Params.URI)
			if err != nil {
				return nil, s.handlerError(ctx, err, resourceNotFound(ctx))
			}
			return jsonResource(uri, v), nil
		},
	}
}

// maxCompletions is the limit of the protocol.
const maxCompletions = 100

var errNoCompletion = errors.New("there is nothing to complete")

// completion suggests ids of routines and executions, and kinds of operations.
type completion struct{ server *Server }

var (
	_ server.ResourceCompletionProvider = completion{}
	_ server.PromptCompletionProvider   = completion{}
)

// CompleteResourceArgument returns ids, or kinds of operations, that complete a
// resource template.
func (c completion) CompleteResourceArgument(ctx context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	switch {
	case argument.Name == "kind":
		kinds := slices.DeleteFunc(schemas.OperationKinds(), func(kind string) bool { return !strings.HasPrefix(kind, argument.Value) })
		return completionOf(kinds), nil
	case argument.Name != "id":
		return nil, errNoCompletion
	case strings.HasPrefix(uri, "routine://"):
		return c.routines(ctx, argument.Value)
	}
	return c.executions(ctx, argument.Value)
}

// CompletePromptArgument returns ids that complete an argument of a prompt.
func (c completion) CompletePromptArgument(ctx context.Context, _ string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	switch argument.Name {
	case "execution_id":
		return c.executions(ctx, argument.Value)
	case "routine_id":
		return c.routines(ctx, argument.Value)
	}
	return &mcp.Completion{Values: []string{}}, nil
}

func (c completion) routines(ctx context.Context, prefix string) (*mcp.Completion, error) {
	p := wire.PrincipalOf(ctx)
	o, err := c.server.organization(p)
	if err != nil {
		return nil, c.server.handlerError(ctx, err, mcp.INVALID_PARAMS)
	}
	var ids []string
	if !p.Has(routine.ScopeRoutinesRead) {
		return completionOf(ids), nil
	}
	for _, r := range o.registry.lastChangedFirst() {
		if strings.HasPrefix(r.id, prefix) || strings.HasPrefix(r.tool.Name, prefix) {
			ids = append(ids, r.id)
		}
	}
	return completionOf(ids), nil
}

func (c completion) executions(ctx context.Context, prefix string) (*mcp.Completion, error) {
	list, _, err := c.server.service.Executions(ctx, wire.PrincipalOf(ctx), routine.ExecutionFilter{Limit: maxCompletions})
	if err != nil {
		return nil, c.server.handlerError(ctx, err, mcp.INVALID_PARAMS)
	}
	var ids []string
	for _, e := range list {
		if strings.HasPrefix(e.ID, prefix) {
			ids = append(ids, e.ID)
		}
	}
	return completionOf(ids), nil
}

func completionOf(values []string) *mcp.Completion {
	n := min(len(values), maxCompletions)
	return &mcp.Completion{Values: append([]string{}, values[:n]...), Total: len(values), HasMore: n < len(values)}
}
