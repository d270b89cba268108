package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// consoleRoutines is where the routines are that operate rote's own console.
const consoleRoutines = "testdata/console"

// consoleOperator is a rote whose routines operate the console of another one.
type consoleOperator struct {
	*server
	console *server
	ids     map[string]string // of the routines, by the names of their files
	unused  map[string]bool
}

// newConsoleOperator starts a server with a console and another one. That one has the routines of
// consoleRoutines, and a session that is signed in to the console.
func newConsoleOperator(t *testing.T) *consoleOperator {
	t.Helper()
	console, own := newRote(t), newRote(t)
	console.life, own.life = 10*time.Minute, 10*time.Minute
	o := &consoleOperator{console: console.serve("--demo"), ids: map[string]string{}, unused: map[string]bool{}}
	host := strings.TrimPrefix(o.console.url, "http://")
	o.server = own.serve("--allow-host", host)
	o.put("/secrets/console", map[string]any{"hosts": []string{host}, "fields": map[string]string{"token": o.console.token}})
	session := map[string]any{"hosts": []string{host}}
	o.put("/sessions/console", session)
	o.addRoutines()
	session["login"] = map[string]any{"routine_id": o.ids["sign_in"], "parameters": map[string]string{"console": o.consoleURL()}}
	session["signed_out"] = map[string]string{"selector": "input[name='token']"}
	o.put("/sessions/console", session)
	return o
}

func (o *consoleOperator) consoleURL() string { return o.console.url + "/console" }

// put sends a PUT request, fails the test if the answer has warnings, and returns the answer.
func (o *consoleOperator) put(path string, body any) map[string]any {
	o.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		o.t.Fatal(err)
	}
	status, stored := o.call("PUT", path, string(text))
	if warnings, _ := stored["warnings"].([]any); status >= http.StatusMultipleChoices || len(warnings) > 0 {
		o.t.Fatalf("PUT %s: status %d, %v", path, status, stored)
	}
	return stored
}

// addRoutines stores all routines of consoleRoutines.
func (o *consoleOperator) addRoutines() {
	o.t.Helper()
	files, err := filepath.Glob(filepath.Join(consoleRoutines, "*.json"))
	if err != nil || len(files) == 0 {
		o.t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			o.t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		o.ids[name], _ = o.put("/routines/by-name/console_"+name, json.RawMessage(text))["id"].(string)
		if name != "sign_in" { // the session runs it
			o.unused[name] = true
		}
	}
}

// run runs a routine with parameters, by name and value in JSON. It returns the data as JSON, whose
// objects have their members in the order of the names.
func (o *consoleOperator) run(name string, parameters ...string) string {
	o.t.Helper()
	delete(o.unused, name)
	values := map[string]any{"console": o.consoleURL()}
	for i := 0; i < len(parameters); i += 2 {
		values[parameters[i]] = json.RawMessage(parameters[i+1])
	}
	call, err := json.Marshal(map[string]any{"parameters": values, "timeout_seconds": 120})
	if err != nil {
		o.t.Fatal(err)
	}
	status, e := o.call("POST", "/routines/"+o.ids[name]+"/execute", string(call))
	result, _ := e["result"].(map[string]any)
	if warnings, _ := e["warnings"].([]any); status != http.StatusCreated || len(warnings) > 0 {
		o.t.Fatalf("%s: status %d, %v %v", name, status, e["detail"], e["warnings"])
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result["data"]); err != nil {
		o.t.Fatal(err)
	}
	return strings.TrimSpace(data.String())
}

// want is run, and compares the data.
func (o *consoleOperator) want(data, name string, parameters ...string) {
	o.t.Helper()
	if got := o.run(name, parameters...); got != data {
		o.t.Errorf("%s %s returns\n%s, want\n%s", name, parameters, got, data)
	}
}

// has checks that data has some parts.
func (o *consoleOperator) has(data string, parts ...string) {
	o.t.Helper()
	for _, part := range parts {
		if !strings.Contains(data, part) {
			o.t.Errorf("no %s in %s", part, data)
		}
	}
}

// Routines of rote sign in to rote's console, run, write, break and restore a routine there, cancel a
// run, make and revoke a token, and teach a routine.
func TestConsoleRoutines(t *testing.T) {
	onlyWhole(t)
	t.Parallel()
	o := newConsoleOperator(t)
	o.want(`{"fault":null,"operations":[`+sixCompleted+`],"rows":[{"in_stock":"true","name":"Brass Desk Lamp","price":"29.5","sku":"LAMP-01"},`+
		`{"in_stock":"false","name":"Paper Floor Lamp","price":"64","sku":"LAMP-02"},`+
		`{"in_stock":"true","name":"Clip-on Reading Lamp","price":"18.9","sku":"LAMP-03"},`+
		`{"in_stock":"true","name":"Blue Glass Bedside Lamp","price":"41","sku":"LAMP-04"}],"status":"completed"}`, "add_demo")
	o.breakAndRestore()
	o.want(`{"name":"wait","status":"active","version":"v1"}`, "write_routine", "definition", quoted(waitingRoutine))
	o.want(`{"code":"cancelled","status":"failed"}`, "cancel_run", "routine", `"wait"`)
	o.makeAndRevokeToken()
	o.teach()
	for name := range o.unused {
		t.Errorf("%s/%s.json is not used", consoleRoutines, name)
	}
}

// waitingRoutine is a routine as somebody types it.
const waitingRoutine = `{
  "name": "wait",
  "description": "Waits.",
  "operations": [
    {"type": "sleep", "timeout_seconds": 50},
    {"type": "return_html"}
  ]
}`

// quoted returns a text as JSON.
func quoted(text string) string { return string(routine.RawJSON(text)) }

// sixCompleted are the statuses of six operations.
const sixCompleted = `"completed","completed","completed","completed","completed","completed"`

// breakAndRestore changes the search of the demo in the editor, once so that the checker refuses it
// and once so that it fails, mends it, and restores its first version.
func (o *consoleOperator) breakAndRestore() {
	const search = `"search_products"`
	values := quoted(`{"query": "notebook", "site": "` + o.console.shop + `"}`)
	o.has(o.run("check_change", "routine", search, "find", quoted(`"click"`), "replace", quoted(`"clik"`)),
		`[{"severity":"error","text":"Error 37:14: must be one of navigate, `, `; did you mean \"click\"?"}]`)
	o.want(`{"name":"search_products","status":"active","version":"v2"}`, "save_change", "routine", search,
		"find", quoted(`"#search"`), "replace", quoted(`"#serch", "timeout_ms": 500`))
	o.has(o.run("run_routine", "routine", search, "values", values), `"status":"failed"`,
		`"fault":"Operation 3 of 6 (click): no element matches \"#serch\" after 500 ms; nearest: `,
		`"operations":["completed","completed","failed","not reached","not reached","not reached"]`)
	o.want(`{"name":"search_products","status":"active","version":"v3"}`, "mend_run", "routine", search, "element", `"#search"`)
	o.has(o.run("compare_versions", "routine", search, "version", "3"), `"changes":["operation 3, selector: \"#serch\" → \"#search\""]`)
	o.want(`{"added":["{\"type\": \"click\", \"selector\": \"#serch\", \"timeout_ms\": 500},"],`+
		`"changes":["operation 3, selector: \"#search\" → \"#serch\"","operation 3, timeout_ms is added: 500"],`+
		`"removed":["{\"type\": \"click\", \"selector\": \"#search\"},"]}`, "compare_versions", "routine", search, "version", "2")
	o.want(`{"name":"search_products","status":"active","version":"v4"}`, "restore_version", "routine", search, "version", "1")
	o.want(`{"fault":null,"operations":[`+sixCompleted+`],`+
		`"rows":[{"in_stock":"true","name":"Linen Notebook","price":"13","sku":"NOTE-01"}],"status":"completed"}`,
		"run_routine", "routine", search, "values", values)
}

// teach teaches a routine in a lesson of the console and runs it there.
func (o *consoleOperator) teach() {
	o.t.Helper()
	o.has(o.run("teach_search", "shop", quoted(o.console.shop), "name", `"find_products"`),
		`"passed: warnings: none that the lesson did not have","passed: result_shape: items[4] of {name,price,stock,url}"],"name":"find_products",`+
			`"operations":["navigate /","input_text \"Product name\"","click \"Search\"","js_evaluate → items","return items"]`)
	o.want(`{"fault":null,"operations":["completed","completed","completed","completed","completed"],`+
		`"rows":[{"name":"Linen Notebook","price":"13.00 EUR","stock":"In stock: 60","url":"`+o.console.shop+`/product/NOTE-01"}],"status":"completed"}`,
		"run_routine", "routine", `"find_products"`, "values", quoted(`{"query": "notebook"}`))
}

// makeAndRevokeToken makes a token in the console, and checks that it is accepted until it is
// revoked there.
func (o *consoleOperator) makeAndRevokeToken() {
	var made struct{ ID, Token string }
	if err := json.Unmarshal([]byte(o.run("make_token", "user", `"ci"`)), &made); err != nil {
		o.t.Fatal(err)
	}
	check := func(wantStatus int, wantSignIn string) {
		o.t.Helper()
		if status, _, err := o.console.try("GET", "/routines", "", "X-Service-Token", made.Token); err != nil || status != wantStatus {
			o.t.Errorf("REST answers the token with %d, %v, want %d", status, err, wantStatus)
		}
		o.has(o.run("try_token", "token", quoted(made.Token)), wantSignIn)
	}
	check(http.StatusOK, `"user":"ci · default"`)
	o.want(`{"state":"revoked","tokens":2}`, "revoke_token", "id", quoted(made.ID))
	check(http.StatusUnauthorized, `"refusal":"The service does not know this token, or it has been revoked or has expired.`)
}
