package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"rote/routine"
)

// OnePasswordConfig says where 1Password Connect is.
type OnePasswordConfig struct {
	// Host is the address of the Connect server, as in https://connect.example:8080.
	Host string
	// TokenFile has the token of the Connect server. It is read again when the token is refused.
	TokenFile string
	// Vault is the name of the only vault that references may name; {organization} is the
	// organization of the secret.
	Vault string
}

// onePassword reads op://VAULT/ITEM/[SECTION/]FIELD.
type onePassword struct {
	*client
	vault  tenantPath
	tokens *tokenSource
}

// NewOnePassword returns the provider of the values that a 1Password Connect server has.
func NewOnePassword(config OnePasswordConfig) (routine.SecretProvider, error) {
	c, err := newClient(config.Host)
	if err != nil {
		return nil, fmt.Errorf("--op-connect-host: %w", err)
	}
	vault, err := parseTenantPath(config.Vault)
	switch {
	case err != nil || len(vault) != 1 || vault[0] == projectPart:
		return nil, fmt.Errorf("--op-vault: %s is no name of a vault, and not {organization}", routine.Quote(config.Vault))
	case config.TokenFile == "":
		return nil, errors.New("--op-connect-host needs --op-token-file")
	}
	tokens := newTokenSource(func(context.Context, routine.Hidden) (routine.Hidden, error) { return readToken(config.TokenFile) })
	return newCached(&onePassword{c, vault, tokens}), nil
}

// Scheme returns "op".
func (*onePassword) Scheme() string { return routine.SchemeOnePassword }

// ReadSecret returns the value of a field of an item. That of a one-time password is its key.
func (o *onePassword) ReadSecret(ctx context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	vaultName, title, section, field, err := o.locate(ref)
	if err != nil {
		return "", err
	}
	var vaults, items []opObject
	if err := o.read(ctx, []string{"v1", "vaults"}, opFilter("name", vaultName), &vaults); err != nil {
		return "", err
	}
	vaultID, err := opID(vaults, vaultName)
	if err != nil {
		return "", err
	}
	path := []string{"v1", "vaults", vaultID, "items"}
	if err := o.read(ctx, path, opFilter("title", title), &items); err != nil {
		return "", err
	}
	itemID, err := opID(items, title)
	if errors.Is(err, routine.ErrNotFound) && opIDs.MatchString(title) {
		itemID, err = title, nil // items can be named by their ids too
	}
	if err != nil {
		return "", err
	}
	var item opItem
	if err := o.read(ctx, append(path, itemID), nil, &item); err != nil {
		return "", err
	}
	return item.value(section, field)
}

// locate returns the parts of a reference; section may be empty. ErrProviderDenied if it names
// another vault than that of its organization.
func (o *onePassword) locate(ref routine.ProviderReference) (vault, item, section, field string, _ error) {
	allowed, err := o.vault.of(ref)
	if err != nil {
		return "", "", "", "", err
	}
	parts := strings.Split(strings.TrimPrefix(ref.Path, "//"), "/")
	if len(parts) == 3 {
		parts = []string{parts[0], parts[1], "", parts[2]}
	}
	if len(parts) != 4 || !isPathElement(parts[1]) {
		return "", "", "", "", fmt.Errorf("%w: it is not op://VAULT/ITEM/FIELD", routine.ErrProviderDenied)
	}
	if parts[0] != allowed[0] {
		return "", "", "", "", fmt.Errorf("%w: --op-vault allows only the vault %s", routine.ErrProviderDenied, routine.Quote(allowed[0]))
	}
	return parts[0], parts[1], parts[2], parts[3], nil
}

// read reads a JSON document of the server. ErrNotFound, ErrProviderDenied.
func (o *onePassword) read(ctx context.Context, path []string, query url.Values, answer any) error {
	status, err := o.tokens.send(ctx, http.StatusUnauthorized, func(token routine.Hidden) (int, error) {
		return o.get(ctx, http.Header{"Authorization": {"Bearer " + string(token)}, "Accept": {"application/json"}}, path, query, answer)
	})
	if err != nil {
		return err
	}
	return o.statusError(status)
}

// opFilter is the query for the objects with an attribute. Elements of paths contain no quotes.
func opFilter(attribute, value string) url.Values {
	return url.Values{"filter": {attribute + ` eq "` + value + `"`}}
}

// opObject is a vault, which has a name, or an item, which has a title.
type opObject struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

// opIDs matches the ids of 1Password.
var opIDs = regexp.MustCompile(`^[0-9a-z]{26}$`)

// opID returns the id of the object with a name. A filter may ignore the case of letters.
func opID(objects []opObject, name string) (string, error) {
	var ids []string
	for _, object := range objects {
		if object.Name == name || object.Title == name {
			ids = append(ids, object.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return "", routine.ErrNotFound
	case len(ids) > 1:
		return "", fmt.Errorf("%w: there are %d vaults or items of the name %s", errUnusable, len(ids), routine.Quote(name))
	case !opIDs.MatchString(ids[0]):
		return "", errors.New("the answer has no id as 1Password makes them")
	}
	return ids[0], nil
}

// opItem is an item with its fields.
type opItem struct {
	Sections []struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	} `json:"sections"`
	Fields []opField `json:"fields"`
}

type opField struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Section struct {
		ID string `json:"id"`
	} `json:"section"`
	Value string `json:"value"`
}

// value returns the value of the field with a label or an id. Without a section, a field
// outside of sections is preferred.
func (i *opItem) value(section, name string) (routine.Hidden, error) {
	var outside, all []opField
	for _, f := range i.Fields {
		if f.Label != name && f.ID != name || section != "" && !i.isSection(f.Section.ID, section) {
			continue
		}
		all = append(all, f)
		if f.Section.ID == "" {
			outside = append(outside, f)
		}
	}
	switch {
	case len(outside) == 1:
		return routine.Hidden(outside[0].Value), nil
	case len(all) == 1:
		return routine.Hidden(all[0].Value), nil
	case len(all) == 0:
		return "", routine.ErrNotFound
	}
	return "", fmt.Errorf("%w: the item has %d fields %s: name the section too, or use the id of the field", errUnusable, len(all), routine.Quote(name))
}

// isSection reports whether the section with an id has a name, or this id.
func (i *opItem) isSection(id, name string) bool {
	if id == name {
		return true
	}
	for _, s := range i.Sections {
		if s.ID == id && s.Label == name {
			return true
		}
	}
	return false
}
