package placeholder

import (
	"fmt"
	"regexp"
	"strings"
)

// SecretHint says where the text of a stored secret may be filled in, and CodeHint where a
// one-time code may.
const (
	SecretHint = "a secret can be typed (text of input_text) or sent (values of the headers and of the body, and the query of the URL, of fetch and download)"
	CodeHint   = "a one-time code can be typed (text of input_text) or sent (values of the headers and of the body of fetch and download)"
)

var secretName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// ValidSecretName reports whether name can be the name of a secret or of one of its fields: a
// letter, then up to 63 letters, digits, "_" or "-".
func ValidSecretName(name string) bool { return secretName.MatchString(name) }

// SplitSecretName splits a text like "shop.password" into the names of a secret and of its
// field, which is empty if the text has none. It returns false if they are not valid names.
func SplitSecretName(text string) (name, field string, ok bool) {
	name, field, dotted := strings.Cut(text, ".")
	return name, field, ValidSecretName(name) && (!dotted || ValidSecretName(field))
}

// readSecret parses what follows the prefix of a token for a stored secret.
func readSecret(source Source, path, raw string, place Place) (*Token, *Fault) {
	path, _, fallback := strings.Cut(path, "||")
	path = strings.TrimSpace(path)
	_, field, valid := SplitSecretName(path)
	hint := SecretHint
	if source != Secret {
		valid, hint = valid && field == "", CodeHint
	}
	switch {
	case place == Script && !valid:
		return nil, nil // a label in nested blocks
	case place == Script:
		return nil, &Fault{Code: CodeNotAllowed, Message: raw + " cannot be used in a script", Hint: hint}
	case path == "":
		return nil, missingPathFault(raw, string(source))
	case !valid && source == Secret:
		return nil, &Fault{Code: CodeSecretName, Message: raw + " names no secret",
			Hint: "write {{secret:NAME}} or {{secret:NAME.FIELD}}; a name has a letter and then letters, digits, _ and -"}
	case !valid:
		return nil, &Fault{Code: CodeSecretName, Message: raw + " names no secret",
			Hint: fmt.Sprintf("write {{%s:NAME}}; a name has a letter and then letters, digits, _ and -", source)}
	case fallback:
		return nil, &Fault{Code: CodeNotAllowed, Message: raw + " has a fallback, which a secret cannot have", Hint: "remove || and the text after it"}
	}
	return &Token{Source: source, Name: path, Key: string(source) + ":" + path}, nil
}

// InQuery reports whether the token with the index i of a URL template is in the query: the
// author's own text before it has a question mark, and no number sign.
func (t *Template) InQuery(i int) bool { return t.holes[i].inQuery }

// findQuery sets inQuery of the holes of a URL.
func (t *Template) findQuery() {
	query, fragment := false, false
	for i := range t.holes {
		query = query || strings.Contains(t.texts[i], "?")
		fragment = fragment || strings.Contains(t.texts[i], "#")
		t.holes[i].inQuery = query && !fragment
	}
}
