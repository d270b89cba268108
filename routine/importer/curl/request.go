package curl

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
)

// request is what the options of one command say.
type request struct {
	d                   *draft.Draft
	url, method         string
	headers             map[string]string
	data, query         []string
	jsonBody, get, head bool
	filename            string
	remoteName          bool
}

// shown names the request for the account, without query and values.
func (q *request) shown(words []word) string {
	for _, w := range words {
		if strings.Contains(w.text, "://") && !strings.HasPrefix(w.text, "-") && !strings.Contains(w.text, " ") {
			u, _, _ := strings.Cut(strings.ReplaceAll(w.text, mark, ""), "?")
			return routine.ShownURL(u)
		}
	}
	return ""
}

// options reads the arguments.
func (q *request) options(words []word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.shell {
			q.d.Drop("shell", "the output of another command is not known")
			return
		}
		value := func() word {
			if i+1 < len(words) {
				i++
				return words[i]
			}
			return word{}
		}
		switch {
		case strings.HasPrefix(w.text, "--"):
			name, given, has := strings.Cut(w.text[2:], "=")
			o, known := options[name]
			if !known && !silentNames[strings.TrimPrefix(name, "no-")] {
				q.d.Change("option", "the option --%s is left out", draft.Shown(name))
			}
			v := word{text: given}
			if known && o.value && !has {
				v = value()
			}
			q.apply(name, o, v)
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1:
			q.short(w.text[1:], value)
		default:
			q.apply("url", options["url"], w)
		}
	}
}

// maxShort is how many short options may stand together.
const maxShort = 100

// short reads short options, which may stand together: the value of one can follow it at once.
func (q *request) short(text string, value func() word) {
	for i := range min(len(text), maxShort) {
		name, known := letters[text[i]]
		if !known {
			if strings.IndexByte(flags, text[i]) < 0 {
				q.d.Change("option", "the option -%c is left out", text[i])
			}
			continue
		}
		o := options[name]
		if !o.value {
			q.apply(name, o, word{})
			continue
		}
		v := word{text: strings.TrimPrefix(text[i+1:], "=")}
		if i+1 == len(text) {
			v = value()
		}
		q.apply(name, o, v)
		return
	}
}

// apply does what an option says.
func (q *request) apply(name string, o option, v word) {
	if v.shell {
		q.d.Drop("shell", "the output of another command is not known")
		return
	}
	switch o.effect {
	case header:
		q.d.Change("header", "--%s is left out: the browser sends its own", name)
	case insecure:
		q.d.Change("insecure", "certificates are checked")
	case transport:
		q.d.Change("transport", "--%s is left out: rote has its own way to the network", name)
	case multipart:
		q.d.Drop("multipart", "a fetch has no parts and files")
	case file:
		q.d.Drop("local_file", "files of this machine are not sent")
	case method:
		q.method = strings.ToUpper(v.text)
	case data, rawData, urlData, jsonData:
		q.body(o.effect, v.text)
	case query:
		q.query = append(q.query, encoded(v.text))
	case asQuery:
		q.get = true
	case headerLine:
		q.header(v.text)
	case user:
		q.user(name, v.text)
	case cookie:
		q.d.Change("cookie", "cookies are left out: a fetch has those of the page; a saved session has a login")
	case head:
		q.head = true
	case output:
		q.filename = path.Base(strings.ReplaceAll(strings.ReplaceAll(v.text, mark, ""), `\`, "/"))
	case remoteName:
		q.remoteName = true
	case address:
		if q.url == "" {
			q.url = v.text
		} else {
			q.d.Change("urls", "only the first URL of the command is asked")
		}
	case digest:
		q.d.Change("auth", "--%s is left out", name)
	}
}

// body adds to the data that is sent.
func (q *request) body(kind effect, text string) {
	name, rest, has := strings.Cut(text, "@")
	if kind != rawData && strings.HasPrefix(text, "@") || kind == urlData && has && !strings.Contains(name, "=") && rest != "" {
		q.d.Drop("local_file", "files of this machine are not sent")
		return
	}
	if kind == urlData {
		text = encoded(text)
	}
	if kind == jsonData {
		q.jsonBody = true
	}
	q.data = append(q.data, text)
}

// encoded is data of --data-urlencode.
func encoded(text string) string {
	name, value, has := strings.Cut(text, "=")
	if !has {
		name, value = "", text
	}
	value = keepMarks(value, url.QueryEscape)
	if name != "" {
		return name + "=" + value
	}
	return value
}

// keepMarks changes a text but for the variables in it.
func keepMarks(text string, change func(string) string) string {
	parts := strings.Split(text, mark)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = change(parts[i])
	}
	return strings.Join(parts, mark)
}

// notSent are headers that pages cannot set, or that a browser sends by itself.
var notSent = regexp.MustCompile(`(?i)^(cookie|host|content-length|user-agent|connection|origin|referer|dnt|te|trailer|` +
	`upgrade.*|sec-.*|proxy-.*|:.*|accept-encoding|if-none-match|priority)$`)

func (q *request) header(line string) {
	name, value, has := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !has || name == "" || value == "" || !headerName.MatchString(name):
	case strings.EqualFold(name, "accept-encoding"):
	case strings.EqualFold(name, "cookie"):
		q.d.Change("cookie", "cookies are left out: a fetch has those of the page; a saved session has a login")
	case notSent.MatchString(name):
		q.d.Change("header", "the header %s is left out: the browser sends its own", draft.Shown(name))
	default:
		q.headers[name] = value
	}
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// user sets the Authorization of -u and --oauth2-bearer.
func (q *request) user(name, value string) {
	text := "Bearer " + value
	label := "bearer_token"
	if name == "user" {
		text, label = "Basic "+base64.StdEncoding.EncodeToString([]byte(value)), "basic_credentials"
	}
	q.headers["Authorization"] = q.d.Parameter(label, text, true)
	_, password, _ := strings.Cut(value, ":")
	q.d.Hide(password, q.headers["Authorization"])
	q.d.Hide(value, q.headers["Authorization"])
	q.d.Change("secret", "the login is a secret, which is not kept: a call gives %s", label)
}

// methods are those that a fetch has.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// endpoint is the request of the operation.
func (q *request) endpoint() (*draft.Endpoint, bool) {
	if q.url == "" {
		q.d.Drop("url", "the command has no URL")
		return nil, false
	}
	e := &draft.Endpoint{Method: q.method}
	if q.get || q.head {
		q.query, q.data = append(q.query, q.data...), nil
	}
	switch {
	case e.Method == "" && q.head:
		e.Method = "HEAD"
	case e.Method == "" && len(q.data) > 0:
		e.Method = "POST"
	}
	if e.Method != "" && !slices.Contains(methods, e.Method) {
		q.d.Drop("method", "a fetch has no method %s", draft.Shown(e.Method))
		return nil, false
	}
	var ok bool
	if e.URL, ok = q.address(); !ok {
		return nil, false
	}
	q.setBody(e)
	q.setHeaders(e)
	if q.remoteName {
		q.filename, _, _ = strings.Cut(path.Base(e.URL), "?")
	}
	if q.filename == "." || q.filename == "/" || q.filename == "-" || strings.Contains(q.filename, "{{") {
		q.filename = ""
	}
	return e, true
}

var (
	globRange  = regexp.MustCompile(`\[(\w+)-\w+(?::\d+)?\]`)
	globList   = regexp.MustCompile(`\{([^{},]*),[^{}]*\}`)
	openName   = regexp.MustCompile(`\{([A-Za-z_]\w*)\}|<([A-Za-z_][\w -]*)>|/:([A-Za-z_]\w*)`)
	literalURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

// address is the URL with its query.
func (q *request) address() (string, bool) {
	u := q.url
	if globRange.MatchString(u) || globList.MatchString(u) {
		u = globList.ReplaceAllString(globRange.ReplaceAllString(u, "$1"), "$1")
		q.d.Change("globbing", "only the first of the URLs is asked")
	}
	if !literalURL.MatchString(u) && !strings.HasPrefix(u, mark) {
		u = "http://" + u
	}
	u = openName.ReplaceAllStringFunc(u, func(token string) string {
		m := openName.FindStringSubmatch(token)
		if m[3] != "" {
			return "/" + mark + m[3] + mark
		}
		return mark + m[1] + m[2] + mark
	})
	if len(q.query) > 0 {
		separator := "?"
		if strings.Contains(u, "?") {
			separator = "&"
		}
		u += separator + strings.Join(q.query, "&")
	}
	if strings.HasPrefix(u, mark) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(u, mark), mark)
		return q.filled(q.d.Variable(name, "", false)+rest, false), true
	}
	return q.d.URL(q.filled(u, false))
}

// filled replaces the variables of the shell by parameters.
func (q *request) filled(text string, secret bool) string {
	parts := strings.Split(text, mark)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = q.d.Variable(parts[i], "", secret || draft.IsSecret(parts[i], "?"))
	}
	return strings.Join(parts, "")
}

// setHeaders fills in the headers. The values of secret ones are parameters.
func (q *request) setHeaders(e *draft.Endpoint) {
	for _, name := range slices.Sorted(maps.Keys(q.headers)) {
		value := q.headers[name]
		switch {
		case strings.Contains(value, mark):
			value = q.filled(value, secretHeader(name))
		case strings.Contains(value, "{{"):
		case secretHeader(name) || draft.IsSecret(name, value):
			_, token, spaced := strings.Cut(value, " ")
			value = q.d.Parameter(name, value, true)
			if spaced {
				q.d.Hide(token, value)
			}
			q.d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", draft.Shown(name))
		}
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = value
	}
}

var secretHeaders = regexp.MustCompile(`(?i)auth|token|secret|api-?key|-key$|password`)

func secretHeader(name string) bool { return secretHeaders.MatchString(name) }

// setBody fills in the body: JSON as an object, any other text as it is.
func (q *request) setBody(e *draft.Endpoint) {
	if len(q.data) == 0 {
		return
	}
	text := strings.Join(q.data, "&")
	has := func(name string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(q.headers)), func(h string) bool { return strings.EqualFold(h, name) })
	}
	if v, err := jsontree.Parse(text); err == nil && (v.Kind == jsontree.Object || v.Kind == jsontree.Array) {
		e.Body = json.RawMessage(q.filledJSON(v).JSON())
		if !has("Content-Type") {
			q.headers["Content-Type"] = "application/json"
			if !q.jsonBody {
				q.headers["Content-Type"] = "application/x-www-form-urlencoded"
			}
		}
		return
	}
	if strings.HasPrefix(text, "--") {
		text = q.parts(text)
	}
	pairs := strings.Split(text, "&")
	for i, pair := range pairs {
		key, value, isPair := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(value)
		if isPair && err == nil && !strings.Contains(value, mark) && draft.IsSecret(key, plain) {
			pairs[i] = key + "=" + q.d.Parameter(key, plain, true)
			q.d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", draft.Shown(key))
		}
	}
	e.Body = routine.RawJSON(q.filled(strings.Join(pairs, "&"), false))
	if !has("Content-Type") {
		q.headers["Content-Type"] = "application/x-www-form-urlencoded"
	}
}

// filledJSON replaces the secrets and variables in a body.
func (q *request) filledJSON(v *jsontree.Value) *jsontree.Value {
	for _, item := range v.Items {
		q.filledJSON(item)
	}
	for _, f := range v.Fields {
		if f.Value.Kind == jsontree.String && !strings.Contains(f.Value.Text, mark) && draft.IsSecret(f.Name, f.Value.Text) {
			f.Value.Text = q.d.Parameter(f.Name, f.Value.Text, true)
			q.d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", draft.Shown(f.Name))
			continue
		}
		q.filledJSON(f.Value)
	}
	if v.Kind == jsontree.String {
		v.Text = q.filled(v.Text, false)
	}
	return v
}
