package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"golang.org/x/net/publicsuffix"

	"rote/browser"
	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/recording"
	"rote/routine/requests"
)

// view is a page, or a frame with a process of its own.
type view struct {
	session proto.TargetSessionID
	w       *Window
	// page is the target of its page; isPage reports whether it is the page itself.
	page   string
	isPage bool
	// url is that of the page's document; loader is the document's.
	url    string
	loader proto.NetworkLoaderID
	// asked reports whether we have asked for the navigation that comes next.
	asked bool
	// handling reports whether the page handles what was reported last, and followed whether it has
	// begun a navigation meanwhile: the operation itself waits for that one.
	handling, followed bool
	// entry is the entry of the history that is shown.
	entry int
	// dialog is the kind of the dialog that is open.
	dialog string
}

var _ cdp.Session = (*view)(nil)

// Send implements [cdp.Session].
func (v *view) Send(m proto.Request) *cdp.Future { return v.w.client.Send(v.session, m.ProtoReq(), m) }

// SendAll implements [cdp.Session].
func (v *view) SendAll(ms ...proto.Request) []*cdp.Future {
	return v.w.client.SendAll(v.session, ms...)
}

// Await implements [cdp.Session].
func (v *view) Await(ctx context.Context, f *cdp.Future) ([]byte, error) { return f.Wait(ctx) }

// event handles an event of a view; v is nil for that of the browser. It must not block.
func (w *Window) event(v *view, method string, params json.RawMessage) {
	switch method {
	case "Target.attachedToTarget":
		if e, ok := cdp.Decode[proto.TargetAttachedToTarget](params); ok {
			w.attached(v, &e)
		}
	case "Target.detachedFromTarget":
		if e, ok := cdp.Decode[proto.TargetDetachedFromTarget](params); ok {
			w.detached(e.SessionID)
		}
	case "Browser.downloadWillBegin":
		w.send(recording.Event{Kind: recording.Download})
	case "Runtime.bindingCalled":
		if e, ok := cdp.Decode[proto.RuntimeBindingCalled](params); ok && v != nil && e.Name == browser.RecorderBinding {
			w.reported(v, &e)
		}
	case "Network.requestWillBeSent":
		if e, ok := cdp.Decode[requestSent](params); ok && v != nil {
			w.sent(v, &e)
		}
	case "Page.frameRequestedNavigation":
		if e, ok := cdp.Decode[proto.PageFrameRequestedNavigation](params); ok && v != nil && v.isPage && string(e.FrameID) == v.page {
			v.followed = v.followed || v.handling
		}
	case "Page.frameNavigated":
		if e, ok := cdp.Decode[frameNavigated](params); ok && v != nil && v.isPage && e.Frame.Parent == "" {
			w.navigated(v, e.Frame.URL, e.Frame.Loader)
		}
	case "Page.navigatedWithinDocument":
		if e, ok := cdp.Decode[proto.PageNavigatedWithinDocument](params); ok && v != nil && v.isPage && string(e.FrameID) == v.page {
			w.navigated(v, e.URL, "")
		}
	case "Page.javascriptDialogOpening":
		if e, ok := cdp.Decode[proto.PageJavascriptDialogOpening](params); ok && v != nil {
			v.dialog = string(e.Type)
		}
	case "Page.javascriptDialogClosed":
		if e, ok := cdp.Decode[proto.PageJavascriptDialogClosed](params); ok && v != nil {
			w.send(recording.Event{Kind: recording.Dialog, Page: v.page, Asked: v.dialog, Accepted: e.Result, Text: e.UserInput})
		}
	}
}

// requestSent is the part of the event that is needed.
type requestSent struct {
	Type    proto.NetworkResourceType `json:"type"`
	Request struct {
		Method   string            `json:"method"`
		URL      string            `json:"url"`
		PostData string            `json:"postData"`
		Headers  map[string]string `json:"headers"`
	} `json:"request"`
}

// sent tells of a request that may change something on the site of its page.
func (w *Window) sent(v *view, e *requestSent) {
	data := e.Type == proto.NetworkResourceTypeDocument || e.Type == proto.NetworkResourceTypeXHR || e.Type == proto.NetworkResourceTypeFetch
	if !data || requests.Safe(&routine.Request{Method: e.Request.Method, Body: e.Request.PostData, Headers: e.Request.Headers}) {
		return
	}
	w.mu.Lock()
	page, _ := url.Parse(w.urlOf(v.page))
	w.mu.Unlock()
	to, err := url.Parse(e.Request.URL)
	if err == nil && page != nil && siteOf(page.Hostname()) == siteOf(to.Hostname()) {
		w.send(recording.Event{Kind: recording.Sent, Page: v.page, Text: e.Request.Method + " " + to.Path})
	}
}

// siteOf returns the registrable domain of a host, or the host if it has none.
func siteOf(host string) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// frameNavigated is the part of the event that is needed.
type frameNavigated struct {
	Frame struct {
		Parent string                `json:"parentId"`
		Loader proto.NetworkLoaderID `json:"loaderId"`
		URL    string                `json:"url"`
	} `json:"frame"`
}

// attached watches a new page, or a frame of around with a process of its own. Both are paused.
func (w *Window) attached(around *view, e *proto.TargetAttachedToTarget) {
	if around == nil && e.TargetInfo.Type != "page" { // the hidden page of logIn
		w.client.ResumeTarget(e)
		return
	}
	v := &view{session: e.SessionID, w: w, page: string(e.TargetInfo.TargetID), isPage: e.TargetInfo.Type == "page"}
	if around != nil {
		v.page = around.page
	}
	w.mu.Lock()
	if slices.ContainsFunc(slices.Collect(maps.Values(w.views)), func(o *view) bool { return v.isPage && o.isPage && o.page == v.page }) {
		w.mu.Unlock() // somebody else looks at the page too
		w.client.ResumeTarget(e)
		return
	}
	w.views[v.session] = v
	if v.isPage {
		w.pages++
	}
	w.mu.Unlock()
	w.client.Listen(v.session, func(method string, params json.RawMessage) { w.event(v, method, params) })
	for _, f := range v.SendAll(proto.PageEnable{}, proto.NetworkEnable{}, proto.RuntimeEnable{},
		proto.RuntimeAddBinding{Name: browser.RecorderBinding, ExecutionContextName: browser.RecorderWorld},
		proto.PageAddScriptToEvaluateOnNewDocument{Source: w.script, WorldName: browser.RecorderWorld},
		proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true, Filter: proto.TargetTargetFilter{{Type: "iframe"}}}) {
		f.Forget()
	}
	if agent := w.config.UserAgent; agent != "" {
		v.Send(proto.EmulationSetUserAgentOverride{UserAgent: agent}).Forget()
	}
	w.client.ResumeTarget(e)
	if !v.isPage {
		return
	}
	if opener := string(e.TargetInfo.OpenerID); opener != "" {
		w.send(recording.Event{Kind: recording.Opened, Page: v.page, Opener: opener})
	}
	select {
	case w.opened <- struct{}{}:
	default:
	}
}

// detached forgets a page or frame that is gone.
func (w *Window) detached(session proto.TargetSessionID) {
	w.client.Unlisten(session)
	w.mu.Lock()
	v := w.views[session]
	delete(w.views, session)
	last := false
	if v != nil && v.isPage {
		w.pages--
		last = w.pages == 0
	}
	w.mu.Unlock()
	if v == nil || !v.isPage {
		return
	}
	w.send(recording.Event{Kind: recording.Closed, Page: v.page})
	if last {
		w.later(w.checkEmpty)
	}
}

// checkEmpty ends the browser if it has no page.
func (w *Window) checkEmpty() {
	w.mu.Lock()
	pages := w.pages
	w.mu.Unlock()
	if pages == 0 {
		w.client.Send("", "Browser.close", nil).Forget()
	}
}

// handled is what a script reports when its page has handled what it has reported before.
const handled recording.Kind = "handled"

// reported handles what a script in a page has reported. A frame of another origin than its page
// gets the first of its selectors that no other frame knows: operations search them all.
func (w *Window) reported(v *view, e *proto.RuntimeBindingCalled) {
	var told recording.Event
	if json.Unmarshal([]byte(e.Payload), &told) != nil {
		return
	}
	switch told.Kind {
	case recording.Click, recording.Press:
		v.handling, v.followed = true, false
	case handled:
		v.handling = false
		return
	}
	w.mu.Lock()
	told.URL = w.urlOf(v.page)
	w.mu.Unlock()
	told.Page, told.At = v.page, time.Now()
	told.Document = fmt.Sprintf("%s %d", v.session, e.ExecutionContextID)
	w.later(func() {
		if told.About != nil {
			told.About.Proposals = w.unambiguous(v, e.ExecutionContextID, told.About.Proposals)
		}
		w.give(told)
	})
}

// urlOf is the URL of a page. w.mu is held.
func (w *Window) urlOf(page string) string {
	for _, v := range w.views {
		if v.isPage && v.page == page {
			return v.url
		}
	}
	return ""
}

// navigated handles another URL of a page: the person has opened it, or an operation led to it.
func (w *Window) navigated(v *view, to string, loader proto.NetworkLoaderID) {
	w.mu.Lock()
	before, asked := v.url, v.asked
	v.url = to
	followed := loader != "" && v.followed
	if loader != "" {
		v.loader, v.asked, v.handling, v.followed = loader, false, false, false
	}
	w.mu.Unlock()
	if to == "about:blank" || strings.HasPrefix(to, "chrome") {
		return
	}
	at := time.Now()
	w.later(func() {
		switch by := w.reason(v, to); {
		case asked:
		case by:
			w.give(recording.Event{Kind: recording.Navigate, Page: v.page, URL: to, At: at})
		case before != to:
			w.give(recording.Event{Kind: recording.Moved, Page: v.page, URL: to, At: at, Followed: followed})
		}
	})
}

// commitTime is how long the browser may take to note in the history what a page has told.
const commitTime = 300 * time.Millisecond

// reason reports whether the person has asked for the page that is shown: in the address bar or by
// the history. It notes the entry of the history.
func (w *Window) reason(v *view, to string) bool {
	ctx, cancel := context.WithTimeout(w.ctx, askTime)
	defer cancel()
	before := v.entry
	for end := time.Now().Add(commitTime); ; {
		history, err := cdp.Call[proto.PageGetNavigationHistoryResult](ctx, v, proto.PageGetNavigationHistory{})
		if err != nil || history.CurrentIndex < 0 || history.CurrentIndex >= len(history.Entries) {
			return false
		}
		now := history.Entries[history.CurrentIndex]
		reloaded := now.TransitionType == proto.PageTransitionTypeReload
		if sameDocument(now.URL, to) && (now.ID != before || reloaded) || time.Now().After(end) {
			v.entry = now.ID
			return now.ID == before && reloaded || now.ID != before && chosen(&history, before)
		}
	}
}

// sameDocument reports whether two URLs differ at most in their fragments.
func sameDocument(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return a == b
}

// chosen reports whether the person has chosen the present entry of a history after another one.
func chosen(history *proto.PageGetNavigationHistoryResult, before int) bool {
	now := history.Entries[history.CurrentIndex]
	if history.CurrentIndex < len(history.Entries)-1 { // back or forward
		return true
	}
	switch now.TransitionType {
	case proto.PageTransitionTypeTyped, proto.PageTransitionTypeAutoBookmark, proto.PageTransitionTypeAddressBar, proto.PageTransitionTypeKeyword:
		return true
	}
	return now.ID < before && slices.ContainsFunc(history.Entries, func(e *proto.PageNavigationEntry) bool { return e.ID == before })
}

// world is the recorder's world in a frame.
type world struct {
	view    *view
	context proto.RuntimeExecutionContextID
}

// evaluate evaluates an expression in a world.
func evaluate[R any](ctx context.Context, in world, expression string) (R, error) {
	var result R
	value, err := cdp.Evaluate(ctx, in.view, proto.RuntimeEvaluate{ContextID: in.context, Expression: expression, ReturnByValue: true})
	if err != nil || value.Value == nil {
		return result, err
	}
	return result, json.Unmarshal(value.Value, &result)
}

// worlds are the recorder's worlds in all frames of all pages.
func (w *Window) worlds(ctx context.Context) []world {
	w.mu.Lock()
	var views []*view
	for _, v := range w.views {
		views = append(views, v)
	}
	w.mu.Unlock()
	var all []world
	for _, v := range views {
		all = append(all, v.worlds(ctx)...)
	}
	return all
}

// maxFrames is how many frames of a view are asked at most.
const maxFrames = 50

// worlds are the recorder's worlds in the frames of a view.
func (v *view) worlds(ctx context.Context) []world {
	tree, err := cdp.Call[proto.PageGetFrameTreeResult](ctx, v, proto.PageGetFrameTree{})
	if err != nil {
		return nil
	}
	var all []world
	for frames := []*proto.PageFrameTree{tree.FrameTree}; len(frames) > 0 && len(all) < maxFrames; frames = frames[1:] {
		frames = append(frames, frames[0].ChildFrames...)
		made, err := cdp.Call[proto.PageCreateIsolatedWorldResult](ctx, v,
			proto.PageCreateIsolatedWorld{FrameID: frames[0].Frame.ID, WorldName: browser.RecorderWorld})
		if err == nil {
			all = append(all, world{v, made.ExecutionContextID})
		}
	}
	return all
}

// unambiguous returns the selectors that match nothing in other frames of the page, for an element
// of a frame with a process of its own.
func (w *Window) unambiguous(v *view, own proto.RuntimeExecutionContextID, proposals []recording.Selector) []recording.Selector {
	if v.isPage {
		return proposals
	}
	ctx, cancel := context.WithTimeout(w.ctx, askTime)
	defer cancel()
	others := slices.DeleteFunc(w.worlds(ctx), func(in world) bool { return in.view.page != v.page || in.view == v && in.context == own })
	return slices.DeleteFunc(proposals, func(s recording.Selector) bool {
		text, _ := json.Marshal(s.Selector) // a text can be encoded
		return slices.ContainsFunc(others, func(in world) bool {
			found, err := evaluate[bool](ctx, in, "document.querySelector("+string(text)+") !== null")
			return err == nil && found
		})
	})
}
