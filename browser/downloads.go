package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// maxDownloads bounds the files that one run may download.
const maxDownloads = 20

// downloadStartTime is how long after a click, and after the requests that it made, a
// download may still begin. nextDownloadTime is how long after the start of a download
// another one of the same click may begin; maxLateDownload bounds it on a machine that is so busy
// that pages do not keep up. requestTime bounds the wait for those requests.
const (
	downloadStartTime = 500 * time.Millisecond
	nextDownloadTime  = 100 * time.Millisecond
	maxLateDownload   = 2 * time.Second
	requestTime       = 3 * time.Second
)

// download is a file that a page of the run downloads.
type download struct {
	id, name, url string
	received      int64
	// ended says how the download ended: completed, canceled or too large; empty while it
	// is under way. returned reports whether Files has returned it.
	ended    string
	returned bool
}

// The ways in which a download ends.
const (
	downloadCompleted = "completed"
	downloadCanceled  = "canceled"
	downloadTooLarge  = "too large"
)

// downloads are the files of a run. They belong to its first page, whose lock
// guards them.
type downloads struct {
	list []*download
	// maxBytes is how many bytes those may have together; 0 for any number.
	maxBytes int64
	// refused are those beyond maxDownloads, by id; warned counts those for which there was
	// a warning.
	refused map[string]bool
	warned  int
	// types are the media types of documents and other answers, by URL.
	types map[string]string
	// requests are the requests of scripts under way, by id. number counts all so far.
	requests map[string]int
	number   int
}

// sharesFiles reports whether the browser has a directory whose files we can read. The protocol
// has no way to read a file of the browser and to remove it afterwards.
func (p *page) sharesFiles() bool { return p.i.process.Home() != "" }

// downloadDirectory is where the browser puts the files of the run, if it shares files.
func (p *page) downloadDirectory() string {
	return filepath.Join(p.i.process.Home(), p.downloadsBelowHome())
}

// allowDownloads makes the browser store the files that the run's pages download, and
// send events about them. If it shares no files, it stores none and only sends the events. It
// does not wait for the answer.
func (p *page) allowDownloads() *cdp.Future {
	if !p.sharesFiles() {
		return p.i.client.Send("", "Browser.setDownloadBehavior", proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorDeny,
			BrowserContextID: p.context, EventsEnabled: true})
	}
	return p.i.client.Send("", "Browser.setDownloadBehavior", proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorAllowAndName,
		BrowserContextID: p.context, DownloadPath: p.downloadDirectory(), EventsEnabled: true})
}

// downloadEvent handles the browser's events about the downloads of all runs. The page that
// started one may be closed already.
func (t *targets) downloadEvent(method string, params json.RawMessage) {
	begun, _ := cdp.Decode[proto.PageDownloadWillBegin](params)
	on, _ := cdp.Decode[proto.PageDownloadProgress](params)
	for _, p := range t.currentPages() {
		switch {
		case method == "Browser.downloadProgress":
			p.update(func(*navState) { p.downloadProgress(&on) })
		case fileID.MatchString(begun.GUID) && p.hasFrame(begun.FrameID):
			p.update(func(*navState) { p.downloadStarted(&begun) })
		}
	}
}

// hasFrame reports whether a frame is one of the run's.
func (p *page) hasFrame(frame proto.PageFrameID) bool {
	for _, own := range append(p.openPopups(), p) {
		own.mu.Lock()
		_, known := own.frames.reach[frame]
		known = known || own.isMain(frame)
		own.mu.Unlock()
		if known {
			return true
		}
	}
	return false
}

// downloadStarted records a download that has started. p.mu is held.
func (p *page) downloadStarted(e *proto.PageDownloadWillBegin) {
	if slices.ContainsFunc(p.downloads.list, func(d *download) bool { return d.id == e.GUID }) {
		return
	}
	if len(p.downloads.list) >= maxDownloads {
		if p.downloads.refused == nil {
			p.downloads.refused = map[string]bool{}
		}
		p.downloads.refused[e.GUID] = true
		p.cancelDownload(e.GUID)
		return
	}
	p.downloads.list = append(p.downloads.list, &download{id: e.GUID, name: e.SuggestedFilename, url: e.URL})
}

// downloadProgress records the progress of a download, and cancels one that is too large. p.mu is
// held.
func (p *page) downloadProgress(e *proto.PageDownloadProgress) {
	i := slices.IndexFunc(p.downloads.list, func(d *download) bool { return d.id == e.GUID })
	if i < 0 || p.downloads.list[i].ended != "" {
		return
	}
	d := p.downloads.list[i]
	d.received = int64(e.ReceivedBytes)
	switch e.State {
	case proto.PageDownloadProgressStateCompleted:
		d.ended = downloadCompleted
	case proto.PageDownloadProgressStateCanceled:
		d.ended = downloadCanceled
	}
	sum := int64(0)
	for _, other := range p.downloads.list {
		sum += other.received
	}
	if max := p.downloads.maxBytes; max > 0 && (sum > max || int64(e.TotalBytes) > max) {
		d.ended = downloadTooLarge
		p.cancelDownload(d.id)
	}
}

func (p *page) cancelDownload(id string) {
	p.i.client.Send("", "Browser.cancelDownload", proto.BrowserCancelDownload{GUID: id, BrowserContextID: p.context})
}

// trackRequests tracks the requests of a page's scripts, which often fetch the data of a
// file, and records the media types of documents.
func (p *page) trackRequests(method string, e *requestEvent) {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	d := &first.downloads
	switch method {
	case "Network.requestWillBeSent":
		if e.Type == proto.NetworkResourceTypeFetch || e.Type == proto.NetworkResourceTypeXHR {
			if d.requests == nil {
				d.requests = map[string]int{}
			}
			d.number++
			if len(d.requests) < maxRequestTraces {
				d.requests[e.ID] = d.number
			}
		}
	case "Network.responseReceived":
		if e.Type == proto.NetworkResourceTypeDocument && e.Response != nil && len(d.types) < maxRequestTraces {
			if d.types == nil {
				d.types = map[string]string{}
			}
			d.types[e.Response.URL] = e.Response.MIMEType
		}
	default:
		if _, known := d.requests[e.ID]; known {
			delete(d.requests, e.ID)
			first.notify()
		}
	}
}

// Files waits for the downloads that have started and returns those that it has not
// returned yet. If last is set, it also waits a little for a download that the last click
// may still start.
func (t *tabs) Files(ctx context.Context, last bool) ([]routine.File, error) {
	p := t.first
	if last {
		if err := p.awaitDownload(ctx, t.current(ctx)); err != nil {
			return nil, err
		}
	}
	var ended []*download
	err := p.waitFor(ctx, func(navState) (bool, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		ended = nil
		for _, d := range p.downloads.list {
			if d.ended == "" {
				return false, nil
			}
			if !d.returned {
				ended = append(ended, d)
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return p.takeDownloads(ended)
}

// takeDownloads reads and removes the files of downloads that have ended.
func (p *page) takeDownloads(ended []*download) ([]routine.File, error) {
	p.mu.Lock()
	untold := len(p.downloads.refused) - p.downloads.warned
	p.downloads.warned += untold
	p.mu.Unlock()
	if untold > 0 {
		p.warn(fmt.Sprintf("a run is sent %d files at most: %d more were refused", maxDownloads, untold))
	}
	var files []routine.File
	for _, d := range ended {
		p.mu.Lock()
		d.returned = true
		contentType := p.downloads.types[d.url]
		p.mu.Unlock()
		if !p.sharesFiles() {
			return files, routine.Errorf(routine.CodeBrowserUnavailable, "the file %q was not downloaded, because the browser runs elsewhere and shares no "+
				"directory with rote: add #downloads=DIRECTORY to its --browser-url, or run this on a browser of rote's own machine", routine.Truncate(d.name, 100))
		}
		switch d.ended {
		case downloadTooLarge:
			return files, routine.Errorf(routine.CodeResultTooLarge,
				"the file %q has more than the %d bytes that the files of a run may have: raise --max-result", routine.Truncate(d.name, 100), p.downloads.maxBytes)
		case downloadCanceled:
			return files, routine.Errorf(routine.CodeNetworkError, "the file %q did not arrive: its download from %s broke off after %d bytes",
				routine.Truncate(d.name, 100), routine.ShownURL(d.url), d.received)
		}
		data, err := p.readDownload(d.id)
		if err != nil {
			return files, p.unreadable(d.name, err)
		}
		contentType = cmp.Or(contentType, typesByExtension[strings.ToLower(filepath.Ext(d.name))], "application/octet-stream")
		files = append(files, routine.File{FileInfo: routine.FileInfo{Name: d.name, ContentType: contentType, Size: int64(len(data))}, Data: data})
	}
	return files, nil
}

// awaitDownload waits for a download to start: while requests of scripts and the documents
// of popups are under way, and a little longer.
func (p *page) awaitDownload(ctx context.Context, acting *page) error {
	answered, cancel := context.WithTimeoutCause(ctx, requestTime, errLoadBound)
	defer cancel()
	err := p.waitFor(answered, func(navState) (bool, error) {
		on := slices.ContainsFunc(p.openPopups(), func(popup *page) bool { s := popup.now(); return s.requests == 0 || s.current != "" })
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.downloads.requests) == 0 && !on || p.downloads.hasNew(), nil
	})
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err := p.awaitDownloadStart(ctx, downloadStartTime); err != nil {
		return err
	}
	return p.awaitMoreDownloads(ctx, acting)
}

// awaitMoreDownloads waits, if a download has started, until nextDownloadTime has passed
// without the start of another one. On a busy machine, the timers of the page that is acted on
// and the events of the browser are late. Then the wait is repeated, for maxLateDownload at most.
func (p *page) awaitMoreDownloads(ctx context.Context, acting *page) error {
	lastStart := time.Now()
	for started := p.startedDownloads(); started > 0 && time.Since(lastStart) < maxLateDownload; {
		late, err := p.awaitNextDownload(ctx, acting, started)
		if ctx.Err() != nil {
			return err
		}
		switch now := p.startedDownloads(); {
		case now > started:
			started, lastStart = now, time.Now()
		case err != nil || !late:
			return nil // no other one: the next wait reports what may be wrong with the page
		}
	}
	return nil
}

// awaitNextDownload waits for nextDownloadTime, by our clock and by a timer of the page that is
// acted on, or until more downloads have started. late reports whether the machine is so busy that
// the timer took much longer.
func (p *page) awaitNextDownload(ctx context.Context, acting *page, started int) (late bool, err error) {
	begun := time.Now()
	timer := acting.Send(acting.afterTimer(nextDownloadTime))
	defer timer.Forget()
	quiet, cancel := context.WithTimeoutCause(ctx, nextDownloadTime, errLoadBound)
	defer cancel()
	err = p.waitFor(quiet, func(navState) (bool, error) { return p.startedDownloads() > started, nil })
	if !errors.Is(err, errLoadBound) {
		return false, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, maxLateDownload, errLoadBound)
	defer cancel()
	_, _ = acting.Await(bounded, timer) // a document that is gone has no timers either
	return time.Since(begun) > nextDownloadTime*11/10, nil
}

// startedDownloads returns how many downloads have started so far.
func (p *page) startedDownloads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.downloads.list)
}

// typesByExtension are the media types of files without a Content-Type.
var typesByExtension = map[string]string{
	".csv": "text/csv",
	".tsv": "text/tab-separated-values", ".txt": "text/plain", ".md": "text/markdown", ".json": "application/json", ".xml": "application/xml",
	".html": "text/html", ".ics": "text/calendar", ".vcf": "text/vcard", ".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4", ".webm": "video/webm",
	".xls": "application/vnd.ms-excel", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".doc": "application/msword", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// hasNew reports whether there is a download that Files has not returned yet.
func (d *downloads) hasNew() bool {
	return slices.ContainsFunc(d.list, func(d *download) bool { return !d.returned })
}

// awaitDownloadStart waits until a download has started, for atMost at most.
func (p *page) awaitDownloadStart(ctx context.Context, atMost time.Duration) error {
	first := p.first()
	quiet, cancel := context.WithTimeoutCause(ctx, atMost, errLoadBound)
	defer cancel()
	err := first.waitFor(quiet, func(navState) (bool, error) {
		first.mu.Lock()
		defer first.mu.Unlock()
		return first.downloads.hasNew(), nil
	})
	if err != nil && ctx.Err() == nil && first.usable() {
		return nil
	}
	return err
}
