package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"rote/routine"
)

// VaultConfig says where HashiCorp Vault or OpenBao is, and how to log in there.
type VaultConfig struct {
	// Address is that of the server, as in https://vault.example:8200.
	Address string
	// Mount is the path of a KV engine of version 2, as in secret.
	Mount string
	// Prefix is put before the path of each reference. Its elements {organization} and
	// {project} are those of the secret; {project} is "-" for a secret of a whole organization.
	Prefix string
	// Namespace is that of the requests; empty means none.
	Namespace string
	// TokenFile has the token. It is read again when the token is refused.
	TokenFile string
	// Role is that of the Kubernetes login, which is used if there is no TokenFile.
	Role string
	// ServiceAccountFile has the token of the Kubernetes service account for the login; empty
	// means the file that Kubernetes mounts.
	ServiceAccountFile string
}

// serviceAccountFile is where Kubernetes mounts the token of a service account.
const serviceAccountFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// minLoginInterval is how long a token of a login is used at least, also if it is refused:
// otherwise each refused path would cost a login.
const minLoginInterval = 10 * time.Second

// vault reads vault:PATH#FIELD.
type vault struct {
	*client
	config VaultConfig
	mount  []string
	prefix tenantPath
	tokens *tokenSource
	// loggedIn is when the newest token was got by a login. Only login uses it.
	loggedIn time.Time
}

// NewVault returns the provider of the values in a Vault or OpenBao server.
func NewVault(config VaultConfig) (routine.SecretProvider, error) {
	c, err := newClient(config.Address)
	if err != nil {
		return nil, fmt.Errorf("--vault-addr: %w", err)
	}
	v := &vault{client: c, config: config, mount: strings.Split(config.Mount, "/")}
	for _, part := range v.mount {
		if !isPathElement(part) {
			return nil, fmt.Errorf("--vault-mount: %s is no path of a KV engine, as in secret", routine.Quote(config.Mount))
		}
	}
	if v.prefix, err = parseTenantPath(config.Prefix); err != nil {
		return nil, fmt.Errorf("--vault-prefix: %w", err)
	}
	switch {
	case config.TokenFile != "" && config.Role != "":
		return nil, errors.New("--vault-token-file and --vault-role: give one of them")
	case config.TokenFile != "":
		v.tokens = newTokenSource(func(context.Context, routine.Hidden) (routine.Hidden, error) { return readToken(config.TokenFile) })
	case config.Role != "":
		v.tokens = newTokenSource(v.login)
	default:
		return nil, errors.New("--vault-addr needs --vault-token-file or --vault-role")
	}
	return newCached(v), nil
}

// Scheme returns "vault".
func (*vault) Scheme() string { return routine.SchemeVault }

// ReadSecret returns a value of the newest version of an entry.
func (v *vault) ReadSecret(ctx context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	path, field, err := v.locate(ref)
	if err != nil {
		return "", err
	}
	var entry vaultEntry
	status, err := v.tokens.send(ctx, http.StatusForbidden, func(token routine.Hidden) (int, error) {
		return v.get(ctx, v.header(token), path, nil, &entry)
	})
	if err == nil {
		err = v.statusError(status)
	}
	if err != nil {
		return "", err
	}
	return entry.value(field)
}

// locate returns the path of the entry that a reference names, and the field.
func (v *vault) locate(ref routine.ProviderReference) (path []string, field string, _ error) {
	prefix, err := v.prefix.of(ref)
	if err != nil {
		return nil, "", err
	}
	entry, field, _ := strings.Cut(ref.Path, "#")
	path = append([]string{"v1"}, v.mount...)
	path = append(append(path, "data"), prefix...)
	for part := range strings.SplitSeq(entry, "/") {
		if !isPathElement(part) {
			return nil, "", fmt.Errorf("%w: %s is no path of an entry", routine.ErrProviderDenied, routine.Quote(entry))
		}
		path = append(path, part)
	}
	return path, field, nil
}

// header returns the header of a request; an empty token is left out.
func (v *vault) header(token routine.Hidden) http.Header {
	h := http.Header{"X-Vault-Request": {"true"}, "Accept": {"application/json"}}
	if token != "" {
		h.Set("X-Vault-Token", string(token))
	}
	if v.config.Namespace != "" {
		h.Set("X-Vault-Namespace", v.config.Namespace)
	}
	return h
}

// login returns a new token for the service account of the pod, or the refused one if that is
// too new.
func (v *vault) login(ctx context.Context, refused routine.Hidden) (routine.Hidden, error) {
	if refused != "" && time.Since(v.loggedIn) < minLoginInterval {
		return refused, nil
	}
	file := v.config.ServiceAccountFile
	if file == "" {
		file = serviceAccountFile
	}
	account, err := readToken(file)
	if err != nil {
		return "", fmt.Errorf("log in with --vault-role: %w", err)
	}
	var answer struct {
		Auth struct {
			Token string `json:"client_token"`
		} `json:"auth"`
	}
	status, err := v.post(ctx, v.header(""), []string{"v1", "auth", "kubernetes", "login"},
		map[string]string{"role": v.config.Role, "jwt": string(account)}, &answer)
	switch {
	case err != nil:
		return "", fmt.Errorf("log in with --vault-role: %w", err)
	case status != http.StatusOK:
		return "", fmt.Errorf("log in with --vault-role: %s answers with status %d", v.address, status)
	case answer.Auth.Token == "":
		return "", errors.New("log in with --vault-role: the answer has no token")
	}
	v.loggedIn = time.Now()
	return routine.Hidden(answer.Auth.Token), nil
}

// vaultEntry is the answer for an entry of a KV engine of version 2.
type vaultEntry struct {
	Data *struct {
		// Data is null in a version that was deleted.
		Data map[string]json.RawMessage `json:"data"`
		// Metadata is there in each answer of version 2 of the engine.
		Metadata json.RawMessage `json:"metadata"`
	} `json:"data"`
}

// value returns the text of a field.
func (e vaultEntry) value(field string) (routine.Hidden, error) {
	if e.Data == nil || e.Data.Metadata == nil {
		return "", errors.New("the answer is not that of a KV engine of version 2: is --vault-mount one?")
	}
	raw, ok := e.Data.Data[field]
	if !ok || string(raw) == "null" {
		return "", routine.ErrNotFound
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("%w: the field %s is no text", errUnusable, routine.Quote(field))
	}
	return routine.Hidden(text), nil
}
