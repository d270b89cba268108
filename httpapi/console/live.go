package console

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"rote/httpapi"
	"rote/routine"
)

// executionLive streams the rows of the page of an execution as HTML, made by the template of
// the page: first all, then those that have changed. A client that reconnects needs nothing
// of what it got before. The events are rows, head (the line of the status) and, when the run
// has ended, end.
func executionLive(q *request) error {
	e, err := q.execution()
	if err != nil {
		return err
	}
	l := &liveRun{request: q, stream: httpapi.NewEventStream(q.w), definition: q.definitionOf(e), sent: map[string]string{}}
	l.stream.Start()
	if err := l.update(e); err == nil && e.Open() {
		l.follow(e.ID)
	}
	return nil
}

// executionPicture answers with a picture of what a run does now, or with a text that says why
// there is none. The page asks for it while somebody looks.
func executionPicture(q *request) error {
	if _, err := q.execution(); err != nil {
		return err
	}
	picture, err := q.service.LiveView(q.Context(), q.principal, q.pathParameter("execution_id"))
	code := routine.CodeOf(err)
	if code == routine.CodeConflict || code == routine.CodeForbidden {
		q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(q.w, routine.AsError(err).Message) // only the connection can fail here
		return nil
	}
	if err != nil {
		return err
	}
	return q.sendFile("page.jpg", "image/jpeg", picture)
}

// liveRun sends the changes of one execution to one browser.
type liveRun struct {
	*request
	stream     *httpapi.EventStream
	definition *routine.Definition
	// sent are the elements as they were sent last, by their ids.
	sent map[string]string
}

// maxRowsBytes is the size from which an event of rows gets no further row.
const maxRowsBytes = 1 << 10

// follow sends changes until the run has ended, the browser disconnects, or the person's
// sign-in ends.
func (l *liveRun) follow(id string) {
	watching, stop := context.WithCancel(l.Context())
	changed, ended := make(chan struct{}, 1), make(chan struct{})
	var watcher sync.WaitGroup
	defer func() { stop(); watcher.Wait() }()
	watcher.Go(func() {
		defer close(ended)
		// Whatever ends it, the execution is read once more.
		_ = l.service.Watch(watching, l.principal, id, 0, func(routine.Event) error {
			select {
			case changed <- struct{}{}:
			default: // a change is waiting already, and the row is read after it
			}
			return nil
		})
	})
	beat := time.NewTicker(httpapi.KeepAliveInterval)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-changed:
			err = l.readAgain(id)
		case <-beat.C:
			err = l.stream.KeepAlive()
		case <-ended:
			_ = l.readAgain(id) // this was the last chance
			return
		}
		if err != nil || l.sent[liveEnd] != "" {
			return
		}
	}
}

// readAgain sends what has changed since the last time, if the person may still see it.
func (l *liveRun) readAgain(id string) (err error) {
	if l.principal, err = l.signedInPrincipal(); err != nil {
		return err
	}
	e, err := l.service.Execution(l.Context(), l.principal, id)
	if err != nil {
		return err
	}
	return l.update(e)
}

// liveEnd is the event of the end. Its data is the status.
const liveEnd = "end"

// update sends the rows and the head that have changed, and the end of the run once.
func (l *liveRun) update(e *routine.Execution) error {
	v := &runView{Execution: e, Queue: l.queueText(e), Table: newWaterfall(e, l.definition, time.Now())}
	v.Elapsed = time.Since(e.CreatedAt).Seconds()
	var rows strings.Builder
	for _, row := range v.Table.Rows {
		text, err := l.changed(row.ID, "operation-row", row)
		if err != nil {
			return err
		}
		if rows.WriteString(text); rows.Len() > maxRowsBytes {
			if err := l.send("rows", rows.String()); err != nil {
				return err
			}
			rows.Reset()
		}
	}
	if err := l.send("rows", rows.String()); err != nil {
		return err
	}
	head, err := l.changed("run-status", "run-status", v)
	if err != nil {
		return err
	}
	if err := l.send("head", head); err != nil || e.Open() || l.sent[liveEnd] != "" {
		return err
	}
	l.sent[liveEnd] = string(e.Status)
	return l.send(liveEnd, string(e.Status))
}

// changed returns the HTML of an element of the page, and nothing if it was sent before.
func (l *liveRun) changed(id, template string, data any) (string, error) {
	var text bytes.Buffer
	if err := l.pages["execution"].ExecuteTemplate(&text, template, data); err != nil {
		return "", routine.Internal("render "+template, err)
	}
	// A carriage return would end a line of the event.
	html := strings.ReplaceAll(text.String(), "\r", "&#13;")
	if l.sent[id] == html {
		return "", nil
	}
	l.sent[id] = html
	return html, nil
}

// send sends an event, unless it has no data.
func (l *liveRun) send(event, data string) error {
	if data == "" {
		return nil
	}
	return l.stream.Send(0, event, []byte(data))
}
