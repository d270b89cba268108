package browserstate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/publicsuffix"

	"rote/routine"
)

// storageState is what Playwright's storageState gives, with the settings that Import knows too.
type storageState struct {
	Cookies   list[exportedCookie]      `json:"cookies"`
	Origins   list[exportedOrigin]      `json:"origins"`
	Hosts     list[string]              `json:"hosts,omitempty"`
	UserAgent string                    `json:"user_agent,omitempty"`
	Others    map[string]jsontext.Value `json:",embed"`
}

type exportedCookie struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Domain string `json:"domain"`
	Path   string `json:"path"`
	// Expires is in Unix seconds; -1 for a session cookie.
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite,omitempty"`
	// PartitionKey is the site of the top page, as in "https://shop.example".
	PartitionKey string                    `json:"partitionKey,omitempty"`
	CrossSite    bool                      `json:"_crHasCrossSiteAncestor,omitempty"`
	Others       map[string]jsontext.Value `json:",embed"`
}

type exportedOrigin struct {
	Origin       string                    `json:"origin"`
	LocalStorage list[exportedItem]        `json:"localStorage"`
	Others       map[string]jsontext.Value `json:",embed"`
}

// exportedItem is an entry of local storage. The texts are not decoded; see Origin.
type exportedItem struct {
	Name  jsontext.Value `json:"name"`
	Value jsontext.Value `json:"value"`
}

// list is a list of which an import reads at most maxListed values, so that a small text cannot
// take much memory.
type list[T any] []T

const maxListed = 20_000

var errTooLong = fmt.Errorf("more than %d values", maxListed)

// UnmarshalJSONFrom reads a list.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return &json.SemanticError{JSONKind: d.PeekKind(), JSONPointer: d.StackPointer()}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*l = list[T]{}
	for d.PeekKind() != ']' {
		if len(*l) == maxListed {
			return errTooLong
		}
		var value T
		if err := json.UnmarshalDecode(d, &value); err != nil {
			return err
		}
		*l = append(*l, value)
	}
	_, err := d.ReadToken()
	return err
}

// partition is the partition of a cookie in the DevTools protocol.
type partition struct {
	Site      string `json:"topLevelSite"`
	CrossSite bool   `json:"hasCrossSiteAncestor"`
}

// Export returns the state as Playwright's storageState gives it, with the hosts of its session
// and the user agent unless they are empty. Import reads it.
func (s *State) Export(hosts []string, userAgent string) ([]byte, error) {
	out := storageState{Cookies: []exportedCookie{}, Origins: []exportedOrigin{}, Hosts: hosts, UserAgent: userAgent}
	for _, c := range s.Cookies {
		e := exportedCookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires, HTTPOnly: c.HTTPOnly, Secure: c.Secure,
			SameSite: c.SameSite}
		if c.Domain == "" {
			e.Domain = c.Host()
		}
		if c.Expires == 0 {
			e.Expires = -1
		}
		if len(c.PartitionKey) > 0 {
			var p partition
			if err := json.Unmarshal(c.PartitionKey, &p); err != nil {
				return nil, fmt.Errorf("read the partition of cookie %s: %w", c.Name, err)
			}
			e.PartitionKey, e.CrossSite = p.Site, p.CrossSite
		}
		out.Cookies = append(out.Cookies, e)
	}
	all, err := origins(s)
	if err != nil {
		return nil, err
	}
	for _, o := range s.Storage {
		e := exportedOrigin{Origin: o.Origin, LocalStorage: []exportedItem{}}
		for _, i := range all[o.Origin] {
			e.LocalStorage = append(e.LocalStorage, exportedItem{jsontext.Value(i[0]), jsontext.Value(i[1])})
		}
		out.Origins = append(out.Origins, e)
	}
	return json.Marshal(out, jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
}

// readJSON reads a storage state of Playwright.
func (r *reader) readJSON(text []byte, into *Imported) {
	var all storageState
	// Texts may have half a surrogate pair, which is no valid UTF-8 when it is decoded.
	if err := json.Unmarshal(text, &all, jsontext.AllowInvalidUTF8(true)); err != nil {
		r.addSyntax(err)
		return
	}
	if all.Cookies == nil && all.Origins == nil {
		r.add(place{}, "type", shapes+": this object has neither cookies nor origins")
		return
	}
	for i, c := range all.Cookies {
		at := place{pointer: "/cookies/" + strconv.Itoa(i)}
		into.notKept(at, c.Others)
		r.readCookie(at, &c)
	}
	if len(all.Origins) > MaxOrigins {
		r.add(place{pointer: "/origins"}, "too_large",
			fmt.Sprintf("there are %d origins, and at most %d are kept: leave out those of other sites", len(all.Origins), MaxOrigins))
		return
	}
	for i, o := range all.Origins {
		at := place{pointer: "/origins/" + strconv.Itoa(i)}
		into.notKept(at, o.Others)
		r.readOrigin(at, &o)
	}
	into.notKept(place{}, all.Others)
	into.Hosts, into.UserAgent = all.Hosts, all.UserAgent
	if strings.ContainsFunc(all.UserAgent, unicode.IsControl) || len(all.UserAgent) > maxUserAgent {
		r.add(place{pointer: "/user_agent"}, "value", fmt.Sprintf("user_agent must be a text of at most %d bytes without control characters", maxUserAgent))
	}
}

// addSyntax adds the error of the JSON decoder. The problem names no value.
func (r *reader) addSyntax(err error) {
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	semantic, isSemantic := errors.AsType[*json.SemanticError](err)
	switch at := (place{}); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		at.pointer = routine.Truncate(string(syntax.JSONPointer), routine.MaxShownURL)
		r.add(at, "duplicate", "the name is there twice: give it once")
	case isSyntax:
		at.pointer = routine.Truncate(string(syntax.JSONPointer), routine.MaxShownURL)
		r.add(at, "json_syntax", fmt.Sprintf("the state is not JSON from byte %d on", syntax.ByteOffset))
	case isSemantic && errors.Is(err, errTooLong):
		at.pointer = routine.Truncate(string(semantic.JSONPointer), routine.MaxShownURL)
		r.add(at, "too_large", fmt.Sprintf("the list has %v", errTooLong))
	case isSemantic:
		at.pointer = routine.Truncate(string(semantic.JSONPointer), routine.MaxShownURL)
		r.add(at, "type", "the value is of another type than in Playwright's storageState")
	default:
		r.add(at, "json_syntax", "the state cannot be read as JSON: export it again")
	}
}

// notKept warns of members that are not part of a state here.
func (i *Imported) notKept(at place, others map[string]jsontext.Value) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if len(i.Warnings) == maxProblems {
			return
		}
		i.Warnings = append(i.Warnings, routine.Problem{Pointer: at.pointer + "/" + routine.EscapePointer(routine.Truncate(name, 80)), Code: "not_kept",
			Message: quote(name) + " is not kept: a session has cookies and local storage"})
	}
}

func (r *reader) readCookie(at place, c *exportedCookie) {
	cookie := Cookie{Name: c.Name, Value: c.Value, Path: c.Path, Expires: max(c.Expires, 0), Secure: c.Secure, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite}
	if c.PartitionKey != "" {
		if !isSite(c.PartitionKey) {
			r.add(at.field("partitionKey"), "value", "partitionKey must be the site of a page, as in https://shop.example, not "+quote(c.PartitionKey))
			return
		}
		cookie.PartitionKey = routine.RawJSON(partition{c.PartitionKey, c.CrossSite})
	}
	r.addCookie(at, cookie, c.Domain)
}

func (r *reader) readOrigin(at place, o *exportedOrigin) {
	origin := canonicalOrigin(o.Origin)
	switch {
	case origin == "":
		r.add(at.field("origin"), "value", "the origin must be a scheme and a host, as in https://shop.example, not "+quote(o.Origin))
		return
	case slices.ContainsFunc(r.state.Storage, func(other Origin) bool { return other.Origin == origin }):
		r.add(at.field("origin"), "duplicate", "the origin "+quote(origin)+" is there twice: put its entries together")
		return
	}
	items, keys := []item{}, map[string]bool{}
	for i, entry := range o.LocalStorage {
		at := place{pointer: at.pointer + "/localStorage/" + strconv.Itoa(i)}
		if entry.Name.Kind() != '"' || entry.Value.Kind() != '"' {
			r.add(at, "type", "an entry of local storage has a name and a value, which are texts")
			continue
		}
		key := asPageWrites(entry.Name)
		if keys[string(key)] {
			r.add(at.field("name"), "duplicate", "the name is there twice: leave one out")
		}
		keys[string(key)] = true
		items = append(items, item{[]byte(key), []byte(asPageWrites(entry.Value))})
	}
	if len(items) > 0 {
		r.state.Storage = append(r.state.Storage, Origin{origin, routine.RawJSON(items)})
	}
}

// isSite reports whether text is a site as a browser writes it: a scheme and a registrable
// domain.
func isSite(text string) bool {
	_, host, _ := strings.Cut(text, "://")
	if canonicalOrigin(text) != text || canonicalHost(host) != host {
		return false
	}
	registrable, err := publicsuffix.EffectiveTLDPlusOne(host)
	return err == nil && registrable == host || isAddress(host) || host == "localhost"
}

// canonicalOrigin returns an origin as a browser writes it; "" if it is not one of http or https.
func canonicalOrigin(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	name, port, ok := routine.SplitHost(rest)
	if !ok || scheme != "http" && scheme != "https" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ".:"+port) {
		return ""
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" || scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		return scheme + "://" + name
	}
	return scheme + "://" + name + ":" + port
}

// asPageWrites returns a JSON text as a page's JSON.stringify writes it: only what must be
// escaped is, and halves of surrogate pairs stay.
func asPageWrites(text jsontext.Value) jsontext.Value {
	out := []byte{'"'}
	for raw := text[1 : len(text)-1]; len(raw) > 0; {
		at, size := loneSurrogate(raw)
		plain, _ := jsontext.AppendUnquote(nil, slices.Concat([]byte{'"'}, raw[:at], []byte{'"'})) // the decoder has read it
		quoted, _ := jsontext.AppendQuote(nil, plain)                                              // it is valid UTF-8
		out = append(out, quoted[1:len(quoted)-1]...)
		out = append(out, bytes.ToLower(raw[at:at+size])...)
		raw = raw[at+size:]
	}
	return append(out, '"')
}

// loneSurrogate returns where the first half of a surrogate pair stands without the other half,
// and how long it is. Without one, that is the end of the text.
func loneSurrogate(raw []byte) (at, size int) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first := escapedUnit(raw[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i++
		case utf16.DecodeRune(first, escapedUnit(raw[i+6:])) == utf8.RuneError:
			return i, 6
		default:
			i += 11
		}
	}
	return len(raw), 0
}

// escapedUnit returns the UTF-16 unit of an escape such as \ud800 at the start of a text, or 0.
func escapedUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	unit, err := hex.DecodeString(string(raw[2:6]))
	if err != nil {
		return 0
	}
	return rune(unit[0])<<8 | rune(unit[1])
}
