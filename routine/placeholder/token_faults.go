package placeholder

import (
	"fmt"
	"slices"
	"strings"
)

func missingPathFault(raw, prefix string) *Fault {
	return &Fault{Code: CodeEmpty, Message: fmt.Sprintf("%s does not say what to read", raw),
		Hint: fmt.Sprintf("write {{%s:name}}", prefix)}
}

func notInScriptFault(raw string, source Source) *Fault {
	f := &Fault{Code: CodeNotAllowed, Message: raw + " cannot stand in a script, where only parameters can"}
	switch source {
	case UUID:
		f.Hint = "the script can call crypto.randomUUID()"
	case EpochMilliseconds:
		f.Hint = "the script can call Date.now()"
	case Cookie:
		f.Hint = "the script can read document.cookie"
	case Meta:
		f.Hint = "the script can call document.querySelector('meta[name=\"...\"]')"
	case WindowProperty:
		f.Hint = "the script can read the property itself"
	default:
		f.Hint = fmt.Sprintf("the script can call %s.getItem", source)
	}
	return f
}

func unknownPrefixFault(raw, prefix, near string) *Fault {
	f := &Fault{Code: CodeUnknownPrefix, Message: fmt.Sprintf("%s has the unknown prefix %q", raw, prefix)}
	if near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near+":")
		return f
	}
	var words []string
	for _, p := range slices.Concat(prefixes, secretPrefixes) {
		words = append(words, string(p)+":")
	}
	f.Hint = "the prefixes are " + strings.Join(words, ", ")
	return f
}

// unknownTokenFault returns the fault for text that is neither a name nor has a
// prefix. In a script it is code and therefore no fault.
func unknownTokenFault(raw, name string, place Place) *Fault {
	if place == Script {
		return nil
	}
	f := &Fault{Code: CodeUnknown, Message: raw + " is no placeholder", Hint: "a parameter's name has letters, digits and underscores only"}
	if head, _, ok := strings.Cut(name, "||"); ok && parameterName.MatchString(strings.TrimSpace(head)) {
		f.Hint = "only a placeholder with a prefix can have a fallback: give the parameter a default"
	}
	return f
}

// suggestPrefix returns the prefix that word is probably a misspelling of, or
// "". In a script, where the word may be a label, it is none of a stored secret.
func suggestPrefix(word string, place Place) string {
	fold := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(word))
	if fold == "window" {
		return string(WindowProperty)
	}
	best, least := "", 3
	candidates := prefixes
	if place != Script {
		candidates = slices.Concat(prefixes, secretPrefixes)
	}
	for _, p := range candidates {
		// A short prefix is similar to too many words.
		if d := editDistance(fold, strings.ToLower(string(p))); d < min(least, len(p)/3+1) {
			best, least = string(p), d
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions and replacements
// that turn a into b.
func editDistance(a, b string) int {
	if len(a) > 2*len(b) {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
