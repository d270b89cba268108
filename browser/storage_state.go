package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine/browserstate"
)

// projectStorage is what the run reads and writes of its project's state.
type projectStorage struct {
	// restored is the state that the context was opened with. Only the run's goroutine
	// uses it.
	restored browserstate.State
	visited  map[string]bool // the sites to save the storage of; nil: nothing is saved
	blank    bool            // documents are empty ones of ours
}

// restore writes a saved state to the page's context.
func (p *page) restore(ctx context.Context, state []byte) error {
	p.mu.Lock()
	p.storage.visited = map[string]bool{}
	p.mu.Unlock()
	if len(state) == 0 {
		return nil
	}
	restored, err := browserstate.Parse(state)
	if err != nil {
		return err
	}
	p.storage.restored = *restored
	_, err = p.Await(ctx, p.i.client.Send("", "Storage.setCookies", map[string]any{"browserContextId": p.context, "cookies": p.storage.restored.Cookies}))
	if err != nil {
		return fmt.Errorf("set the saved cookies: %w", err)
	}
	return p.onBlankPages(ctx, func(visit func(origin string) error) error {
		for _, o := range p.storage.restored.Storage {
			if err := visit(o.Origin); err != nil {
				return err
			}
			_, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: "for (const [key, value] of " + string(o.Items) + ") localStorage.setItem(key, value)"})
			if err != nil {
				return fmt.Errorf("restore the storage of %s: %w", o.Origin, err)
			}
		}
		return nil
	})
}

// State returns the state of the context: its cookies, and the local storage of the sites
// that were visited in this run or when the state was saved. The page is blank afterwards.
func (p *page) State(ctx context.Context) ([]byte, error) {
	state, err := p.save(ctx)
	return state, p.failure(ctx, err)
}

// save does the work of State, without turning its error into that of a run.
func (p *page) save(ctx context.Context) ([]byte, error) {
	cookies, err := p.cookiesToSave(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	visited := p.storage.visited
	p.storage.visited = nil
	p.mu.Unlock()
	state := browserstate.State{Cookies: cookies, Storage: p.storage.restored.Storage}
	state.Storage = slices.DeleteFunc(state.Storage, func(o browserstate.Origin) bool { return visited[o.Origin] })
	err = p.onBlankPages(ctx, func(visit func(origin string) error) error {
		for origin := range visited {
			if err := visit(origin); err != nil {
				return err
			}
			v, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: readStorage, ReturnByValue: true})
			if err != nil {
				return fmt.Errorf("read the storage of %s: %w", origin, err)
			}
			items, err := cdp.Unquote(v.Value)
			if err != nil {
				return err
			}
			if *items != "[]" {
				state.Storage = append(state.Storage, browserstate.Origin{Origin: origin, Items: json.RawMessage(*items)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(state.Storage, func(a, b browserstate.Origin) int { return strings.Compare(a.Origin, b.Origin) })
	return state.Encode()
}

// readStorage reads each entry by its number, because Object.entries leaves out those whose
// names are members of every Storage, such as "length".
const readStorage = `JSON.stringify(Array.from(localStorage, (_, i) => [localStorage.key(i), localStorage.getItem(localStorage.key(i))]))`

func (p *page) cookiesToSave(ctx context.Context) ([]browserstate.Cookie, error) {
	b, err := p.Await(ctx, p.i.client.Send("", "Storage.getCookies", map[string]any{"browserContextId": p.context}))
	if err != nil {
		return nil, fmt.Errorf("read the cookies: %w", err)
	}
	return browserstate.ParseCookies(b)
}

// onBlankPages calls do with requests answered as in answeringBlank. Afterwards the page
// is on about:blank.
func (p *page) onBlankPages(ctx context.Context, do func(visit func(origin string) error) error) error {
	return p.answeringBlank(ctx, func(visit func(origin string) error) error {
		if err := do(visit); err != nil {
			return err
		}
		_, err := p.navigate(ctx, "about:blank")
		return err
	})
}

// answeringBlank calls do while every document request is answered with an empty
// document, so that do can use the storage of an origin without a request to it. The page
// has no history afterwards.
func (p *page) answeringBlank(ctx context.Context, do func(visit func(origin string) error) error) error {
	p.setBlank(true)
	err := cdp.CallAll(ctx, p, cdp.RawRequest("Network.setBypassServiceWorker", map[string]any{"bypass": true}),
		cdp.RawRequest("Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}}))
	if err == nil {
		err = do(func(origin string) error {
			_, err := p.navigate(ctx, origin+"/")
			return err
		})
	}
	p.setBlank(false)
	return errors.Join(err, cdp.CallAll(ctx, p, p.pauseOwn(), proto.PageResetNavigationHistory{},
		cdp.RawRequest("Network.setBypassServiceWorker", map[string]any{"bypass": p.isWatched()})))
}

// answerBlank answers a request that was paused for answeringBlank: documents are empty,
// other requests fail.
func (p *page) answerBlank(params json.RawMessage) {
	e, ok := cdp.Decode[struct {
		ID   proto.FetchRequestID      `json:"requestId"`
		Type proto.NetworkResourceType `json:"resourceType"`
	}](params)
	p.mu.Lock()
	blank := p.storage.blank
	p.mu.Unlock()
	if !ok || !blank {
		return
	}
	if e.Type != proto.NetworkResourceTypeDocument {
		p.Send(proto.FetchFailRequest{RequestID: e.ID, ErrorReason: proto.NetworkErrorReasonBlockedByClient})
		return
	}
	p.Send(cdp.RawRequest("Fetch.fulfillRequest", map[string]any{"requestId": e.ID, "responseCode": 200,
		"responseHeaders": []any{map[string]any{"name": "Content-Type", "value": "text/html"}},
		"body":            base64.StdEncoding.EncodeToString([]byte(emptyDocument))}))
}

// emptyDocument names an icon, because full Chromium asks the site for one otherwise.
const emptyDocument = `<!doctype html><link rel=icon href="data:,">`

// recordVisit records the site of a document whose storage is to be saved, of a popup only if
// the run follows it. p.mu is held.
func (p *page) recordVisit(document string) {
	if first := p.first(); first != p {
		if p.asPopup.followed {
			first.mu.Lock()
			defer first.mu.Unlock()
			first.recordVisit(document)
		}
		return
	}
	if p.storage.visited == nil || p.storage.blank || len(p.storage.visited) >= browserstate.MaxOrigins {
		return
	}
	if u, err := url.Parse(document); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		p.storage.visited[u.Scheme+"://"+u.Host] = true
	}
}
