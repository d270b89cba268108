package httpapi

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"rote/routine"
	"rote/schemas"
)

// describeRoutine gives the execute call of one routine as a document of its
// own, for what makes clients and tools of OpenAPI.
func (a *api) describeRoutine(q *request) (answer, error) {
	r, err := a.service.Routine(q.Context(), q.principal, q.routineID())
	if err != nil {
		return answer{}, err
	}
	doc, err := describe(r, a.base)
	if err != nil {
		return answer{}, routine.Internal("describe routine", err)
	}
	tag(q, r)
	return answer{status: http.StatusOK, body: doc}, nil
}

// member is the object under a name of one that was decoded from JSON.
func member(v map[string]any, names ...string) map[string]any {
	for _, name := range names {
		v = v[name].(map[string]any)
	}
	return v
}

// describe puts what is known of one routine into the description of the
// execute call. base begins every path.
func describe(r *routine.Routine, base string) (map[string]any, error) {
	doc := schemas.Execute()
	doc["info"] = map[string]any{"title": routine.PlainText(r.Name), "version": strconv.Itoa(r.Version), "description": routine.PlainText(r.Description)}
	doc["servers"] = []any{map[string]any{"url": cmp.Or(base, "/")}} // as every path that answers name

	path := member(doc, "paths", schemas.ExecutePath)
	delete(path, "parameters") // its one parameter is the id
	doc["paths"] = map[string]any{strings.Replace(schemas.ExecutePath, "{routine_id}", r.ID, 1): path}
	delete(member(doc, "components", "parameters"), "routineId")

	call := member(path, "post")
	delete(call, "tags") // of the whole document
	call["operationId"] = cmp.Or(r.ToolName, call["operationId"].(string))
	call["summary"] = routine.PlainText(r.Name)
	switch r.Status {
	case routine.StatusDraft:
		call["description"] = "The routine is a draft.\n\n" + call["description"].(string)
	case routine.StatusArchived:
		call["deprecated"] = true
		call["description"] = "The routine is archived: a call is answered with 409 until the routine is made active.\n\n" + call["description"].(string)
	}
	body := member(doc, "components", "schemas", "ExecuteRequest", "properties")
	parameters, err := routine.ParametersSchema(r.Parameters, describeParameter)
	if err != nil {
		return nil, err
	}
	body["parameters"] = parameters
	completed := member(call, "responses", "201", "content", "application/json")
	completed["schema"] = map[string]any{"$ref": "#/components/schemas/Execution",
		"properties": map[string]any{"result": map[string]any{"type": "object", "properties": outcome(routine.OutcomeOf(&r.Definition))}}}
	return doc, nil
}

func describeParameter(p *routine.Parameter, s *routine.ParameterSchema) {
	s.Description = strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(routine.PlainText(p.Description))}, s.Notes...), "\n"))
}

// outcome is how the result of a completed run looks.
func outcome(o routine.Outcome) map[string]any {
	switch o.Is {
	case routine.OutcomeValue:
		return map[string]any{"data": map[string]any{"description": "The value stored as " + strconv.Quote(o.Of) + "."}}
	case routine.OutcomeHTML:
		return map[string]any{"data": map[string]any{"type": "string", "description": "The HTML of " + cmp.Or(routine.PlainText(o.Of), "the page") + "."}}
	case routine.OutcomeFile:
		return map[string]any{"data": map[string]any{"type": "string", "contentEncoding": "base64", "description": "The file " + strconv.Quote(o.Of) + "."},
			"is_base64": map[string]any{"const": true}}
	}
	return map[string]any{"data": map[string]any{"type": "null", "description": "The routine acts on the site and gives no data."}}
}
