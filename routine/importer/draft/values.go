package draft

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/requests"
)

// secretField matches the names of fields that take secrets in languages other than English, and
// the words that fields of a login and of a card have.
var secretField = regexp.MustCompile(`(?i)passwor[td]|passcode|kennwort|contrase|senha|mot.?de.?passe|one.?time|cc-|card.?n(um|o)|` +
	`cvc|cvv|iban|(?:^|[^a-z])pwd?(?:[^a-z]|$)|type="?password|palavra.?passe|wachtwoord|lösen|losenord|adgangskode|passord|salasana|` +
	`hasło|haslo|heslo|geslo|lozinka|zaporka|jelsz[óo]|parol[aăeā]?(?:[^a-zäöü]|$)|şifre|sifre|slaptažodis|пароль|парола|лозинка|κωδικός|` +
	`密码|密碼|口令|パスワード|暗証番号|비밀번호|mật khẩu|kata sandi|รหัสผ่าน|סיסמ|كلمة المرور|كلمة السر|पासवर्ड`)

// TakesSecret reports whether the value of a field is a secret, by the texts that name the field.
func (l Locator) TakesSecret(value string) bool {
	return slices.ContainsFunc(append([]string{l.Label}, l.names...), func(name string) bool { return IsSecret(name, value) })
}

// IsSecret reports whether the value of a field, header or variable of this name is a secret.
func IsSecret(name, value string) bool {
	return value != "" && (secretField.MatchString(name) || requests.IsSecret(name, value))
}

// Text returns the text that an operation types: the literal, or the placeholder of a secret.
func (d *Draft) Text(l Locator, value string) *string {
	text := d.Literal(l.Label, value)
	if text == value && !strings.Contains(value, "{{") && (l.TakesSecret(value) || d.secrets[value] != "") {
		text = d.Parameter(cmp.Or(l.Label, "password"), value, true)
		d.Change("secret", "the value is a secret, which is not kept: a call gives it")
	}
	return &text
}

// Literal returns a text that an operation takes as it is. Braces in it would be a placeholder:
// such a text becomes the default of a parameter.
func (d *Draft) Literal(label, value string) string {
	value = strings.ToValidUTF8(value, "\uFFFD")
	if strings.Contains(value, "{{") && !d.declared(value) {
		return d.Parameter(cmp.Or(label, "text"), value, false)
	}
	return value
}

// Navigate adds a navigation. It leaves out what opens no page of a site.
func (d *Draft) Navigate(raw string) {
	u, ok := d.URL(raw)
	if !ok {
		return
	}
	if last := d.Last(); last != nil && last.Type == "navigate" && last.URL == u {
		d.Item().Operations = append(d.Item().Operations, len(d.Operations)-1)
		return
	}
	d.Add(Operation{Type: "navigate", URL: u})
}

// blankPage matches the pages that a browser shows before it opens one of a site.
var blankPage = regexp.MustCompile(`^(about:blank|(chrome|edge|brave)://new-?tab(-page)?/?)$`)

var origin = regexp.MustCompile(`^(?i)https?://[^/?#]*`)

// URL returns a URL of a recording as an operation has it: without logins, and with parameters
// for its secrets and for an origin that is none. It returns false if there is nothing to open, and drops
// the present step if it is no URL of the web.
func (d *Draft) URL(raw string) (string, bool) {
	raw = strings.TrimSpace(raw)
	at := origin.FindString(raw)
	switch {
	case strings.HasPrefix(raw, "{{sessionStorage:"), strings.HasPrefix(raw, "{{") && d.declared(raw):
		return raw, true
	case blankPage.MatchString(raw):
		return "", false // where a run begins
	case at == "" && (raw == "" || strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, ".") || !strings.Contains(raw, ":")):
		raw = d.site("") + "/" + strings.TrimLeft(strings.TrimPrefix(raw, "."), "/")
	case at == "":
		shown, _, _ := strings.Cut(routine.WithoutUser(raw), "?")
		d.Drop("url", "%s opens no page of a site", routine.Quote(Shown(shown)))
		return "", false
	default:
		rest := raw[len(at):]
		if i := strings.LastIndexByte(at, '@'); i >= 0 {
			at = at[:strings.Index(at, "//")+2] + at[i+1:]
			d.Change("credentials", "the login in the URL is left out")
		}
		if u, err := url.Parse(at); err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, "<>{}$ ") {
			at = d.site("")
		}
		raw = at + rest
	}
	return d.secretQuery(raw), true
}

// site returns the placeholder of the origin of relative URLs.
func (d *Draft) site(value string) string {
	if !slices.ContainsFunc(d.Parameters, func(p routine.Parameter) bool { return p.Name == "site" }) {
		d.Parameter("site", value, false)
		d.Parameters[len(d.Parameters)-1].Description = "The origin of the site, as in https://shop.example."
	}
	d.Change("site", "the recording does not say the site: the parameter site is its origin, as in https://shop.example")
	return "{{site}}"
}

// secretQuery replaces the secrets in the query of a URL by parameters, and escapes braces.
func (d *Draft) secretQuery(raw string) string {
	before, query, has := strings.Cut(raw, "?")
	if !has {
		return raw
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		key, escaped, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(escaped)
		if err != nil {
			value = escaped
		}
		if !strings.Contains(escaped, "{{") && IsSecret(key, value) {
			pairs[i] = key + "=" + d.Parameter(key, value, true)
			d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", Shown(key))
		}
	}
	raw = before + "?" + strings.Join(pairs, "&")
	if hasFragment {
		raw += "#" + fragment
	}
	return raw
}

// minMasked is the least length of a secret that is replaced within longer texts.
const minMasked = 4

// Finish adds a result if the recording checks a text in the end. It puts the parameters of secrets also where their values stand by chance, and masks them in
// the account. It is called once, when all steps are there.
func (d *Draft) Finish() {
	d.dropHovers()
	d.addResult()
	var values []string
	for v := range d.secrets {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for i := range d.Operations {
		o := &d.Operations[i]
		o.Raw = parameters.ReplaceValues(o.JSON(), func(pointer string, value json.RawMessage) json.RawMessage {
			var text string
			if pointer == "/type" || json.Unmarshal(value, &text) != nil {
				return nil
			}
			if hidden := d.withoutSecrets(text, values, true, pointer != "/text" && pointer != "/url"); hidden != text {
				return routine.RawJSON(hidden)
			}
			return nil
		})
	}
	d.Title = d.withoutSecrets(d.Title, values, false, false)
	for i := range d.Items {
		d.Items[i].Source.Text = d.withoutSecrets(d.Items[i].Source.Text, values, false, false)
		d.Items[i].Message = d.withoutSecrets(d.Items[i].Message, values, false, false)
	}
	for i := range d.Parameters {
		p := &d.Parameters[i]
		if text := string(p.Default); d.withoutSecrets(text, values, false, false) != text {
			p.Default, p.Observed = nil, nil
		}
		p.Description = d.withoutSecrets(p.Description, values, false, false)
	}
}

// plainWord matches secrets that selectors and scripts could also have by chance.
var plainWord = regexp.MustCompile(`^[A-Za-z]*$`)

// placeholders matches what stands for a value already.
var placeholders = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// withoutSecrets replaces the values in a text by their placeholders, or by asterisks. In code, a
// secret that is a plain word is left: it would more likely be a name.
func (d *Draft) withoutSecrets(text string, values []string, fill, code bool) string {
	for _, v := range values {
		if len(v) < minMasked && text != v || code && plainWord.MatchString(v) || !strings.Contains(text, v) {
			continue
		}
		by := routine.Masked
		if fill {
			by = "{{" + d.secrets[v] + "}}"
		}
		var b strings.Builder
		end := 0
		for _, span := range placeholders.FindAllStringIndex(text, -1) {
			b.WriteString(strings.ReplaceAll(text[end:span[0]], v, by) + text[span[0]:span[1]])
			end = span[1]
		}
		text = b.String() + strings.ReplaceAll(text[end:], v, by)
	}
	return text
}

// Site is the host of the first page; empty if it is not known.
func (d *Draft) Site() string {
	for _, o := range d.Operations {
		if o.Type == "navigate" {
			if u, err := url.Parse(o.URL); err == nil {
				return u.Host
			}
			return ""
		}
	}
	return ""
}
