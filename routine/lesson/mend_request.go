package lesson

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/lesson/jsonobject"
	"rote/routine/requests"
)

// requestCandidates proposes the requests that the page itself makes today.
func (s *search) requestCandidates(ctx context.Context, o routine.Operation) []candidate.Candidate {
	log, err := s.page.Requests(ctx, 0)
	if err != nil {
		return nil
	}
	at, err := s.page.URL(ctx)
	if err != nil {
		return nil
	}
	from := requests.Origins{Secrets: s.secrets}
	if values, err := s.page.PageValues(ctx); err == nil {
		from.Pages = []routine.PageValues{values}
	}
	for _, p := range s.parameters {
		if v := s.values[p.Name]; v != nil && !p.Secret && p.Type != routine.TypeFiles {
			from.Typed = append(from.Typed, requests.Typed{Name: p.Name, Value: v})
		}
		from.Keys = append(from.Keys, p.Name)
	}
	was, _ := candidate.EndpointOf(o, at)
	return candidate.ForRequest(o, at, log, func(r routine.Request) (json.RawMessage, []json.RawMessage, error) {
		traced, err := requests.Trace(log, r.Number, from)
		if err != nil {
			return nil, nil, err
		}
		if len(traced.Parameters) > 0 { // a secret that nothing gives
			return nil, nil, routine.Errorf(routine.CodeInvalid, "the request has a value that comes from nowhere")
		}
		var made struct {
			Endpoint json.RawMessage `json:"endpoint"`
		}
		if err := json.Unmarshal(traced.Operation, &made); err != nil {
			return nil, nil, err
		}
		endpoint, err := withOldValues(made.Endpoint, was, at)
		return endpoint, traced.Before, err
	})
}

// withOldValues returns an endpoint in which the query values and the fields of the body that
// the old one has too are what they were there, with their placeholders. Its URL stays
// relative to the page if the old one was.
func withOldValues(endpoint json.RawMessage, was candidate.Endpoint, pageURL string) (json.RawMessage, error) {
	var now candidate.Endpoint
	if err := json.Unmarshal(endpoint, &now); err != nil {
		return nil, err
	}
	address := withOldQuery(now.URL, was.URL)
	if page, err := url.Parse(pageURL); err == nil && strings.HasPrefix(was.URL, "/") {
		address = cmp.Or(strings.TrimPrefix(address, page.Scheme+"://"+page.Host), "/")
	}
	endpoint, err := jsonobject.Set(endpoint, "url", routine.RawJSON(address))
	if err != nil {
		return nil, err
	}
	var old, body map[string]json.RawMessage
	if json.Unmarshal(was.Body, &old) != nil || json.Unmarshal(now.Body, &body) != nil {
		return endpoint, nil
	}
	merged := now.Body
	for name, value := range old {
		if _, both := body[name]; both {
			if merged, err = jsonobject.Set(merged, name, value); err != nil {
				return nil, err
			}
		}
	}
	return jsonobject.Set(endpoint, "body", merged)
}

// withOldQuery returns a URL with the values of another one's query where both have the name.
func withOldQuery(now, was string) string {
	address, query, found := strings.Cut(now, "?")
	if !found {
		return now
	}
	old := map[string]string{}
	_, oldQuery, _ := strings.Cut(was, "?")
	for pair := range strings.SplitSeq(oldQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		old[unescapedName(name)] = pair
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if before, ok := old[unescapedName(name)]; ok {
			pairs[i] = before
		}
	}
	return address + "?" + strings.Join(pairs, "&")
}

func unescapedName(name string) string {
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}
