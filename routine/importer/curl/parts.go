package curl

import (
	"regexp"
	"strings"

	"rote/routine/importer/draft"
)

// part matches a part of a body with several, up to the end of the first line of its value.
var part = regexp.MustCompile(`name="([^"\r\n]*)"((?:; filename="[^"\r\n]*")?(?:\r?\n[^\r\n]+)*\r?\n\r?\n)([^\r\n]*)`)

// parts replaces the secrets of a body with several parts, as browsers copy it: without the contents of files.
func (q *request) parts(text string) string {
	return part.ReplaceAllStringFunc(text, func(one string) string {
		m := part.FindStringSubmatch(one)
		switch name, value := m[1], m[3]; {
		case strings.HasPrefix(m[2], "; filename="):
			q.d.Change("multipart", "browsers copy the request without the contents of the file %s", draft.Shown(name))
		case !strings.Contains(value, mark) && draft.IsSecret(name, value):
			q.d.Change("secret", "the value of %s is a secret, which is not kept: a call gives it", draft.Shown(name))
			return strings.TrimSuffix(one, value) + q.d.Parameter(name, value, true)
		}
		return one
	})
}
