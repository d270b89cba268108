package routine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// ErrProviderDenied means that a provider does not allow rote to read a value.
var ErrProviderDenied = errors.New("the provider refused")

// SecretProvider reads values that an operator keeps outside of the store.
type SecretProvider interface {
	// Scheme is what the references of the provider begin with, as in "env".
	Scheme() string
	// ReadSecret returns the present value, or one that is at most a minute old, within five
	// seconds. It is called each time a run needs it.
	// ErrNotFound if there is none, ErrProviderDenied; with any other error the provider
	// cannot be used at present. No error contains the value.
	ReadSecret(ctx context.Context, ref ProviderReference) (Hidden, error)
	// Unavailable returns for how long ReadSecret fails at once, because the provider has failed
	// several times in a row; 0: it can be called. The zero reference stands for any value that
	// has not been read lately.
	Unavailable(ref ProviderReference) time.Duration
}

// ProviderReference names a value at a provider.
type ProviderReference struct {
	// OrganizationID and ProjectID are those of the secret; ProjectID is empty for a secret
	// of the whole organization.
	OrganizationID, ProjectID string
	// Path is the reference without its scheme and the colon after it.
	Path string
}

// The schemes of references.
const (
	SchemeEnvironment = "env"
	SchemeFile        = "file"
	SchemeVault       = "vault"
	SchemeOnePassword = "op"
)

// ReferenceSchemes are all schemes of references.
func ReferenceSchemes() []string {
	return []string{SchemeEnvironment, SchemeFile, SchemeVault, SchemeOnePassword}
}

// maxReference limits the bytes of a reference.
const maxReference = 500

// CheckReference returns why a text cannot be a reference to a value at a provider, or "".
func CheckReference(text string) (wrong string) {
	scheme, path, _ := strings.Cut(text, ":")
	isForbidden := func(r rune) bool { return r < ' ' || r == 0x7f || r == ' ' && scheme != SchemeOnePassword }
	switch {
	case !slices.Contains(ReferenceSchemes(), scheme):
		return "must begin with " + strings.Join(ReferenceSchemes(), ":, ") + ":, as in env:SHOP_PASSWORD"
	case len(text) > maxReference:
		return "is too long"
	case strings.Trim(path, "/") == "":
		return "names no value after " + scheme + ":"
	case strings.ContainsAny(path, "%\\") || strings.ContainsFunc(path, isForbidden):
		return `must not contain %, \, spaces or control characters`
	case scheme != SchemeOnePassword && strings.HasPrefix(path, "/"):
		return "must not be an absolute path"
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." || part == "." {
			return `must not contain the path element ` + Quote(part)
		}
	}
	switch scheme {
	case SchemeVault:
		entry, field, _ := strings.Cut(path, "#")
		if field == "" || slices.Contains(strings.Split(entry, "/"), "") {
			return "must be vault:PATH#FIELD, as in vault:shop#password"
		}
	case SchemeOnePassword:
		parts := strings.Split(strings.TrimPrefix(path, "//"), "/")
		if !strings.HasPrefix(path, "//") || len(parts) < 3 || len(parts) > 4 || slices.Contains(parts, "") || strings.ContainsAny(path, `"?#`) {
			return "must be op://VAULT/ITEM/FIELD or op://VAULT/ITEM/SECTION/FIELD"
		}
	}
	return ""
}
