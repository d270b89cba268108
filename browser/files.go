package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// carriedFile is a file as the helper gets it. Without content it says what kind of
// file is searched a place for.
type carriedFile struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Base64 string `json:"base64,omitempty"`
}

// chooserTime bounds the wait for a file chooser after a click.
const chooserTime = time.Second

// chooser is a file chooser that a page has asked for. It is never shown.
type chooser struct {
	session proto.TargetSessionID
	frame   proto.PageFrameID
	input   proto.DOMBackendNodeID // 0: no input has asked for it
}

// upload hands the files of one operation in.
type upload struct {
	*page
	t     routine.Typing
	files []carriedFile
}

// handIn gives files to the page as a person does who chooses them. They are set in
// the page's memory: none is written to disk. A file input takes them at once. What
// is none, nor leads to one, is clicked, and the input that then asks for a file
// chooser takes them; else they are dropped onto it.
func (p *page) handIn(ctx context.Context, t routine.Typing) (routine.Match, error) {
	if err := p.checkExposed(ctx, "no files may be handed in"); err != nil {
		return routine.Match{Final: true}, err
	}
	u := &upload{page: p, t: t}
	o := options{Scroll: true, Press: true}
	for _, f := range t.Files {
		u.files = append(u.files, carriedFile{f.Name, f.Type, base64.StdEncoding.EncodeToString(f.Data)})
		o.Files = append(o.Files, carriedFile{Name: f.Name, Type: f.Type})
	}
	defer p.input.acting.Store(false)
	for {
		s, err := p.actionable(ctx, t.Selector, o)
		if err != nil {
			return s.asFound(), err
		}
		before := p.now()
		p.input.acting.Store(true)
		again, err := u.give(ctx, s, before)
		p.input.acting.Store(false)
		switch {
		case err != nil && ctx.Err() != nil && !errors.Is(err, errCrashed):
			return s.asFound(), p.orRemoved(ctx, t.Selector, "while files were handed in", routine.Errorf(routine.CodeElementNotActionable,
				"%q was found, but the time was over before it had the files", t.Selector))
		case err != nil:
			found := s.asFound()
			found.Final = routine.CodeOf(err) == routine.CodeElementNotActionable
			return found, p.failure(ctx, err)
		case again:
			o.Unsteady = true
		default:
			return s.asFound(), p.failure(ctx, p.follow(ctx, before))
		}
	}
}

// give passes the files to the element. again reports whether the element has to be
// searched again.
func (u *upload) give(ctx context.Context, s actionPoint, before navState) (again bool, err error) {
	if s.Set {
		why, err := help[string](ctx, s.view, "setFiles", u.files)
		if errors.Is(err, cdp.ErrGone) || why == "gone" {
			return true, nil
		}
		return false, u.refused(why, err)
	}
	asked, missed, err := u.click(ctx, s, before)
	switch {
	case err != nil || missed:
		return missed, err
	case asked == nil && u.requestsDocument(before):
		return false, routine.Errorf(routine.CodeElementNotActionable, "%q led to another page when it was clicked, and opened no file chooser", u.t.Selector)
	case asked == nil:
		return false, u.drop(ctx, s)
	case asked.input == 0:
		return false, u.refused("opens a file picker without an input (showOpenFilePicker), which x-files cannot answer", nil)
	}
	why, err := u.choose(ctx, asked)
	return false, u.refused(why, err)
}

// refused is the error of a page that did not take the files; nil for no reason.
func (u *upload) refused(why string, err error) error {
	if err != nil || why == "" {
		return err
	}
	return routine.Errorf(routine.CodeElementNotActionable, "%q %s", u.t.Selector, why)
}

// click clicks and waits up to chooserTime for the page to open a file chooser; asked is
// nil if it opens none. missed reports whether the click did not reach the element.
func (u *upload) click(ctx context.Context, s actionPoint, before navState) (asked *chooser, missed bool, err error) {
	sessions := []cdp.Session{u.page}
	if s.view.session != u.session {
		sessions = append(sessions, s.view)
	}
	u.choosing(nil)
	for _, in := range sessions {
		if _, err := cdp.Call[any](ctx, in, proto.PageSetInterceptFileChooserDialog{Enabled: true}); err != nil {
			return nil, false, err
		}
		defer func() { in.Send(proto.PageSetInterceptFileChooserDialog{Enabled: false}).Forget() }()
	}
	hit, err := u.pressMouse(ctx, s, routine.Click{Button: "left", Count: 1}, before)
	var lost *lostClick
	if err != nil || hit != "" {
		missed = hit != "" || errors.As(err, &lost)
		if missed {
			err = nil
		}
		return nil, missed, err
	}
	bounded, cancel := context.WithTimeout(ctx, chooserTime)
	defer cancel()
	err = u.waitFor(bounded, func(s navState) (bool, error) {
		asked = u.asked()
		return asked != nil || s.loader != before.loader, nil
	})
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = nil // it asks for none
	}
	return asked, false, err
}

// choosing records the file chooser that the page has opened.
func (p *page) choosing(c *chooser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chooser = c
	p.notify()
}

func (p *page) asked() *chooser {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chooser
}

// noteChooser handles the event of a file chooser.
func (p *page) noteChooser(session proto.TargetSessionID, params json.RawMessage) {
	if e, ok := cdp.Decode[proto.PageFileChooserOpened](params); ok {
		p.choosing(&chooser{session, e.FrameID, e.BackendNodeID})
	}
}

// choose sets the files in the input that has opened a file chooser. It returns the
// reason if the input does not accept them.
func (u *upload) choose(ctx context.Context, c *chooser) (string, error) {
	u.mu.Lock()
	v := u.viewOf(c.frame)
	u.mu.Unlock()
	id, err := v.world(ctx)
	if err != nil {
		return "", err
	}
	input, err := cdp.Call[struct {
		Object cdp.RemoteObject `json:"object"`
	}](ctx, v, proto.DOMResolveNode{BackendNodeID: c.input, ExecutionContextID: id})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(u.files)
	if err != nil {
		return "", err
	}
	files := &proto.RuntimeCallArgument{}
	if err := files.Value.UnmarshalJSON(text); err != nil {
		return "", err
	}
	value, err := cdp.Evaluate(ctx, v, proto.RuntimeCallFunctionOn{ObjectID: proto.RuntimeRemoteObjectID(input.Object.ObjectID),
		FunctionDeclaration: "function(files) { return rote.setFiles(files, this) }", Arguments: []*proto.RuntimeCallArgument{files},
		AwaitPromise: true, ReturnByValue: true})
	if err != nil {
		return "", err
	}
	var why string
	err = json.Unmarshal(value.Value, &why)
	return why, err
}

// drop drops the files onto an element that opens no file chooser.
func (u *upload) drop(ctx context.Context, s actionPoint) error {
	taken, err := help[bool](ctx, s.view, "dropFiles", u.files)
	if err == nil && taken {
		u.warn(fmt.Sprintf("%q opened no file chooser when it was clicked, so the files were dropped onto it: look whether the page has taken them", u.t.Selector))
	}
	if err != nil || taken {
		return err
	}
	return u.refused(fmt.Sprintf("is no file input and leads to none: a click on it opened no file chooser within %v, and no files can be dropped onto it",
		chooserTime), nil)
}
