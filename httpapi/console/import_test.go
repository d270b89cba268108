package console_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// twoTests is a recording of Selenium IDE with two tests.
const twoTests = `{"id": "1", "name": "Shop", "url": "https://shop.example", "tests": [
	{"id": "a", "name": "find", "commands": [{"id": "1", "command": "open", "target": "/", "value": ""}]},
	{"id": "b", "name": "log in", "commands": [{"id": "2", "command": "open", "target": "/login", "value": ""},
		{"id": "3", "command": "type", "target": "id=password", "targets": [], "value": "hunter2-hunter2"},
		{"id": "4", "command": "dragAndDropToObject", "target": "id=a", "value": "id=b"}]}], "suites": [], "urls": [], "plugins": []}`

// A recording becomes a routine with the account of its steps, which the editor takes as a new one.
func TestImport(t *testing.T) {
	e := newEnv(t)
	e.signIn()
	const path = "/console/routines/import"
	if page := e.get(path, http.StatusOK).body; !strings.Contains(page, `type="file"`) {
		t.Errorf("the page has no field for a file:\n%s", page)
	}
	page := e.post(path, http.StatusBadRequest, "source", twoTests).body
	if !strings.Contains(page, "<option>find</option><option>log in</option>") || !strings.Contains(page, "name one of the tests") {
		t.Errorf("the tests are not offered:\n%s", page)
	}
	page = e.post(path, http.StatusOK, "source", twoTests, "test", "log in").body
	for _, want := range []string{"3 steps: ", " 1 dropped.", "dragAndDropToObject", `<td class="num" data-label="Line">5</td>`, "{{password}}",
		"nothing is saved yet"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "hunter2-hunter2") {
		t.Error("the page has the secret of the recording")
	}
	editor := e.post("/console/resume", http.StatusOK, "definition", `{"name": "log_in"}`, "next", "/console/routines/new").body
	if !strings.Contains(editor, "log_in") || !strings.Contains(editor, "Your text is not saved yet.") {
		t.Errorf("the editor does not have the routine:\n%s", editor)
	}
	har, err := os.ReadFile("../../routine/importer/testdata/har/search.har")
	if err != nil {
		t.Fatal(err)
	}
	page = e.post(path, http.StatusOK, "source", string(har)).body
	if !strings.Contains(page, "<td>taken</td>") || !strings.Contains(page, `name="test" value="`) {
		t.Errorf("the requests of a HAR file are not offered:\n%s", page)
	}
	for source, want := range map[string]string{"": "Choose a file, or paste its text.", "hello": "this is no recording that can be imported",
		`{"steps": [}`: "line 1"} {
		if page = e.post(path, http.StatusBadRequest, "source", source).body; !strings.Contains(page, want) {
			t.Errorf("%q: the page lacks %q:\n%s", source, want, page)
		}
	}
	page = e.post(path, http.StatusRequestEntityTooLarge, "source", strings.Repeat("x", 3<<20)).body
	if !strings.Contains(page, "rote import reads HAR files of up to 20.0 MiB") || len(page) > 1<<20 {
		t.Errorf("a large recording: %.3000s", page)
	}
	e.signIn("routines:read")
	if page = e.post(path, http.StatusForbidden, "source", "curl https://shop.example/").body; !strings.Contains(page, "scope") {
		t.Errorf("without the scopes: %s", page)
	}
}

// A recording that is posted after the sign-in has ended is kept until the next sign-in.
func TestImportIsResumed(t *testing.T) {
	e := newEnv(t)
	const path, source = "/console/routines/import", "\ncurl 'https://shop.example/?q=</textarea>'"
	page := e.postMultipart(path, http.StatusUnauthorized, map[string]string{}, map[string]string{"file": source}).body
	for _, want := range []string{"Your recording has been kept", "q=&lt;/textarea&gt;", `enctype="multipart/form-data"`,
		`name="next" value="/console/routines/import"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the sign-in page lacks %q:\n%s", want, page)
		}
	}
	large := e.postMultipart(path, http.StatusUnauthorized, nil, map[string]string{"file": strings.Repeat("x", 3<<20)}).body
	if strings.Contains(large, "xxxx") {
		t.Error("a recording that is too large is kept")
	}
	page = e.postMultipart("/console/login", http.StatusUnauthorized, map[string]string{"token": "rote_wrong", "source": source}, nil).body
	if !strings.Contains(page, "Your recording has been kept") {
		t.Errorf("a wrong token loses the recording:\n%s", page)
	}
	page = e.postMultipart("/console/login", http.StatusOK, map[string]string{"token": adminToken, "source": source}, nil).body
	if !strings.Contains(page, "Your recording was not imported yet.") || !strings.Contains(page, "q=&lt;/textarea&gt;") || strings.Contains(page, "definition") {
		t.Errorf("the recording is not there again:\n%s", page)
	}
	if page = e.postMultipart(path, http.StatusOK, map[string]string{"source": source}, nil).body; !strings.Contains(page, "1 steps: 1 carried") {
		t.Errorf("the recording is not imported:\n%s", page)
	}
}

// A file is dropped on the list of routines, or chosen on the page of imports, and the routine is
// saved in the editor.
func TestImportInABrowser(t *testing.T) {
	e := newEnv(t)
	e.create(searchText)
	p := newTab(t, startTestBrowser(t))
	p.open(e.URL + "/console/login")
	p.eval(`document.querySelector("[name=token]").value = `+quote(adminToken)+`, document.querySelector("main button").click()`, nil)
	p.says("search_products")
	const drop = `{
		const files = new DataTransfer()
		for (const name of NAMES) files.items.add(new File(["curl 'https://shop.example/api?q=lamp'"], name))
		for (const type of ["dragover", "drop"])
			document.querySelector("main").dispatchEvent(new DragEvent(type, {dataTransfer: files, bubbles: true, cancelable: true}))
	}`
	p.eval(strings.Replace(drop, "NAMES", `["a.txt", "b.txt"]`, 1), nil)
	p.sees(`document.getElementById("say").textContent === "drop one file at a time" && !document.body.classList.contains("dropping")`)
	p.eval(strings.Replace(drop, "NAMES", `["commands.txt"]`, 1), nil)
	p.says("1 steps: 1 carried")
	p.click("Open in the editor")
	p.says("Your text is not saved yet.")
	p.click("Save")
	p.says("imported curl")

	p.open(e.URL + "/console/routines")
	p.click("Import")
	p.says("Or drop the file anywhere on this page.")
	p.fill("source", "curl https://shop.example/other")
	p.click("Import")
	p.sees(`document.querySelector("#definition")?.value.includes("shop.example/other")`)
}
