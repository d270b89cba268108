//go:build prism

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// Prism (npm @stoplight/prism-cli) is another maker's reader of OpenAPI. As a
// proxy it holds each request and each answer against openapi.yaml. Its program
// is in ROTE_PRISM; .ci/npm installs it.
type proxied struct {
	*server
	direct string          // the service's own URL
	made   map[string]bool // operations of the description that were called
}

// answerOf is what an answer has to be.
type answerOf struct {
	status int
	wants  []string
}

// throughPrism puts Prism before a server, reading what that publishes.
func throughPrism(t *testing.T, s *server) *proxied {
	t.Helper()
	text, _ := fetch(t, s.url+"/openapi.yaml")
	file := filepath.Join(t.TempDir(), "openapi.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log := &output{more: make(chan struct{}, 1)}
	c := exec.Command(os.Getenv("ROTE_PRISM"), "proxy", file, s.url, "--errors", "--host", "127.0.0.1", "--port", fmt.Sprint(port))
	c.Env = append(os.Environ(), "NO_COLOR=1")
	c.Stdout, c.Stderr, c.WaitDelay = log, log, time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = c.Wait()
	})
	log.wait(t, func(log string) string {
		if strings.Contains(log, "Prism is listening") {
			return log
		}
		return ""
	})
	p := &proxied{server: new(*s), direct: s.url, made: map[string]bool{}}
	p.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	return p
}

func fetch(t *testing.T, url string) (string, *http.Response) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text), answer
}

// say makes a call of the session, which the proxy must let through in both
// directions, and returns the answer. operation is as the description names it.
func (p *proxied) say(operation, method, path, body string, want answerOf, headers ...string) string {
	p.t.Helper()
	text, answer := p.send(method, path, body, headers...)
	if found := answer.Header.Get("Sl-Violations"); found != "" || strings.Contains(text, "stoplight.io/prism") {
		p.t.Fatalf("%s (%s %s): %s%s", operation, method, path, found, text)
	}
	if answer.StatusCode != want.status {
		p.t.Fatalf("%s (%s %s) answers %d, want %d: %s", operation, method, path, answer.StatusCode, want.status, text)
	}
	for _, w := range want.wants {
		if !strings.Contains(text, w) {
			p.t.Fatalf("%s (%s %s): no %s in %s", operation, method, path, w, text)
		}
	}
	p.made[operation] = true
	return text
}

func (p *proxied) send(method, path, body string, headers ...string) (string, *http.Response) {
	p.t.Helper()
	var sent io.Reader
	if body != "" {
		sent = strings.NewReader(body)
	}
	q, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, sent)
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	q.Header.Set("X-Service-Token", p.token)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		p.t.Fatal(err)
	}
	return string(text), answer
}

// field is a text field of an answer's object.
func field(t *testing.T, text, name string) string {
	t.Helper()
	_, after, found := strings.Cut(text, `"`+name+`":"`)
	value, _, closed := strings.Cut(after, `"`)
	if !found || !closed {
		t.Fatalf("no %s in %s", name, text)
	}
	return value
}

func answers(status int, wants ...string) answerOf { return answerOf{status, wants} }

// TestPrism is a whole session. Every operation of the description is called,
// and no request and no answer is against it.
func TestPrism(t *testing.T) {
	r := newRote(t)
	p := throughPrism(t, r.serve())
	if text, answer := p.send("GET", "/routines/?limit=101", ""); answer.StatusCode < 400 || !strings.Contains(text, "stoplight.io/prism") {
		t.Fatalf("the proxy lets what is wrong through: %d %s", answer.StatusCode, text)
	}
	search, err := os.ReadFile(r.example("search_products"))
	if err != nil {
		t.Fatal(err)
	}
	id := p.routines(string(search))
	p.executions(id)
	unsaved := fmt.Sprintf(`{"routine":%s,"parameters":{"site":%q,"query":"lamp"}}`, search, p.shop)
	p.say("executeUnsaved", "POST", "/executions/", unsaved, answers(201, "LAMP-04", `"routine_id":""`))
	p.lessons()
	p.schedules(id)
	p.secrets()
	p.sessions()
	p.refusals(id)
	p.say("importRoutine", "POST", "/routines/import", `{"source":"curl https://shop.example/api/items"}`, answers(200, `"type":"fetch"`, `"valid":true`))
	p.say("readRoutineByName", "GET", "/routines/by-name/"+p.nameOf(id), "", answers(200, id))
	named := fmt.Sprintf(note, "by its name")
	p.say("putRoutine", "PUT", "/routines/by-name/by%20its%20name", named, answers(201, `"version":1`), "If-None-Match", "*")
	p.say("putRoutine", "PUT", "/routines/by-name/by%20its%20name", named, answers(200, `"version":1`), "If-Match", `"1"`)
	p.say("archiveRoutine", "DELETE", "/routines/"+id, "", answers(200, `"routine_status":"archived"`))
	p.say("executeRoutine", "POST", "/routines/"+id+"/execute", p.calling("lamp"), answers(409, `"code":"conflict"`))
	p.say("patchRoutine", "PATCH", "/routines/"+id, `{"tags":[]}`, answers(409, `"code":"conflict"`))
	for operation, path := range map[string]string{"health": "/healthz", "ready": "/readyz", "readMetrics": "/metrics", "readSchema": "/schemas/routine.json",
		"readOpenAPI": "/openapi.yaml", "readDocs": "/docs"} {
		p.say(operation, "GET", path, "", answers(200))
	}
	p.complete()
}

// lessons makes a routine on the shop's page, up to a dry run of saving it.
func (p *proxied) lessons() {
	p.t.Helper()
	p.say("startLesson", "POST", "/lessons/", `{}`, answers(400, `"code":"invalid"`))
	lesson := "/lessons/" + field(p.t, p.say("startLesson", "POST", "/lessons/", fmt.Sprintf(`{"url":%q}`, p.shop), answers(201)), "lesson")
	p.say("listLessons", "GET", "/lessons/", "", answers(200, lesson[len("/lessons/"):]))
	p.say("readLesson", "GET", lesson, "", answers(200, `"state":"open"`))
	p.say("readSnapshot", "GET", lesson+"/snapshot", "", answers(200, "#search"), "Accept", "application/json")
	p.say("readLessonScreenshot", "GET", lesson+"/screenshot.jpg", "", answers(200))
	search := `{"operations":[{"type":"input_text","selector":"#q","text":"{{query}}"},{"type":"click","selector":"#search"}],"values":{"query":"lamp"}}`
	p.say("tryOperations", "POST", lesson+"/operations", search, answers(200, `"ok":true`))
	p.say("tryOperations", "POST", lesson+"/operations", `{"operation":{"type":"click","selector":"#none","timeout_ms":50}}`, answers(200, `"ok":false`))
	p.say("listRequests", "GET", lesson+"/requests?find=lamp", "", answers(200, "/api/search"))
	p.say("readRequest", "GET", lesson+"/requests/1", "", answers(200, `"operations":`))
	p.say("undoOperations", "POST", lesson+"/undo", `{"to":2,"replay":false}`, answers(200, `"dropped":1`))
	p.say("saveLesson", "POST", lesson+"/save", `{"dry_run":true}`, answers(200, `"saved":false`))
	p.say("endLesson", "DELETE", lesson, "", answers(200))
	p.say("readLesson", "GET", lesson, "", answers(404, `"code":"not_found"`))
}

// schedules makes, changes and deletes a schedule.
func (p *proxied) schedules(id string) {
	p.t.Helper()
	yearly := fmt.Sprintf(`{"routine_id":%q,"cron":"@yearly","parameters":{"site":%q,"query":"lamp"}}`, id, p.shop)
	created := p.say("createSchedule", "POST", "/schedules/", yearly, answers(201), "Idempotency-Key", "third")
	at := "/schedules/" + field(p.t, created, "id")
	p.say("createSchedule", "POST", "/schedules/", strings.Replace(yearly, "@yearly", "0 99 * * *", 1), answers(400, `"pointer":"/cron"`))
	p.say("listSchedules", "GET", "/schedules/?limit=1&routine_id="+id, "", answers(200, `"total":1`))
	p.say("readSchedule", "GET", at, "", answers(200, `"enabled":true`))
	p.say("changeSchedule", "PATCH", at, `{"enabled":false}`, answers(200, `"next_at":null`), "Content-Type", "application/merge-patch+json")
	p.say("deleteSchedule", "DELETE", at, "", answers(204))
	p.say("readSchedule", "GET", at, "", answers(404))
}

// secrets sets, reads and deletes a secret.
func (p *proxied) secrets() {
	p.t.Helper()
	const at = "/secrets/shop"
	p.say("saveSecret", "PUT", at, `{"hosts":["shop.example"],"fields":{"username":"ann","password":"hunter2-very-secret"}}`, answers(201, `"version":1`))
	p.say("saveSecret", "PUT", at, `{"hosts":["other.example"]}`, answers(409, `"code":"value_required"`))
	p.say("saveSecret", "PUT", at, `{"fields":{"pin":null}}`, answers(412), "If-Match", `"9"`)
	p.say("listSecrets", "GET", "/secrets/?limit=1", "", answers(200, `"total":1`))
	p.say("readSecret", "GET", at, "", answers(200, `"name":"password"`))
	p.say("listSecretUses", "GET", at+"/uses", "", answers(200, `"what":"saved"`))
	p.say("giveCode", "POST", at+"/codes", `{"code":"123456"}`, answers(204))
	p.say("deleteSecret", "DELETE", at, "", answers(204))
	p.say("readSecret", "GET", at, "", answers(404))
}

// sessions makes a session, imports a login in both formats and deletes it.
func (p *proxied) sessions() {
	p.t.Helper()
	const at = "/sessions/shop"
	p.say("saveSession", "PUT", at, `{"hosts":["shop.example"],"max_age":"12h"}`, answers(201, `"condition":"empty"`))
	p.say("importSession", "PUT", at+"/state", `{"cookies":[{"name":"sid","value":"hunter2-session","domain":"shop.example","path":"/","expires":-1,
		"httpOnly":true,"secure":true,"sameSite":"Lax"}],"origins":[]}`, answers(200, `"condition":"fresh"`))
	p.say("importSession", "PUT", at+"/state", "# Netscape\nshop.example\tFALSE\t/\tTRUE\t0\tsid\tv\n", answers(200, `"left_out":[]`),
		"Content-Type", "text/plain")
	p.say("saveSession", "PUT", at, `{"readable":true}`, answers(409, `"code":"value_required"`))
	p.say("listSessions", "GET", "/sessions/?limit=1", "", answers(200, `"total":1`))
	p.say("readSession", "GET", at, "", answers(200, `"cookies":1`))
	p.say("listSessionUses", "GET", at+"/uses", "", answers(200, `"what":"imported"`))
	p.say("loginSession", "POST", at+"/login", "", answers(409, `"code":"conflict"`))
	p.say("clearSession", "DELETE", at+"/state", "", answers(204))
	p.say("deleteSession", "DELETE", at, "", answers(204))
	p.say("readSession", "GET", at, "", answers(404))
}

// nameOf is the name of a routine, as part of a path.
func (p *proxied) nameOf(id string) string {
	p.t.Helper()
	return url.PathEscape(field(p.t, p.say("readRoutine", "GET", "/routines/"+id, "", answers(200)), "name"))
}

// complete holds that no operation of the description was left out.
func (p *proxied) complete() {
	p.t.Helper()
	text, _ := fetch(p.t, p.direct+"/openapi.yaml")
	operations := 0
	for line := range strings.Lines(text) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "operationId: "); is {
			operations++
			if !p.made[name] {
				p.t.Errorf("the session lacks %s", name)
			}
		}
	}
	if operations != len(p.made) {
		p.t.Errorf("of %d operations the session has %d: %v", operations, len(p.made), slices.Sorted(maps.Keys(p.made)))
	}
}

// routines makes and changes a routine, and returns its id.
func (p *proxied) routines(search string) string {
	p.t.Helper()
	key := []string{"Idempotency-Key", "first"}
	p.say("validateRoutine", "POST", "/routines/validate_routine_json", search, answers(200, `"valid":true`))
	p.say("validateRoutine", "POST", "/routines/validate_routine_json", `{"routine_json":{"name":"x"}}`, answers(400, `"valid":false`))
	created := p.say("createRoutine", "POST", "/routines/", search, answers(201), key...)
	id := field(p.t, created, "id")
	p.say("createRoutine", "POST", "/routines/", search, answers(201, id), key...)
	at := "/routines/" + id
	p.say("readRoutine", "GET", at, "", answers(200, `"version":1`))
	p.say("exportRoutine", "GET", at+"/export?to=curl", "", answers(200, `"to":"curl"`))
	p.say("describeRoutine", "GET", at+"/openapi.json", "", answers(200, `"openapi":"3.1.0"`, `"query":{"type":"string"`))
	p.say("patchRoutine", "PATCH", at, `{"tags":["shop"],"routine_status":"draft"}`, answers(200, `"version":2`),
		"Content-Type", "application/merge-patch+json", "If-Match", `"1"`)
	p.say("patchRoutine", "PATCH", at, `{"routine_status":"active"}`, answers(200, `"version":3`))
	p.say("patchRoutine", "PATCH", at, `{"tags":[]}`, answers(412, `"code":"precondition_failed"`), "If-Match", `"1"`)
	p.say("listVersions", "GET", at+"/versions?limit=2&offset=1", "", answers(200, `"total":3`))
	p.say("readVersion", "GET", at+"/versions/1", "", answers(200, `"routine":{`))
	p.say("readVersion", "GET", at+"/versions/2?diff_from=1", "", answers(200, `"op":`))
	p.say("restoreRoutine", "POST", at+"/restore", `{"version":1}`, answers(200, `"version":4`))
	p.say("restoreRoutine", "POST", at+"/restore", `{"version":99}`, answers(404))
	p.say("listRoutines", "GET", "/routines/?limit=5&offset=0&status=active&q=search&mcp=true&public=false", "", answers(200, id, `"total":1`))
	p.say("listRoutines", "GET", "/routines/?tag=%27%25%22", "", answers(200, `"total":0`))
	return id
}

func (p *proxied) calling(query string) string {
	return fmt.Sprintf(`{"parameters":{"site":%q,"query":%q},"timeout_seconds":60}`, p.shop, query)
}

// executions runs it in every way there is.
func (p *proxied) executions(id string) {
	p.t.Helper()
	at := "/routines/" + id + "/execute"
	key, async := []string{"Idempotency-Key", "second"}, []string{"Prefer", "respond-async"}
	done := p.say("executeRoutine", "POST", at, p.calling("lamp"), answers(201, "LAMP-04", `"status":"completed"`), key...)
	execution := field(p.t, done, "execution_id")
	p.say("executeRoutine", "POST", at, p.calling("lamp"), answers(201, execution), key...)
	p.say("executeRoutine", "POST", at, p.calling("desk"), answers(422, `"code":"idempotency_mismatch"`), key...)
	p.say("readExecution", "GET", "/executions/"+execution, "", answers(200, "LAMP-04"))
	p.say("watchExecution", "GET", "/executions/"+execution+"/events", "", answers(200, "event: execution", "event: operation"))
	p.say("listExecutions", "GET", "/executions/?status=completed&routine_id="+id, "", answers(200, execution))
	p.say("listRoutineExecutions", "GET", "/routines/"+id+"/executions?limit=1", "", answers(200, execution))

	failed := p.say("executeRoutine", "POST", at, `{"parameters":{"site":"http://127.0.0.1:18999","query":"x"}}`,
		answers(500, `"code":"egress_denied"`, `"egress_denied":[`, `"evidence":{`))
	p.say("readExecutionFile", "GET", "/executions/"+field(p.t, failed, "execution_id")+"/files/screenshot.jpg", "", answers(200))

	created := p.say("createRoutine", "POST", "/routines/", endless, answers(201))
	hook := fmt.Sprintf(`{"parameters":{"site":%q},"callback_url":%q}`, p.shop, p.shop+"/")
	started := p.say("executeRoutine", "POST", "/routines/"+field(p.t, created, "id")+"/execute", hook, answers(202, `"status":"pending"`), async...)
	running := "/executions/" + field(p.t, started, "execution_id")
	p.say("cancelExecution", "POST", running+"/cancel", "", answers(200, `"error_code":"cancelled"`))
	p.say("cancelExecution", "POST", running+"/cancel", "", answers(200, `"error_code":"cancelled"`))
}

// tokenWith is a new token.
func (p *proxied) tokenWith(args ...string) string {
	p.t.Helper()
	out, errs, code := p.run(append([]string{"token", "create"}, args...)...)
	if code != 0 {
		p.t.Fatal(errs)
	}
	return strings.TrimSpace(out)
}

// refusals are requests that are as described and still refused.
func (p *proxied) refusals(id string) {
	p.t.Helper()
	stranger, reader := p.tokenWith("--organization", "other"), p.tokenWith("--scope", "routines:read")
	at := "/routines/" + id
	p.say("readRoutine", "GET", at, "", answers(401, `"code":"unauthenticated"`), "X-Service-Token", "none")
	p.say("readRoutine", "GET", at, "", answers(403, `"code":"forbidden"`), "X-Service-Token", stranger)
	p.say("executeRoutine", "POST", at+"/execute", p.calling("x"), answers(403, "executions:run"), "X-Service-Token", reader)
	p.say("readRoutine", "GET", "/routines/Routine_x", "", answers(404, `"code":"not_found"`))
	p.say("readExecution", "GET", "/executions/x", "", answers(404, `"code":"not_found"`))
	p.say("readExecutionFile", "GET", "/executions/x/files/y", "", answers(404))
	p.say("executeRoutine", "POST", at+"/execute", `{"parameters":{"sight":"x"}}`, answers(400, `"code":"unknown_parameter"`))
	p.say("createRoutine", "POST", "/routines/", `{"name":"n","description":"d","operations":[{"type":"js_evaluate","js":"1"}]}`, answers(400, `"code":"invalid"`))
	tooLarge := `{"name":"n","description":"` + strings.Repeat("x", routine.MaxDefinitionBytes) + `","operations":[{"type":"return_html"}]}`
	p.say("createRoutine", "POST", "/routines/", tooLarge, answers(413))
	p.say("patchRoutine", "PATCH", at, `{"name":""}`, answers(400, `"pointer":"/name"`))
}
