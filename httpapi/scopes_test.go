package httpapi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"rote/routine"
	"rote/routine/service"
	"rote/schemas"
)

// markedRoutine has a mark in each part of a definition.
const markedRoutine = `{"name": "marked", "description": "Has markdescription.", "tags": ["marktag"],
	"parameters": [{"name": "markparameter", "type": "url", "description": "The page"}],
	"operations": [{"type": "navigate", "url": "{{markparameter}}"}, {"type": "return_html", "scope": "element", "selector": "#markoperation"}]}`

// marks are texts of a routine and its executions that an answer may contain, by
// the letters that rightsTable uses for them.
var marks = map[byte]string{
	'd': "markdescription", 't': "marktag", 'p': "markparameter", 'o': "markoperation", // of the definition
	'v': "markvalue", 'r': "so on", 'f': "as it was told to", 'e': "Sold out", // value, result, failure and evidence of an execution
}

// rightsTable has a row for each call with the expected answers: to a call
// without a token, and to tokens of the owner's organization with one scope. An
// answer is the status and the letters of the marks that it contains. The calls
// are about a private routine ($routine), an execution of it that completed
// ($ended) and one that failed ($failed). A row whose method is followed by a
// name has that body.
const rightsTable = `
                                                         nobody          routines:read   routines:write  executions:run  executions:read
GET               /routines/                             200             200dopt         403             403             403
POST              /routines/                             401             403             201             403             403
POST:bad          /routines/                             401             403             400o            403             403
POST              /routines/validate_routine_json        200dopt         200dopt         200dopt         200dopt         200dopt
POST              /routines/import                       401             403             403             403             403
GET               /routines/$routine                     403             200dopt         403             403             403
PATCH             /routines/$routine                     401             403             200             403             403
PATCH:draft       /routines/$routine                     401             403             200             403             403
PATCH:description /routines/$routine                     401             403             200             403             403
PATCH:parameters  /routines/$routine                     401             403             400             403             403
PATCH:operations  /routines/$routine                     401             403             400             403             403
PATCH:unused      /routines/$routine                     401             403             200             403             403
PATCH:stale       /routines/$routine                     401             403             412             403             403
PATCH:archived    /routines/$archived                    401             403             409             403             403
DELETE            /routines/$routine                     401             403             200             403             403
GET               /routines/by-name/marked               401             200dopt         403             403             403
PUT:named         /routines/by-name/marked               401             403             200             403             403
PUT:bad           /routines/by-name/marked               401             403             400o            403             403
PUT:new           /routines/by-name/marked2              401             403             201             403             403
GET               /routines/$routine/openapi.json        403             200dop          403             403             403
GET               /routines/$routine/export?to=recorder  403             200op          403             403             403
GET               /routines/$routine/versions            403             200             403             403             403
GET               /routines/$routine/versions/1            403             200opt          403             403             403
GET               /routines/$routine/versions/2?diff_from=1 403             200d            403             403             403
POST              /routines/$routine/restore             401             403             200             403             403
POST:none         /routines/$routine/restore             401             403             404             403             403
POST              /routines/$routine/execute             403             403             403             201prv          403
POST:async        /routines/$routine/execute             403             403             403             202pv           403
POST:fail         /routines/$routine/execute             403             403             403             500efpv         403
POST:missing      /routines/$routine/execute             403             403             403             400p            403
POST              /executions/$ended/cancel              401             403             403             200             403
POST              /executions/$failed/cancel             401             403             403             200             403
POST:unsaved      /executions/                           401             403             403             403             403
GET               /executions/                           401             403             403             403             200fpv
GET               /routines/$routine/executions          401             403             403             403             200fpv
GET               /executions/$ended                     401             403             403             403             200prv
GET               /executions/$failed                    401             403             403             403             200efpv
GET               /executions/$ended/events              401             403             403             403             200pv
GET               /executions/$failed/events             401             403             403             403             200fpv
GET               /executions/$failed/files/screenshot.jpg 401             403             403             403             200
GET               /schedules/                            401             403             403             403             200pv
POST              /schedules/                            401             403             403             201             403
POST:unfit        /schedules/                            401             403             403             400p            403
GET               /schedules/$schedule                   401             403             403             403             200pv
PATCH:pause       /schedules/$schedule                   401             403             403             200             403
DELETE            /schedules/$schedule                   401             403             403             204             403
GET               /secrets/                              401             403             403             403             403
GET               /secrets/shop                          401             403             403             403             403
PUT:secret        /secrets/shop                          401             403             403             403             403
DELETE            /secrets/shop                          401             403             403             403             403
POST              /secrets/shop/codes                    401             403             403             403             403
GET               /secrets/shop/uses                     401             403             403             403             403
GET               /sessions/                             401             403             403             403             403
GET               /sessions/shop                         401             403             403             403             403
PUT:session       /sessions/shop                         401             403             403             403             403
DELETE            /sessions/shop                         401             403             403             403             403
PUT:state         /sessions/shop/state                   401             403             403             403             403
DELETE            /sessions/shop/state                   401             403             403             403             403
POST              /sessions/shop/login                   401             403             403             403             403
GET               /sessions/shop/uses                    401             403             403             403             403
GET               /lessons/                              401             403             403             403             403
POST              /lessons/                              401             403             403             403             403
GET               /lessons/$lesson                       401             403             403             403             403
DELETE            /lessons/$lesson                       401             403             403             403             403
GET               /lessons/$lesson/snapshot              401             403             403             403             403
GET               /lessons/$lesson/picture               401             403             403             403             403
GET               /lessons/$lesson/requests              401             403             403             403             403
GET               /lessons/$lesson/requests/7            401             403             403             403             403
POST              /lessons/$lesson/operations            401             403             403             403             403
POST              /lessons/$lesson/save                  401             403             403             403             403
POST              /lessons/$lesson/undo                  401             403             403             403             403
GET               /metrics                               401             403             403             403             403
GET               /healthz                               200             200             200             200             200
GET               /readyz                                200             200             200             200             200
GET               /schemas/routine.json                  200             200             200             200             200
GET               /openapi.yaml                          200             200             200             200             200
GET               /docs                                  200             200             200             200             200
`

// rightsBodies are the bodies of the rows, by method and name, or by the
// path's last part.
var rightsBodies = map[string]string{
	"routines":              markedRoutine,
	"validate_routine_json": markedRoutine,
	"import":                `{"source": "curl https://shop.example/"}`,
	"named":                 strings.Replace(markedRoutine, "marktag", "another", 1),
	"new":                   strings.Replace(markedRoutine, `"marked"`, `"marked2"`, 1),
	"bad":                   strings.Replace(markedRoutine, `"scope": "element"`, `"markoperation": 1`, 1),
	"secret":                `{"value": "x", "hosts": ["shop.example"]}`,
	"session":               `{"hosts": ["shop.example"]}`,
	"state":                 `{"cookies": []}`,
	"PATCH":                 `{}`,
	"draft":                 `{"routine_status": "draft"}`,
	"description":           `{"description": "Something else."}`,
	"parameters":            `{"parameters": []}`,
	"operations":            `{"operations": [{"type": "navigate", "url": "{{markparamete}}"}, {"type": "return_html"}]}`,
	"unused":                `{"operations": [{"type": "press", "key": "Enter"}]}`,
	"stale":                 `{"description": "Something else."}`,
	"archived":              `{"description": "Something else."}`,
	"restore":               `{"version": 1}`,
	"none":                  `{"version": 9}`,
	"execute":               markedCall("?markvalue"),
	"schedules":             `{"routine_id": "$routine", "cron": "@daily", ` + strings.TrimPrefix(markedCall("?markvalue"), "{"),
	"unfit":                 `{"routine_id": "$routine", "cron": "@daily"}`,
	"pause":                 `{"enabled": false}`,
	"async":                 markedCall("?markvalue"),
	"fail":                  markedCall("fail/timeout?markvalue"),
	"missing":               `{"parameters": {}}`,
	"unsaved":               `{"routine": ` + markedRoutine + `, "parameters": {"markparameter": "https://shop.example/?markvalue"}}`,
}

func markedCall(page string) string {
	return strings.Replace(call(page), `"page"`, `"markparameter"`, 1)
}

var rightsHeaders = map[string]map[string]string{"stale": {"If-Match": `"1"`}, "async": {"Prefer": "respond-async"}}

// Each scope alone is tried with each call. An answer shows what the caller has
// a right to read, and all of it: a cell that says more or less fails.
func TestScopesLimitReading(t *testing.T) {
	owner := routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "prices", Scopes: routine.DefaultScopes}
	tried := map[string]bool{}
	lines := strings.Split(strings.Trim(rightsTable, "\n"), "\n")
	columns := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		method, name, _ := strings.Cut(fields[0], ":")
		tried[method+" "+rightsPath(fields[1])] = true
		e := newEnv(t)
		names := e.markedObjects(t, owner)
		for i, column := range columns {
			t.Run(column+" "+fields[0]+" "+fields[1], func(t *testing.T) {
				headers := maps.Clone(rightsHeaders[name])
				if headers == nil {
					headers = map[string]string{}
				}
				if column != "nobody" {
					scopes, err := routine.ParseScopes([]string{column})
					if err != nil {
						t.Fatal(err)
					}
					headers["X-Service-Token"] = e.tokenOf(t, routine.Principal{UserID: "bob", OrganizationID: "acme", ProjectID: "prices", Scopes: scopes})
				}
				path := names.Replace(fields[1])
				got := e.must(t, method, path, headers, names.Replace(rightsBody(method, name, fields[1])))
				if shown := statusAndMarks(got); shown != fields[2+i] {
					t.Errorf("%s, want %s\n%v\n%s", shown, fields[2+i], got.header, got.body)
				}
			})
		}
	}
	for _, described := range describedCalls(t) {
		if !tried[described] {
			t.Errorf("%s is described and has no row in the table", described)
		}
	}
}

func rightsBody(method, name, path string) string {
	if name != "" {
		return rightsBodies[name]
	}
	if body := rightsBodies[method]; body != "" {
		return body
	}
	if method != "POST" {
		return ""
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return rightsBodies[parts[len(parts)-1]]
}

// statusAndMarks is an answer as rightsTable writes it.
func statusAndMarks(r response) string {
	shown := string(append([]byte{}, '0'+byte(r.status/100), '0'+byte(r.status/10%10), '0'+byte(r.status%10)))
	var text strings.Builder
	for name, values := range r.header {
		text.WriteString(name + ": " + strings.Join(values, " ") + "\n")
	}
	text.WriteString(r.body)
	for _, letter := range slices.Sorted(maps.Keys(marks)) {
		if strings.Contains(text.String(), marks[letter]) {
			shown += string(letter)
		}
	}
	return shown
}

// markedObjects makes a routine with two versions and two executions.
func (e *env) markedObjects(t *testing.T, owner routine.Principal) *strings.Replacer {
	t.Helper()
	r, _, err := e.service.CreateRoutine(t.Context(), owner, []byte(strings.Replace(markedRoutine, "markdescription", "nothing", 1)), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.service.ReplaceRoutine(t.Context(), owner, r.ID, []byte(markedRoutine), nil); err != nil {
		t.Fatal(err)
	}
	archived, _, err := e.service.CreateRoutine(t.Context(), owner, []byte(markedRoutine), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.service.ArchiveRoutine(t.Context(), owner, archived.ID, nil); err != nil {
		t.Fatal(err)
	}
	run := func(body string) string {
		values := strings.TrimSuffix(strings.TrimPrefix(body, `{"parameters": `), "}")
		execution, err := e.service.Execute(t.Context(), owner, r.ID, service.Call{Via: routine.ViaREST, Parameters: []byte(values)})
		if execution == nil {
			t.Fatal(err)
		}
		return execution.ID
	}
	scheduled, err := e.service.CreateSchedule(t.Context(), owner, []byte(strings.ReplaceAll(rightsBodies["schedules"], "$routine", r.ID)), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("$lesson", lessonID, "$schedule", scheduled.ID, "/picture", "/screenshot.jpg",
		"$routine", r.ID, "$archived", archived.ID, "$ended", run(rightsBodies["execute"]), "$failed", run(rightsBodies["fail"]))
}

// rightsPath is a path of rightsTable as the description spells it.
func rightsPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return strings.NewReplacer("/secrets/shop", "/secrets/{name}", "/sessions/shop", "/sessions/{name}",
		"$lesson", "{lesson_id}", "$schedule", "{schedule_id}", "/picture", "/screenshot.jpg",
		"/requests/7", "/requests/{number}", "$routine", "{routine_id}", "$archived", "{routine_id}", "$ended", "{execution_id}", "$failed", "{execution_id}",
		"versions/1", "versions/{version}", "versions/2", "versions/{version}", "screenshot.jpg", "{name}",
		"routine.json", "{file}", "by-name/marked2", "by-name/{name}", "by-name/marked", "by-name/{name}").Replace(path)
}

// describedCalls are the methods and paths of the published description.
func describedCalls(t *testing.T) (calls []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(schemas.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				calls = append(calls, strings.ToUpper(method)+" "+path)
			}
		}
	}
	return calls
}
