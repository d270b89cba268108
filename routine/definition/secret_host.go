package definition

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// HostOfSecret returns the host, in the notation of a secret's hosts, to which a definition
// seems to give a secret: that of the last literal URL until the secret is used. It is empty
// if there is none. It is a suggestion for a person, and nothing depends on it.
func HostOfSecret(d *routine.Definition, name string) (host string) {
	for _, o := range d.Operations {
		var fields struct {
			URL      string `json:"url"`
			Endpoint struct {
				URL string `json:"url"`
			} `json:"endpoint"`
		}
		_ = json.Unmarshal(o.Raw(), &fields) // without a URL there is no host
		host = cmp.Or(literalHost(cmp.Or(fields.URL, fields.Endpoint.URL)), host)
		used := false
		if op, err := operation.Decode(o); err == nil {
			operation.EachSecret(op, func(ref routine.SecretReference) { used = used || ref.Name == name })
		}
		if used {
			return host
		}
	}
	return host
}

// literalHost returns the host of a URL whose host has no placeholder, or "".
func literalHost(text string) string {
	start, _, _ := strings.Cut(text, "{{")
	u, err := url.Parse(start)
	if err != nil || u.Host == "" || len(start) < len(text) && u.Path == "" {
		return ""
	}
	for _, host := range []string{u.Host, "http://" + u.Host} {
		rules := routine.SecretRules{Hosts: []string{host}}
		if rules.Allows(u.Scheme + "://" + u.Host) {
			return host
		}
	}
	return ""
}
