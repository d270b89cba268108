package har

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/requests"
)

// entry is one request of a file.
type entry struct {
	routine.Request
	line, column int
	host         string
	pageRef      string
	// static is set if the answer is a part of the page that has no data, or if the request only
	// reports to a collector.
	static bool
	// data is set if the answer is of a kind that has data.
	data bool
	// sent are the cookies of the request, and set those that the answer sets.
	sent, set []routine.Cookie
	// key is the same for requests that repeat each other.
	key   string
	score int
}

// maxShown is how many characters of a URL are shown.
const maxShown = 120

// shown is the request without values of its query, and without secrets in its path.
func (e *entry) shown() string {
	address, _, _ := strings.Cut(routine.WithoutUser(e.URL), "?")
	address, _, _ = strings.Cut(address, "#")
	parts := strings.Split(address, "/")
	for i, part := range parts {
		if requests.IsSecret("", part) {
			parts[i] = routine.Masked
		}
	}
	return routine.Truncate(routine.OneLine(routine.PlainText(draft.Shown(e.Method)+" "+strings.Join(parts, "/"))), maxShown)
}

const (
	// maxAnswer is the size of the largest answer that is searched for values, maxEncoded that of
	// the largest that is encoded as base64.
	maxAnswer  = 256 << 10
	maxEncoded = 64 << 10
	// maxBody is the size of the largest body that a routine sends.
	maxBody = 256 << 10
)

func readEntry(number int, v *jsontree.Value) *entry {
	request, response := v.Get("request"), v.Get("response")
	e := &entry{line: v.Line, column: v.Column, pageRef: v.Get("pageref").String()}
	e.Number, e.Method, e.URL = number, strings.ToUpper(request.Get("method").String()), request.Get("url").String()
	e.SentAt, _ = time.Parse(time.RFC3339, v.Get("startedDateTime").String())
	e.Status = int(min(max(response.Get("status").Float(), 0), 999))
	if u, err := url.Parse(e.URL); err == nil {
		e.host = u.Hostname()
	}
	e.Headers = headers(request)
	e.sent = cookies(request, "cookie", ";")
	e.set = cookies(response, "set-cookie", "\n")
	e.readBody(request.Get("postData"))
	e.readAnswer(response)
	e.classify(strings.ToLower(v.Get("_resourceType").String()))
	return e
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headers are the headers of a request that are none of HTTP/2's own.
func headers(v *jsontree.Value) map[string]string {
	all := map[string]string{}
	for _, h := range v.Get("headers").Items {
		if name := h.Get("name").String(); headerName.MatchString(name) {
			all[name] = strings.ToValidUTF8(h.Get("value").String(), "\uFFFD")
		}
	}
	return all
}

// header returns the value of a header of a request or answer, whatever the case of its name.
func header(v *jsontree.Value, name string) string {
	for _, h := range v.Get("headers").Items {
		if strings.EqualFold(h.Get("name").String(), name) {
			return h.Get("value").String()
		}
	}
	return ""
}

// removed matches what tools write instead of a value that they leave out.
var removed = regexp.MustCompile(`^$|^[*xX]+$|(?i)redacted|removed|sanitized`)

// cookies are those of the headers with a name, each of which may have several, and those that the
// file lists apart.
func cookies(v *jsontree.Value, name, separator string) []routine.Cookie {
	var all []routine.Cookie
	for _, h := range v.Get("headers").Items {
		if !strings.EqualFold(h.Get("name").String(), name) {
			continue
		}
		for line := range strings.SplitSeq(h.Get("value").String(), separator) {
			pair, attributes, _ := strings.Cut(line, ";")
			if n, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && !removed.MatchString(value) {
				all = append(all, routine.Cookie{Name: n, Value: value, HTTPOnly: strings.Contains(strings.ToLower(attributes), "httponly")})
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, c := range v.Get("cookies").Items {
		if !removed.MatchString(c.Get("value").String()) {
			all = append(all, routine.Cookie{Name: c.Get("name").String(), Value: c.Get("value").String(), HTTPOnly: c.Get("httpOnly").IsTrue()})
		}
	}
	return all
}

// readBody sets the body that was sent. Some files have the fields of a form instead of its text.
func (e *entry) readBody(v *jsontree.Value) {
	e.Body = strings.ToValidUTF8(v.Get("text").String(), "\uFFFD")
	kind := v.Get("mimeType").String()
	if kind != "" && headerOf(e.Headers, "content-type") == "" {
		e.Headers["Content-Type"] = kind
	}
	if fields := v.Get("params").Items; e.Body == "" && len(fields) > 0 {
		if strings.HasPrefix(kind, "multipart/") {
			e.BodyTruncated = true // its parts are not all here
			return
		}
		var pairs []string
		for _, f := range fields {
			pairs = append(pairs, formText(f.Get("name").String())+"="+formText(f.Get("value").String()))
		}
		e.Body = strings.Join(pairs, "&")
	}
	if len(e.Body) > maxBody {
		e.Body, e.BodyTruncated = "", true
	}
}

func headerOf(all map[string]string, name string) string {
	for n, value := range all {
		if strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// encodedText matches the text of a form field that is encoded already, as some tools write it.
var encodedText = regexp.MustCompile(`^[A-Za-z0-9_.~*+-]*(?:%[0-9A-Fa-f]{2}[A-Za-z0-9_.~*+-]*)+$`)

func formText(text string) string {
	if encodedText.MatchString(text) {
		return text
	}
	return url.QueryEscape(text)
}

// readAnswer sets the answer.
func (e *entry) readAnswer(v *jsontree.Value) {
	content := v.Get("content")
	e.ContentType = content.Get("mimeType").String()
	if e.ContentType == "" || e.ContentType == "x-unknown" {
		e.ContentType = header(v, "content-type")
	}
	text := content.Get("text").String()
	e.AnswerSize = int64(max(content.Get("size").Float(), float64(len(text)), 0))
	switch {
	case content.Get("encoding").String() == "base64":
		if len(text) <= maxEncoded {
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(plain) {
				e.Answer = plain
			}
		}
	case len(text) <= maxAnswer:
		e.Answer = []byte(text)
	}
	e.AnswerLost = len(e.Answer) == 0
}

var (
	jsonType   = regexp.MustCompile(`(?i)json`)
	pageType   = regexp.MustCompile(`(?i)html`)
	otherData  = regexp.MustCompile(`(?i)csv|tab-separated|\bxml|\+xml`)
	staticType = regexp.MustCompile(`(?i)^(image|font|audio|video)/|javascript|ecmascript|css|wasm|font|manifest`)
	staticPath = regexp.MustCompile(`(?i)\.(js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|otf|mp4|webm|mp3|wasm|webmanifest)$`)
	collectors = regexp.MustCompile(`(?i)(^|\.)(google-analytics|googletagmanager|analytics|doubleclick|googlesyndication|segment|mixpanel|hotjar|sentry|` +
		`nr-data|newrelic|datadoghq|browser-intake[\w-]*|amplitude|clarity|matomo|piwik|bugsnag|fullstory|optimizely|onetrust|cookielaw|cookiebot|` +
		`criteo|adservice|taboola|outbrain|launchdarkly|rollbar|heap|heapanalytics|quantserve|scorecardresearch|stats)\.`)
	collects = regexp.MustCompile(`(?i)/(collect|beacon|analytics|telemetry|metrics|track|tracking|rum|pixel|ping|csp-report)(/|$)`)
)

// classify finds the kind of the request: as the file tells it, by headers of the browser, or by
// the type of the answer.
func (e *entry) classify(resource string) {
	dest := headerOf(e.Headers, "sec-fetch-dest")
	u, err := url.Parse(e.URL)
	if err != nil {
		u = &url.URL{}
	}
	switch {
	case resource == "xhr", resource == "fetch", resource == "eventsource", resource == "document":
		e.Kind = resource
	case resource != "" && resource != "other":
		e.static = true
	case dest == "empty", headerOf(e.Headers, "x-requested-with") != "":
		e.Kind = "fetch"
	case dest == "document", dest == "iframe":
		e.Kind = "document"
	case dest != "", staticType.MatchString(e.ContentType), staticPath.MatchString(u.Path):
		e.static = true
	case pageType.MatchString(e.ContentType), e.ContentType == "" && strings.HasPrefix(headerOf(e.Headers, "accept"), "text/html"):
		e.Kind = "document"
	default:
		e.Kind = "fetch"
	}
	if e.static || e.Kind == "" {
		e.Kind = "fetch"
	}
	if e.Kind == "document" && e.Method == "POST" {
		e.Kind = "form"
	}
	first := routine.FirstByte(e.Answer)
	plain := first == '{' || first == '['
	e.data = jsonType.MatchString(e.ContentType) || otherData.MatchString(e.ContentType) || plain && !staticType.MatchString(e.ContentType) ||
		pageType.MatchString(e.ContentType) && e.Kind != "document" && e.Kind != "form"
	e.static = e.static || staticType.MatchString(e.ContentType) || e.Method == "OPTIONS" || e.Method == "CONNECT" || e.Kind == "eventsource" ||
		collectors.MatchString("."+e.host) || collects.MatchString(u.Path)
}
