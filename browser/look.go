package browser

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// lookTime is how long a page has to answer what a lesson asks before its scripts count as
// hung. An ordinary page takes a tenth of a second. On a machine under load it may take
// seconds, and a look at a part of a page is worth less to its reader than a late one.
const lookTime = 4 * time.Second

var (
	//go:embed look.js
	lookSource string
	//go:embed look_list.js
	lookListSource string
	// lookScript defines functions that describe a page. It is sent when somebody looks,
	// so that runs do not pay for it.
	lookScript = withElements("(listsOf => (" + lookSource + "))(" + lookListSource + ")")
)

var _ routine.Teachable = (*tabs)(nil)

// seenLine is a line as the script returns it.
type seenLine struct {
	routine.SeenLine
	// Weight says how important the line is. The least important ones are left out first.
	Weight float64 `json:"weight"`
	// Hit reports whether the line contains all words that were searched for.
	Hit bool `json:"hit"`
	// Frame is the number of the frame of another origin that the line stands for, from
	// 1; 0 if it stands for none.
	Frame int `json:"frame"`
	// Alternatives are other selectors for the same element, in frames of other origins.
	Alternatives []gradedSelector `json:"alternatives"`
}

// gradedSelector is a selector with its grade.
type gradedSelector struct {
	Selector string `json:"selector"`
	Grade    string `json:"grade"`
}

// seenPage is what the script returns about a view.
type seenPage struct {
	URL     string     `json:"url"`
	Title   string     `json:"title"`
	Missing bool       `json:"missing"` // nothing matches the scope
	Partial bool       `json:"partial"`
	Omitted int        `json:"omitted"` // texts for which there are no lines, because there are so many
	Dialog  string     `json:"dialog"`  // the name of an open dialog
	Lines   []seenLine `json:"lines"`
	// Scrolled, Height and Window are in CSS pixels.
	Scrolled int `json:"scrolled"`
	Height   int `json:"height"`
	Window   int `json:"window"`
	// Loading counts the requests of scripts that have no answer yet.
	Loading int `json:"-"`
}

func (t *tabs) Look(ctx context.Context, l routine.Look) (routine.Seen, error) {
	return onCurrent(ctx, t, func(p *page) (routine.Seen, error) { return p.Look(ctx, l) })
}

// Look describes the page. If the page hangs, its scripts are stopped and it is asked
// once more.
func (p *page) Look(ctx context.Context, l routine.Look) (routine.Seen, error) {
	l.Secrets = p.withReleased(l.Secrets)
	if err := p.awaitRest(ctx); err != nil {
		return routine.Seen{}, err
	}
	if err := cmp.Or(p.checkSelector(ctx, l.Scope), p.checkSelector(ctx, l.Extract)); err != nil {
		return routine.Seen{}, err
	}
	seen, err := p.lookOnce(ctx, l)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.interruptScript(ctx)
		seen, err = p.lookOnce(ctx, l)
	}
	return seen, p.describeFailure(ctx, err)
}

// describeFailure is the error for a page that could not be described.
func (p *page) describeFailure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return routine.Errorf(routine.CodeTimeout, "the page is busy and did not answer within %v; look again later, or with a scope", p.b.lookTime)
	case errors.Is(err, cdp.ErrGone):
		return routine.Errorf(routine.CodeNavigationFailed, "the page navigated away while it was being described; look again")
	}
	return p.failure(ctx, err)
}

func (p *page) lookOnce(ctx context.Context, l routine.Look) (routine.Seen, error) {
	if l.Extract != "" {
		return p.extract(ctx, l)
	}
	top, err := p.lookIn(ctx, p.frames.top, l, p.b.lookTime)
	if err != nil {
		return routine.Seen{}, err
	}
	if top.Partial && len(top.Lines) == 0 {
		return routine.Seen{}, context.DeadlineExceeded
	}
	if !top.Missing {
		top.Loading = p.requestsUnderWay()
		p.addFrames(ctx, l, &top)
		return seenText(top, l), nil
	}
	for _, v := range p.currentFrames() { // the scope may be in a frame of another origin
		if inside, err := p.lookIn(ctx, v, l, p.b.lookTime/3); err == nil && !inside.Missing {
			return seenText(inside, l), nil
		}
	}
	return routine.Seen{}, routine.Errorf(routine.CodeElementNotFound, "nothing on the page matches the scope %s", routine.Quote(l.Scope))
}

// lookIn describes one view.
func (p *page) lookIn(ctx context.Context, v *frameView, l routine.Look, limit time.Duration) (seenPage, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return inHelper[seenPage](bounded, v, lookScript+".look", map[string]any{
		"scope": l.Scope, "find": l.Find, "secrets": l.Secrets, "budget": (limit * 6 / 10).Milliseconds()})
}

// addFrames puts the lines of frames of other origins below the lines of the frames, as far
// as the frames answer. A selector that would find an earlier element instead is replaced.
func (p *page) addFrames(ctx context.Context, l routine.Look, top *seenPage) {
	if l.Scope != "" {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime/3)
	defer cancel()
	looked := map[*frameView]*seenPage{p.frames.top: top}
	before := []*frameView{p.frames.top} // in the order in which they are searched
	var order []*frameView
	places := map[*frameView]int{}
	for _, v := range p.currentFrames() {
		place, err := frameNumber(bounded, v)
		if err == nil && place > 0 && looked[v.parent] != nil {
			inside, err := p.lookIn(bounded, v, l, p.b.lookTime/3)
			if err == nil {
				p.replaceAmbiguous(bounded, before, inside.Lines)
				looked[v], places[v] = &inside, place
				order = append(order, v)
			}
		}
		before = append(before, v)
	}
	for _, v := range slices.Backward(order) { // inner frames first
		parent := looked[v.parent]
		at := slices.IndexFunc(parent.Lines, func(x seenLine) bool { return x.Frame == places[v] })
		if at < 0 {
			continue
		}
		lines := looked[v].Lines
		for n := range lines {
			lines[n].Depth += parent.Lines[at].Depth + 1
			lines[n].Frame = 0
		}
		parent.Partial = parent.Partial || looked[v].Partial
		parent.Omitted += looked[v].Omitted
		parent.Lines = slices.Insert(parent.Lines, at+1, lines...)
	}
}

// frameNumber is the number that the last look gave to the frame in its parent view; 0 if
// it gave none.
func frameNumber(ctx context.Context, v *frameView) (int, error) {
	owner, err := cdp.Call[proto.DOMGetFrameOwnerResult](ctx, v.parent, proto.DOMGetFrameOwner{FrameID: v.frame})
	if err != nil {
		return 0, err
	}
	id, err := v.parent.world(ctx)
	if err != nil {
		return 0, err
	}
	element, err := cdp.Call[struct {
		Object cdp.RemoteObject `json:"object"`
	}](ctx, v.parent, proto.DOMResolveNode{BackendNodeID: owner.BackendNodeID, ExecutionContextID: id})
	if err != nil {
		return 0, err
	}
	object := proto.RuntimeRemoteObjectID(element.Object.ObjectID)
	defer v.parent.Send(proto.RuntimeReleaseObject{ObjectID: object})
	value, err := cdp.Evaluate(ctx, v.parent, proto.RuntimeCallFunctionOn{ObjectID: object, ReturnByValue: true,
		FunctionDeclaration: "function() { return (globalThis.roteLookFrames ?? []).indexOf(this) + 1 }"})
	if err != nil {
		return 0, err
	}
	var number int
	return number, json.Unmarshal(value.Value, &number)
}

// replaceAmbiguous replaces the selectors that match something in the views by alternatives
// that do not, and removes those without one.
func (p *page) replaceAmbiguous(ctx context.Context, views []*frameView, lines []seenLine) {
	var all []string
	for _, x := range lines {
		all = append(all, x.Selector)
		for _, a := range x.Alternatives {
			all = append(all, a.Selector)
		}
	}
	taken := takenIn(ctx, views, all)
	taken[""] = true
	for n := range lines {
		x := &lines[n]
		if x.Selector == "" || x.InItem || !taken[x.Selector] {
			continue
		}
		x.Selector, x.Grade = "", ""
		for _, a := range x.Alternatives {
			if !taken[a.Selector] {
				x.Selector, x.Grade = a.Selector, a.Grade
				break
			}
		}
		if x.Selector == "" {
			x.States = append(x.States, "(no selector matches it alone)")
		}
	}
}

// takenIn returns which of the selectors match something in the views, or may do so because
// a view does not answer.
func takenIn(ctx context.Context, views []*frameView, selectors []string) map[string]bool {
	taken := map[string]bool{}
	for _, v := range views {
		counts, err := inHelper[[]int](ctx, v, "(list => list.map(s => s ? rote.inner.all(s, 1).length : 0))", selectors)
		for n, selector := range selectors {
			taken[selector] = taken[selector] || err != nil || counts[n] > 0
		}
	}
	return taken
}

// extract returns how to read a list or a table.
func (p *page) extract(ctx context.Context, l routine.Look) (routine.Seen, error) {
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime)
	defer cancel()
	found, err := inHelper[struct {
		Missing  bool     `json:"missing"`
		Table    bool     `json:"table"`
		Count    int      `json:"count"`
		Script   string   `json:"script"`
		Warnings []string `json:"warnings"`
	}](bounded, p, lookScript+".extract", map[string]any{"extract": l.Extract, "secrets": l.Secrets, "budget": (p.b.lookTime / 2).Milliseconds()})
	if err != nil {
		return routine.Seen{}, err
	}
	if found.Missing {
		return routine.Seen{}, p.nothingToExtract(bounded, l.Extract)
	}
	rows, err := inHelper[[]string](bounded, p, "(secrets => "+lookScript+".rows(secrets, () => "+found.Script+"))", l.Secrets)
	if err != nil {
		return routine.Seen{}, fmt.Errorf("read the first rows: %w", err)
	}
	x := &routine.Extraction{Count: found.Count, Warnings: found.Warnings, Operations: []json.RawMessage{
		operation(map[string]string{"type": "js_evaluate", "session_storage_key": "items", "js": waitingForItems(found.Script)}),
		operation(map[string]string{"type": "return", "session_storage_key": "items"}),
	}}
	for _, row := range rows {
		x.Rows = append(x.Rows, json.RawMessage(row))
	}
	seen := routine.Seen{URL: p.now().url, Extraction: x}
	seen.Text = extractionText(x, l, found.Table)
	return seen, nil
}

// nothingToExtract is the error for a selector that matches nothing that a script could read.
func (p *page) nothingToExtract(ctx context.Context, selector string) error {
	for _, v := range p.currentFrames() {
		if found, err := helpInFrame[bool](ctx, v, "present", selector, 0); err == nil && found {
			return routine.Errorf(routine.CodeElementNotFound, "%s matches only in a frame of another origin, which a script of the page cannot read. "+
				"Navigate to the URL of the frame and extract there, or take the HTML with return_html and this selector", routine.Quote(selector))
		}
	}
	return routine.Errorf(routine.CodeElementNotFound,
		"nothing on the page matches %s; give the selector of a table or of the items of a list", routine.Quote(selector))
}

// operation is an operation of a routine as JSON.
func operation(fields map[string]string) json.RawMessage {
	return routine.RawJSON(fields)
}
