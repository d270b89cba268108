package browser

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Endpoint is a browser of a [Pool].
type Endpoint struct {
	// Name is its address as messages and logs show it: the scheme and the host, because the rest
	// may be secret.
	Name string
	// Slots is how many runs it gets at once.
	Slots int
	// address is nil for the browser that rote starts itself on this machine.
	address *url.URL
	// downloads is a directory in which the browser stores downloads and rote reads them; empty
	// if they share none.
	downloads string
}

// LocalEndpoint is the text of the endpoint on this machine.
const LocalEndpoint = "local"

// defaultSlots are the slots of a browser elsewhere, of whose machine nothing is known.
const defaultSlots = 4

// tokenPlace is replaced by the token in the address of an endpoint.
const tokenPlace = "{token}"

// ParseEndpoint parses an endpoint: "local", or a URL with the scheme ws, wss, http or https in
// which {token} stands for the token. After a # it may have options: slots=N and
// downloads=DIRECTORY, with & between them. Errors contain no part of the URL that may be
// secret, and say what to write.
func ParseEndpoint(text, token string) (Endpoint, error) {
	address, options, _ := strings.Cut(text, "#")
	e := Endpoint{Name: LocalEndpoint, Slots: 2 * runtime.NumCPU()}
	if address != LocalEndpoint {
		var err error
		if e, err = parseAddress(address, token); err != nil {
			return Endpoint{}, err
		}
	}
	if err := e.parseOptions(options); err != nil {
		return Endpoint{}, fmt.Errorf("%s: %w", e.Name, err)
	}
	return e, nil
}

// parseAddress returns the endpoint at a URL, without options.
func parseAddress(text, token string) (Endpoint, error) {
	name := shownAddress(text)
	if strings.Contains(text, tokenPlace) {
		if token == "" {
			return Endpoint{}, errors.New("the address has {token} in it: set ROTE_BROWSER_TOKEN to the token")
		}
		escaped := strings.ReplaceAll(url.QueryEscape(token), "+", "%20") // right in a path too
		text = strings.ReplaceAll(text, tokenPlace, escaped)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme) {
		return Endpoint{}, errors.New("this is no address of a browser: write http://HOST:9222 for a Chromium, ws://HOST/PATH or wss://HOST/PATH for " +
			"a web socket, or local for the browser of this machine")
	}
	return Endpoint{Name: name, Slots: defaultSlots, address: u}, nil
}

// shownAddress is the scheme and the host of a URL in which the token is not replaced yet.
func shownAddress(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
}

// parseOptions sets what the part of the text after # says.
func (e *Endpoint) parseOptions(text string) error {
	options, err := url.ParseQuery(text)
	if err != nil {
		return fmt.Errorf("%q after # cannot be read: write #slots=4", text)
	}
	for name, values := range options {
		value := values[len(values)-1]
		switch {
		case name == "slots":
			const maxSlots = 1000
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxSlots {
				return fmt.Errorf("slots=%s: write a whole number from 1 to %d", value, maxSlots)
			}
			e.Slots = n
		case name == "downloads" && e.address == nil:
			return errors.New("downloads is only for a browser elsewhere: the local one has a directory of its own")
		case name == "downloads":
			if !filepath.IsAbs(value) {
				return fmt.Errorf("downloads=%s: write the absolute path of a directory that both rote and the browser have there", value)
			}
			e.downloads = filepath.Clean(value)
		default:
			return fmt.Errorf("there is no option %s: write slots=N or downloads=DIRECTORY", name)
		}
	}
	return nil
}
