package routine

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"rote/routine/placeholder"
)

// Hidden is a text that must not be shown, such as a password. Everything that formats,
// logs or encodes values shows [Masked] instead. Convert it to string to use it.
type Hidden string

// String returns Masked.
func (Hidden) String() string { return Masked }

// GoString returns Masked.
func (Hidden) GoString() string { return Masked }

// LogValue returns Masked.
func (Hidden) LogValue() slog.Value { return slog.StringValue(Masked) }

// MarshalText returns Masked.
func (Hidden) MarshalText() ([]byte, error) { return []byte(Masked), nil }

// ValidSecretName reports whether name can be the name of a secret, of one of its fields or
// of a session: a letter, then up to 63 letters, digits, "_" or "-".
func ValidSecretName(name string) bool { return placeholder.ValidSecretName(name) }

// MaxSecretBytes bounds the value of one field of a secret.
const MaxSecretBytes = 64 << 10

// SecretKind is the kind of a secret.
type SecretKind string

const (
	// SecretOfValue has the single field ValueField.
	SecretOfValue SecretKind = "value"
	// SecretOfLogin has at least the fields username and password.
	SecretOfLogin SecretKind = "login"
)

// ValueField is the field that a reference without a field means.
const ValueField = "value"

// FieldRule says into which form fields a secret may be typed.
type FieldRule string

const (
	// FieldPassword allows password fields only. A secret's field "username" may be typed
	// into any field, and a one-time code also into fields that expect one.
	FieldPassword FieldRule = "password"
	FieldAny      FieldRule = "any"
	// FieldNone means that the secret is not typed at all.
	FieldNone FieldRule = "none"
)

// SecretRules say where a secret may go and who may use it.
type SecretRules struct {
	// Hosts are the hosts to which the secret may be sent, as "host", "*.host" or
	// "host:port". They are reached over https, except those that are written with
	// "http://" and loopback hosts.
	Hosts []string `json:"hosts"`
	// Field says into which form fields of pages of those hosts it may be typed.
	Field FieldRule `json:"field_rule"`
	// Requests reports whether requests to those hosts may contain it.
	Requests bool `json:"requests"`
	// Confine limits what a run may reach, from the first use of the secret on, to Hosts.
	Confine bool `json:"confine"`
	// Routines are the ids of the routines that may use the secret; empty: all routines of
	// the organization.
	Routines []string `json:"routines"`
}

// Secret is a stored secret: a name, rules and write-only fields.
type Secret struct {
	OrganizationID string
	// ProjectID is empty for a secret of all projects of the organization. If a project has
	// a secret of the same name, that one is used.
	ProjectID string
	Name      string
	Kind      SecretKind
	SecretRules
	Description string
	// Fields are sorted by name.
	Fields []SecretField
	// Version counts the changes from 1.
	Version              int
	CreatedAt, UpdatedAt time.Time
	CreatedBy, UpdatedBy string
}

// SecretField is one field of a secret. Its value is either stored, encrypted, or read from a
// provider when it is used.
type SecretField struct {
	Name string
	// TOTP reports whether the value is the key of one-time codes: an otpauth URI.
	TOTP bool
	// Reference names the value at a provider, as in "vault:shop#password"; empty if the
	// value is stored.
	Reference string
	// Value is the new value when a secret is saved; empty keeps the stored one. It is empty
	// in what a Store returns, except from SecretValue.
	Value Hidden
}

// SecretReference names what a placeholder of a definition stands for.
type SecretReference struct {
	Name string
	// Field is empty for a one-time code.
	Field string
	// Code reports whether a one-time code is wanted: one of the secret's key, {{totp:NAME}},
	// or, if Sent is set, one that a site sends to a person who gives it, {{code:NAME}}.
	Code, Sent bool
}

// ParseSecretReference reads a reference like "shop" or "shop.password". It returns false if
// its names are not valid.
func ParseSecretReference(text string) (SecretReference, bool) {
	name, field, ok := placeholder.SplitSecretName(text)
	return SecretReference{Name: name, Field: cmp.Or(field, ValueField)}, ok
}

// SecretReferenceOf returns what a placeholder refers to; false if that is no secret.
func SecretReferenceOf(t placeholder.Token) (SecretReference, bool) {
	switch t.Source {
	case placeholder.Secret:
		return ParseSecretReference(t.Name)
	case placeholder.TOTP:
		return SecretReference{Name: t.Name, Code: true}, true
	case placeholder.SentCode:
		return SecretReference{Name: t.Name, Code: true, Sent: true}, true
	}
	return SecretReference{}, false
}

// String returns the placeholder of the reference, as in "{{secret:shop.password}}".
func (r SecretReference) String() string {
	switch {
	case r.Sent:
		return "{{code:" + r.Name + "}}"
	case r.Code:
		return "{{totp:" + r.Name + "}}"
	case r.Field == ValueField:
		return "{{secret:" + r.Name + "}}"
	}
	return "{{secret:" + r.Name + "." + r.Field + "}}"
}

// The fields that uses of one-time codes have: TOTPField, which is also the name of the field
// with the key of the codes, and SentCodeField.
const (
	TOTPField     = "totp"
	SentCodeField = "code"
)

// UsedField returns the field that the uses of the reference have.
func (r SecretReference) UsedField() string {
	switch {
	case r.Sent:
		return SentCodeField
	case r.Code:
		return TOTPField
	}
	return r.Field
}

// MissingSecret returns the error CodeSecretMissing for a reference of a project, which may be
// empty if there is none. It names the command with which a person sets the secret.
func MissingSecret(projectID string, r SecretReference) *Error {
	project, option := "", ""
	if projectID != "" {
		project = " for project " + projectID
	}
	switch {
	case r.Sent:
	case r.Code:
		option = " --totp"
	case r.Field != ValueField && r.Field != "":
		option = " --field " + r.Field
	}
	return Errorf(CodeSecretMissing, "there is no secret %s%s: ask a person to run: rote secret set %s --host HOST%s", r.Name, project, r.Name, option)
}

// SecretReader reads the secrets that a run uses, each when an operation needs it.
type SecretReader interface {
	// SecretRules returns the rules for the release of a value, without reading it: no
	// one-time code is used up and no provider is asked. CodeSecretMissing, CodeSecretDenied
	// (the caller or the routine may not use it), CodeSecretUnavailable.
	SecretRules(ctx context.Context, ref SecretReference) (Release, error)
	// ReadSecret returns a value with the rules for its release. CodeSecretMissing,
	// CodeSecretDenied (the caller or the routine may not use it), CodeSecretUnavailable,
	// CodeTimeout if ctx ends while it waits for a one-time code.
	ReadSecret(ctx context.Context, ref SecretReference) (SecretValue, error)
}

// SecretValue is a value that a run may release by the rules.
type SecretValue struct {
	Text    Hidden
	Release Release
}

// Release is the permission to give a text to a page or a site. A page checks it at the
// moment of the release.
type Release struct {
	// Secret is the secret's name, for messages. It is empty for the value of a secret
	// parameter, which the caller gave and which no rules restrict.
	Secret string
	// Rules restrict where the text may go; nil: it may go anywhere.
	Rules *SecretRules
	// Username reports whether the text is the username of a login, which may be typed into
	// any form field.
	Username bool
	// Code reports whether the text is a one-time code, which may be typed into password
	// fields, fields that expect a code, and a row of boxes for one character each.
	Code bool
	// Texts are the values themselves, of which the text consists together with texts that
	// are not secret.
	Texts []Hidden
}

// SecretUse records that a run used a secret, was refused it, or that somebody changed it. It
// never has a value.
type SecretUse struct {
	At                        time.Time
	OrganizationID, ProjectID string
	// What is the action, as in "typed", "sent", "saved", "deleted", "code given".
	What string
	// Name and Field are those of the secret.
	Name, Field string
	// Outcome is "ok" or the code of the error. Reason says why it was refused.
	Outcome, Reason string
	// Host is the host that received the value or was refused it; empty: none.
	Host string
	// ExecutionID, RoutineID, RoutineVersion and Operation are those of the run; empty
	// without one. Operation counts from 1.
	ExecutionID, RoutineID string
	RoutineVersion         int
	Operation              int
	UserID, TokenID        string
	Via                    Via
}
