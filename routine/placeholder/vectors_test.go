package placeholder

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

type vectors struct {
	Parameters []struct {
		ID       string         `json:"id"`
		Context  string         `json:"context"`
		Template any            `json:"template"`
		Params   map[string]any `json:"params"`
		Want     any            `json:"want"`
	} `json:"parameter_cases"`
	Page struct {
		SessionStorage map[string]string `json:"sessionStorage"`
		LocalStorage   map[string]string `json:"localStorage"`
		Cookie         string            `json:"cookie"`
		Meta           map[string]string `json:"meta"`
		Window         string            `json:"window"`
	} `json:"storage_page_state"`
	Storage []struct {
		ID         string             `json:"id"`
		Template   string             `json:"template"`
		Want       string             `json:"want"`
		Resolution map[string]*string `json:"placeholder_resolution"`
	} `json:"storage_cases"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	f, err := os.Open("testdata/placeholders.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	var v vectors
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if len(v.Parameters) < 18 || len(v.Storage) < 15 {
		t.Fatalf("only %d and %d cases", len(v.Parameters), len(v.Storage))
	}
	return v
}

// placeOf is the place that a case's text shows.
func placeOf(text string) Place {
	switch {
	case strings.HasPrefix(text, "https://"):
		return URL
	case strings.Contains(text, "["):
		return Selector
	case strings.HasSuffix(text, ".pdf"):
		return Filename
	}
	return Text
}

func TestParameterVectors(t *testing.T) {
	for _, c := range readVectors(t).Parameters {
		t.Run(c.ID, func(t *testing.T) {
			resolve := func(tok Token) (any, bool) {
				v, ok := c.Params[tok.Name]
				return v, ok && tok.Source == Parameter
			}
			var got any
			var err error
			if c.Context == "json" {
				got, err = fillTree(t, c.Template, resolve)
			} else {
				text := c.Template.(string)
				tmpl, faults := Parse(text, placeOf(text))
				if len(faults) > 0 {
					t.Fatal(faults)
				}
				got, err = (&Filling{Resolve: resolve}).Fill(tmpl)
			}
			if want, ok := wantedError(c.Want); ok {
				var bad *InvalidValueError
				if !errors.As(err, &bad) || !strings.Contains(bad.Reason, want) {
					t.Fatalf("error %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func wantedError(want any) (string, bool) {
	m, _ := want.(map[string]any)
	text, ok := m["error"].(string)
	return text, ok
}

func fillTree(t *testing.T, x any, resolve func(Token) (any, bool)) (any, error) {
	t.Helper()
	switch x := x.(type) {
	case string:
		tmpl, faults := Parse(x, Value)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return (&Filling{Resolve: resolve}).Fill(tmpl)
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			v, err := fillTree(t, e, resolve)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	}
	return x, nil
}

// read returns what a page with the vectors' state would return.
func (v vectors) read(source Source, key string) (string, bool, error) {
	values := map[Source]map[string]string{
		SessionStorage: v.Page.SessionStorage, LocalStorage: v.Page.LocalStorage, Meta: v.Page.Meta,
		WindowProperty: {"APP": `{"cfg":{"key":"K1"}}`, "APP.cfg": `{"key":"K1"}`, "APP.cfg.key": "K1"},
		Cookie:         {},
	}
	for _, c := range strings.Split(v.Page.Cookie, "; ") {
		name, value, _ := strings.Cut(c, "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		values[Cookie][name] = value
	}
	text, ok := values[source][key]
	return text, ok, nil
}

func TestStorageVectors(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Storage {
		for _, place := range []Place{Text, Value} {
			t.Run(c.ID, func(t *testing.T) {
				resolution := map[string]*string{}
				tmpl, faults := Parse(c.Template, place)
				if len(faults) > 0 {
					t.Fatal(faults)
				}
				filling := &Filling{Resolve: func(tok Token) (any, bool) {
					switch tok.Source {
					case Parameter:
						return nil, false
					case UUID:
						return uuid.NewString(), true
					}
					text, ok, err := Lookup(t.Context(), tok.Name, func(key string) (string, bool, error) { return v.read(tok.Source, key) })
					if err != nil {
						t.Error(err)
					}
					if !ok || text == "" {
						if text, ok = tok.FallbackText(); !ok {
							resolution[tok.Key] = nil
							return nil, false
						}
					}
					resolution[tok.Key] = &text
					return text, true
				}}
				got, err := filling.Fill(tmpl)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.Resolution, resolution); diff != "" {
					t.Error(diff)
				}
				if c.Want == "<uuid, no quotes>" {
					if _, err := uuid.Parse(got.(string)); err != nil {
						t.Errorf("%q: %v", got, err)
					}
				} else if got != c.Want {
					t.Errorf("got %q, want %q", got, c.Want)
				}
			})
		}
	}
}
