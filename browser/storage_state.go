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
	"rote/routine"
)

// Limits of a saved state.
const (
	maxOrigins    = 100
	maxStateBytes = 4 << 20
)

// storageState is the state of a context that is kept for the next run of its project.
type storageState struct {
	Cookies []storedCookie `json:"cookies"`
	Storage []storedOrigin `json:"storage"`
}

// projectStorage is what the run reads and writes of its project's state.
type projectStorage struct {
	// restored is the state that the context was opened with. Only the run's goroutine
	// uses it.
	restored storageState
	visited  map[string]bool // the sites to save the storage of; nil: nothing is saved
	blank    bool            // documents are empty ones of ours
}

// storedCookie is a cookie as Storage.setCookies takes it.
type storedCookie struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Domain string `json:"domain,omitempty"`
	// URL replaces the domain of a host-only cookie.
	URL          string          `json:"url,omitempty"`
	Path         string          `json:"path"`
	Expires      float64         `json:"expires,omitempty"` // Unix seconds; 0 for a session cookie
	Secure       bool            `json:"secure"`
	HTTPOnly     bool            `json:"httpOnly"`
	SameSite     string          `json:"sameSite,omitempty"`
	Priority     string          `json:"priority,omitempty"`
	SourceScheme string          `json:"sourceScheme,omitempty"`
	SourcePort   int             `json:"sourcePort,omitempty"`
	PartitionKey json.RawMessage `json:"partitionKey,omitempty"`
}

// storedOrigin is the local storage of a site. Items are [key, value] pairs as JSON that
// the page's JSON.stringify has written. They are not decoded, because a text may contain
// what Go strings cannot, such as half a surrogate pair.
type storedOrigin struct {
	Origin string          `json:"origin"`
	Items  json.RawMessage `json:"items"`
}

// restore writes a saved state to the page's context.
func (p *page) restore(ctx context.Context, state []byte) error {
	p.mu.Lock()
	p.storage.visited = map[string]bool{}
	p.mu.Unlock()
	if len(state) == 0 {
		return nil
	}
	if err := json.Unmarshal(state, &p.storage.restored); err != nil {
		return fmt.Errorf("read the saved state: %w", err)
	}
	_, err := p.Await(ctx, p.i.client.Send("", "Storage.setCookies", map[string]any{"browserContextId": p.context, "cookies": p.storage.restored.Cookies}))
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
	state := storageState{Cookies: cookies, Storage: slices.DeleteFunc(p.storage.restored.Storage, func(o storedOrigin) bool { return visited[o.Origin] })}
	err = p.onBlankPages(ctx, func(visit func(origin string) error) error {
		for origin := range visited {
			if err := visit(origin); err != nil {
				return err
			}
			v, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: "JSON.stringify(Object.entries(localStorage))", ReturnByValue: true})
			if err != nil {
				return fmt.Errorf("read the storage of %s: %w", origin, err)
			}
			items, err := cdp.Unquote(v.Value)
			if err != nil {
				return err
			}
			if *items != "[]" {
				state.Storage = append(state.Storage, storedOrigin{origin, json.RawMessage(*items)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(state.Storage, func(a, b storedOrigin) int { return strings.Compare(a.Origin, b.Origin) })
	b, err := json.Marshal(state)
	if err == nil && len(b) > maxStateBytes {
		err = routine.Errorf(routine.CodeResultTooLarge, "cookies and local storage have %d bytes, at most %d are kept", len(b), maxStateBytes)
	}
	return b, err
}

func (p *page) cookiesToSave(ctx context.Context) ([]storedCookie, error) {
	b, err := p.Await(ctx, p.i.client.Send("", "Storage.getCookies", map[string]any{"browserContextId": p.context}))
	if err != nil {
		return nil, fmt.Errorf("read the cookies: %w", err)
	}
	var all struct {
		Cookies []storedCookie `json:"cookies"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for i := range all.Cookies {
		c := &all.Cookies[i]
		c.Expires = max(c.Expires, 0)
		if !strings.HasPrefix(c.Domain, ".") {
			scheme := "http"
			if c.Secure {
				scheme = "https"
			}
			c.URL, c.Domain = (&url.URL{Scheme: scheme, Host: c.Domain, Path: c.Path}).String(), ""
		}
	}
	return all.Cookies, nil
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
	if p.storage.visited == nil || p.storage.blank || len(p.storage.visited) >= maxOrigins {
		return
	}
	if u, err := url.Parse(document); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		p.storage.visited[u.Scheme+"://"+u.Host] = true
	}
}
