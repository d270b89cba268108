package httpapi

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/operation"
	"rote/schemas"
)

// routineOpenAPI returns an OpenAPI document for the execute call of one
// routine, for client generators and other OpenAPI tools.
func (a *api) routineOpenAPI(q *request) (response, error) {
	r, err := a.service.Routine(q.Context(), q.principal, q.routineID())
	if err != nil {
		return response{}, err
	}
	doc, err := openAPIOf(r, a.base)
	if err != nil {
		return response{}, routine.Internal("describe routine", err)
	}
	setETag(q, r)
	return response{status: http.StatusOK, body: doc}, nil
}

// nestedObject returns the object at a path of names in decoded JSON.
func nestedObject(v map[string]any, names ...string) map[string]any {
	for _, name := range names {
		v = v[name].(map[string]any)
	}
	return v
}

// openAPIOf returns the OpenAPI description of the execute call, completed with
// the parameters and the result of r. base is the prefix of all paths.
func openAPIOf(r *routine.Routine, base string) (map[string]any, error) {
	doc := schemas.Execute()
	doc["info"] = map[string]any{"title": routine.PlainText(r.Name), "version": strconv.Itoa(r.Version), "description": routine.PlainText(r.Description)}
	doc["servers"] = []any{map[string]any{"url": cmp.Or(base, "/")}} // as in all paths of responses

	path := nestedObject(doc, "paths", schemas.ExecutePath)
	delete(path, "parameters") // only the id
	doc["paths"] = map[string]any{strings.Replace(schemas.ExecutePath, "{routine_id}", r.ID, 1): path}
	delete(nestedObject(doc, "components", "parameters"), "routineId")

	call := nestedObject(path, "post")
	delete(call, "tags") // tags belong to the whole API
	call["operationId"] = cmp.Or(r.ToolName, call["operationId"].(string))
	call["summary"] = routine.PlainText(r.Name)
	switch r.Status {
	case routine.StatusDraft:
		call["description"] = "The routine is a draft.\n\n" + call["description"].(string)
	case routine.StatusArchived:
		call["deprecated"] = true
		call["description"] = "The routine is archived: a call is answered with 409 until the routine is made active.\n\n" + call["description"].(string)
	}
	body := nestedObject(doc, "components", "schemas", "ExecuteRequest", "properties")
	parameters, err := definition.ParametersSchema(r.Parameters, describeParameter)
	if err != nil {
		return nil, err
	}
	body["parameters"] = parameters
	completed := nestedObject(call, "responses", "201", "content", "application/json")
	completed["schema"] = map[string]any{"$ref": "#/components/schemas/Execution",
		"properties": map[string]any{"result": map[string]any{"type": "object", "properties": resultSchema(operation.ResultOf(&r.Definition))}}}
	return doc, nil
}

func describeParameter(p *routine.Parameter, s *definition.Schema) {
	s.Description = strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(routine.PlainText(p.Description))}, s.Notes...), "\n"))
}

// resultSchema returns the properties of a completed run's result.
func resultSchema(o operation.ResultInfo) map[string]any {
	switch o.Kind {
	case operation.ResultValue:
		return map[string]any{"data": map[string]any{"description": "The value stored as " + strconv.Quote(o.Name) + "."}}
	case operation.ResultHTML:
		return map[string]any{"data": map[string]any{"type": "string", "description": "The HTML of " + cmp.Or(routine.PlainText(o.Name), "the page") + "."}}
	case operation.ResultFile:
		return map[string]any{"data": map[string]any{"type": "string", "contentEncoding": "base64", "description": "The file " + strconv.Quote(o.Name) + "."},
			"is_base64": map[string]any{"const": true}}
	}
	return map[string]any{"data": map[string]any{"type": "null", "description": "The routine acts on the site and gives no data."}}
}
