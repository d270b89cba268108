package operation

import (
	"regexp"

	"rote/routine"
)

// CredentialPattern matches a part of the names of headers and query parameters whose
// values are credentials. The flag (?i) must precede it.
const CredentialPattern = "authorization|cookie|token|api-key|apikey|secret|password|csrf|xsrf"

var credentialName = regexp.MustCompile("(?i)" + CredentialPattern)

// maskHeaders returns headers with the values of those that carry credentials masked.
func maskHeaders(headers map[string]string) map[string]string {
	shown := make(map[string]string, len(headers))
	for name, value := range headers {
		if credentialName.MatchString(name) {
			value = routine.Masked
		}
		shown[name] = value
	}
	return shown
}
