package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// No result or record of a run contains a secret, no matter how the browser, the
// page or a server writes it: shortened by V8, in other case, in the name of a host
// or header.
func TestSecretsAreNotRevealed(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{
		"/": `<title>T</title><div id=d></div>`,
		"/echo": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-"+r.URL.Query().Get("n"), "1")
			w.Header().Set("Access-Control-Expose-Headers", "*")
		},
	})
	var runes []rune
	for i := range 300 {
		runes = append(runes, rune(0x4e00+i*7)) // every piece of it is its own
	}
	const name = "Zweiundvierzig"
	long := string(runes[:150]) + "\n  " + string(runes[150:])
	const parameters = `[{"name":"long","x-secret":true},{"name":"name","x-secret":true},{"name":"n","type":"number","x-secret":true}]`
	values, _ := json.Marshal(map[string]any{"long": long, "name": name, "n": json.Number("4.711e6")})
	show := func(js string) string {
		text, _ := json.Marshal(js)
		return `{"type":"js_evaluate","js":` + string(text) + `}`
	}
	const missing = `,{"type":"click","selector":"#none","timeout_ms":100}`
	for what, operation := range map[string]string{
		"console":       show(`(() => { const t = {{long}}; console.log({t}, [t], t, new Error(t)); console.log({a: 'x={{long}}; y'}); throw 1 })()`),
		"thrown object": show(`(() => { throw {token: {{long}}, n: {{n}}} })()`),
		"thrown list":   show(`(() => { throw [{{long}}] })()`),
		"thrown error":  show(`(() => { throw new Error({{long}}) })()`),
		"thrown map":    show(`(() => { throw new Map([['k', {{long}}]]) })()`),
		"rejected":      show(`(async () => { throw new TypeError('no ' + {{long}}) })()`),
		"page error":    show(`(() => { setTimeout(() => { throw new Error({{long}}) }); setTimeout(() => { throw {t: {{long}}} }) })()`) + missing,
		"page text":     show(`(() => { document.title = document.querySelector('#d').textContent = {{long}} + ' ' + {{n}} })()`) + missing,
		"host":          `{"type":"navigate","url":"http://{{name}}.test/"}`,
		"header":        `{"type":"fetch","endpoint":{"url":"` + url + `/echo?n={{name}}"}},{"type":"return","session_storage_key":"none"}`,
		"number":        `{"type":"navigate","url":"` + url + `/?n={{n}}"},` + show(`(() => { throw 'it is ' + ({{n}} + 0) })()`),
		"file":          `{"type":"download","endpoint":{"url":"` + url + `/"},"filename":"{{name}}-{{n}}.txt"}`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := service.New(service.Config{Store: routinetest.NewStore(), Browser: shared})
			operations := `[{"type":"navigate","url":"` + url + `/"},` + operation + `]`
			d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","parameters":` + parameters + `,"operations":` + operations + `}`))
			if err != nil {
				t.Fatal(err)
			}
			e, err := s.RunOnce(testContext(t), routine.Principal{}, d, service.Call{Parameters: values, Timeout: 20 * time.Second})
			if what != "file" && err == nil {
				t.Error("the run did not fail")
			}
			text, _ := json.Marshal(e)
			told := strings.ToLower(fmt.Sprint(string(text), err))
			for i := range len(runes) - 2 {
				if strings.Contains(told, string(runes[i:i+3])) {
					t.Fatalf("the characters from %d on are told: %s", i, told)
				}
			}
			for _, part := range []string{"zweiund", "vierzig", "4711000", "4.711", "4,711"} {
				if strings.Contains(told, part) {
					t.Errorf("%s is told: %s", part, told)
				}
			}
			if !strings.Contains(told, "***") {
				t.Errorf("nothing was to be masked in %s", told)
			}
		})
	}
}
