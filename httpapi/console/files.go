package console

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"mime"
	"slices"
	"strconv"
	"time"

	"rote/routine"
)

// sendFile answers with a file that a page may have made. Only images of inert types are
// shown in the browser. Everything else is saved.
func (q *request) sendFile(name, contentType string, data []byte) error {
	disposition, kind := "attachment", mediaTypeOf(contentType)
	if slices.Contains(imageTypes, kind) {
		disposition = "inline"
	} else {
		kind = "application/octet-stream"
	}
	h := q.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = q.w.Write(data) // only the connection can fail here
	return nil
}

func executionFile(q *request) error {
	f, err := q.service.ExecutionFile(q.Context(), q.principal, q.pathParameter("execution_id"), q.pathParameter("name"))
	if err != nil {
		return err
	}
	return q.sendFile(f.Name, f.ContentType, f.Data)
}

// executionResult sends a result that is a file.
func executionResult(q *request) error {
	e, err := q.execution()
	if err != nil {
		return err
	}
	data, ok := resultFile(e.Result)
	if !ok {
		return routine.Errorf(routine.CodeNotFound, "the result of this execution is no file")
	}
	return q.sendFile(newResultView(e.Result).Name, e.Result.ContentType, data)
}

// executionData returns the JSON that an execution has returned.
func (q *request) executionData() (*routine.Execution, error) {
	e, err := q.execution()
	if err == nil && (e.Result == nil || e.Result.IsBase64 || newResultView(e.Result) == nil) {
		return nil, routine.Errorf(routine.CodeNotFound, "this execution has no result that is JSON")
	}
	return e, err
}

func executionResultJSON(q *request) error {
	e, err := q.executionData()
	if err != nil {
		return err
	}
	return q.sendFile("result-"+shortID(e.ID)+".json", "application/json", e.Result.Data)
}

func executionResultCSV(q *request) error {
	e, err := q.executionData()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := writeCSV(&text, e.Result.Data); err != nil {
		return err
	}
	return q.sendFile("result-"+shortID(e.ID)+".csv", "text/csv", text.Bytes())
}

// executionReport sends the page of an execution as one file that needs no other and no
// network.
func executionReport(q *request) error {
	e, err := q.execution()
	if err != nil {
		return err
	}
	v := q.newRunView(e)
	// The styles are part of the program, and base64 has no characters that end an attribute.
	v.Report = &reportView{Styles: template.CSS(q.assets.files["console.css"].plain), At: time.Now()} //nolint:gosec // see above
	if name := v.Screenshot(); name != "" {
		if v.Report.Screenshot, err = q.imageURL(e.ID, name); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := q.pages["execution"].ExecuteTemplate(&text, "report", v); err != nil {
		return routine.Internal("render report", err)
	}
	return q.sendFile("run-"+shortID(e.ID)+".html", "text/html", text.Bytes())
}

// imageURL returns an image of an execution as a data: URL; empty: the file is no image, or is gone.
func (q *request) imageURL(id, name string) (template.URL, error) {
	f, err := q.service.ExecutionFile(q.Context(), q.principal, id, name)
	if routine.CodeOf(err) == routine.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	kind := mediaTypeOf(f.ContentType)
	if !slices.Contains(imageTypes, kind) {
		return "", nil
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(f.Data)), nil //nolint:gosec // the type is one of imageTypes
}
