package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-rod/rod/lib/proto"
	"golang.org/x/net/publicsuffix"

	"rote/browser/cdp"
)

// requestSent is the part of Network.requestWillBeSent that the log needs.
type requestSent struct {
	ID          string                    `json:"requestId"`
	Loader      string                    `json:"loaderId"`
	DocumentURL string                    `json:"documentURL"`
	Type        proto.NetworkResourceType `json:"type"`
	WallTime    float64                   `json:"wallTime"` // in seconds since 1970
	Request     struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
		HasBody bool              `json:"hasPostData"`
		// Body has the parts of a body that is not too long to be announced. Files have
		// no bytes.
		Body []struct {
			Bytes []byte `json:"bytes"`
		} `json:"postDataEntries"`
	} `json:"request"`
	Redirect  *responseHead `json:"redirectResponse"`
	Initiator struct {
		Stack struct {
			Frames []struct {
				Function string `json:"functionName"`
				URL      string `json:"url"`
			} `json:"callFrames"`
		} `json:"stack"`
	} `json:"initiator"`
}

// requestHeaders are the headers of a request as they were sent.
type requestHeaders struct {
	ID      string            `json:"requestId"`
	Headers map[string]string `json:"headers"`
}

// kind is the kind of a request for data; empty for others. The answer to a form is
// recognized by the form.
func (e *requestSent) kind() string {
	switch e.Type {
	case proto.NetworkResourceTypeXHR:
		return "xhr"
	case proto.NetworkResourceTypeFetch:
		return "fetch"
	case proto.NetworkResourceTypeEventSource:
		return "eventsource"
	case proto.NetworkResourceTypeDocument:
		if e.Request.Method != "GET" && e.Request.Method != "HEAD" {
			return "form"
		}
	}
	return ""
}

// body is the text that was sent, and whether there was more: a longer body, a file, or
// bytes that are no text.
func (e *requestSent) body() (text string, truncated bool) {
	var all []byte
	for _, part := range e.Request.Body {
		truncated = truncated || part.Bytes == nil
		all = append(all, part.Bytes...)
	}
	switch {
	case len(all) > maxLoggedBody, !utf8.Valid(all):
		return "", true
	case len(all) == 0:
		return "", e.Request.HasBody
	}
	return string(all), truncated
}

// addHeaders adds the headers that are not known yet, without the credentials of the run's proxy.
func (r *loggedRequest) addHeaders(e requestHeaders) {
	known := map[string]bool{}
	for name := range r.Headers {
		known[strings.ToLower(name)] = true
	}
	for name, value := range e.Headers {
		if strings.EqualFold(name, "Content-Length") && value == "0" {
			r.BodyTruncated = false
		}
		if !known[strings.ToLower(name)] && !strings.EqualFold(name, "Proxy-Authorization") {
			r.Headers[name] = value
		}
	}
}

// isOwnFetch reports whether an operation that makes a request has made this one.
func (p *page) isOwnFetch(e *requestSent) bool {
	p.mu.Lock()
	atWork := p.denials.requests != nil
	p.mu.Unlock()
	frames := e.Initiator.Stack.Frames
	return atWork && len(frames) > 0 && frames[0].Function == "request" && frames[0].URL == ""
}

// mayCollect reports whether a request goes to a host that is of another site than the
// page and the frame that makes the request, and is not called an API.
func (p *page) mayCollect(e *requestSent) bool {
	to := hostOf(e.Request.URL)
	site := siteOf(to)
	return site != siteOf(hostOf(e.DocumentURL)) && site != siteOf(hostOf(p.now().url)) && !strings.Contains(to, "api")
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// siteOf is the name under which a host was registered; of others the host itself.
func siteOf(host string) string {
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || net.ParseIP(host) != nil {
		return host
	}
	return site
}

// Limits for reading the bodies of answers.
const (
	bodyTime     = 5 * time.Second
	maxBodyReads = 20 // at once
	// minData is the size in bytes above which a JSON answer of another site counts as
	// data. Hosts that only collect answer with less.
	minData = 200
)

// finished records that an answer is complete, and reads its body at once: the browser
// may forget it when the page navigates.
func (l *requestLog) finished(p *page, session proto.TargetSessionID, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.open[id]
	if r == nil {
		return
	}
	l.complete(r)
	switch {
	case r.foreign && !isJSON(r.ContentType):
		l.hide(r)
		return
	case r.Kind == "eventsource", !isTextual(r.ContentType):
		return
	case r.AnswerSize > maxLoggedBody, l.reading >= maxBodyReads:
		r.AnswerLost = true
		l.judge(r)
		return
	}
	l.reading++
	body := p.i.client.Send(session, "Network.getResponseBody", proto.NetworkGetResponseBody{RequestID: proto.NetworkRequestID(id)})
	go l.receive(p, r, body)
}

// receive waits for the body of an answer.
func (l *requestLog) receive(p *page, r *loggedRequest, f *cdp.Future) {
	ctx, cancel := context.WithTimeout(l.ctx, bodyTime)
	defer cancel()
	raw, err := p.Await(ctx, f)
	var body []byte
	if err == nil {
		body, err = decodeBody(raw)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading--
	close(l.read)
	l.read = make(chan struct{})
	r.AnswerSize = max(r.AnswerSize, int64(len(body)))
	if err != nil || len(body) > maxLoggedBody {
		r.AnswerLost = true
	} else {
		r.Answer = body
	}
	l.judge(r)
}

// judge decides whether a request to another site was one for data. l.mu is held.
func (l *requestLog) judge(r *loggedRequest) {
	switch {
	case !slices.Contains(l.entries, r): // it was dropped meanwhile
	case r.foreign && r.AnswerSize <= minData:
		l.hide(r)
	default:
		r.foreign = false
		l.bound(r)
	}
}

// errNoText is the error for a body that is no text.
var errNoText = errors.New("the body is no text")

// decodeBody decodes the result of Network.getResponseBody.
func decodeBody(raw []byte) ([]byte, error) {
	var result proto.NetworkGetResponseBodyResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	body := []byte(result.Body)
	if result.Base64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(result.Body); err != nil {
			return nil, err
		}
	}
	if !utf8.Valid(body) {
		return nil, errNoText
	}
	return body, nil
}

func isJSON(mimeType string) bool {
	return strings.HasSuffix(mimeType, "json") // also application/problem+json
}

// isTextual reports whether bodies of the type are kept.
func isTextual(mimeType string) bool {
	switch {
	case mimeType == "text/css", mimeType == "text/javascript":
		return false
	case isJSON(mimeType), strings.HasPrefix(mimeType, "text/"), strings.HasSuffix(mimeType, "xml"), strings.HasSuffix(mimeType, "csv"):
		return true
	}
	return mimeType == "application/x-www-form-urlencoded" || mimeType == "application/x-ndjson"
}
