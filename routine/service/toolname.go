package service

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxToolName keeps "mcp__<server>__<name>" within the 64 characters that
// clients allow.
const maxToolName = 40

// reservedTools are the names of the service's own tools.
var reservedTools = map[string]bool{
	"search_routines": true, "describe_routine": true, "run_routine": true, "get_execution": true, "cancel_execution": true,
	"validate_routine": true, "create_routine": true, "update_routine": true, "archive_routine": true, "publish_routine": true,
	"list_executions": true,
}

// toolName derives the name under which a routine is published from its own:
// letters a to z, digits and underscores, beginning with a letter. From the
// second attempt on, or when the name is the service's own, a suffix made of
// the routine's id tells it from others of the same name.
func toolName(name, id string, attempt int) string {
	slug := slugify(name)
	if slug == "" {
		slug = "routine_" + idSuffix(id, 0)
	}
	if slug[0] < 'a' || slug[0] > 'z' {
		slug = "routine_" + slug
	}
	if attempt == 0 && !reservedTools[slug] {
		return cutWord(slug, maxToolName)
	}
	suffix := "_" + idSuffix(id, attempt)
	return cutWord(slug, maxToolName-len(suffix)) + suffix
}

// whole are the letters that Unicode does not take apart.
var whole = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "þ", "th", "ð", "d")

func slugify(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(whole.Replace(strings.ToLower(name))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // an accent, parted from its letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}

// cutWord shortens to n bytes, at a word boundary where one is near.
func cutWord(slug string, n int) string {
	if len(slug) <= n {
		return slug
	}
	cut := slug[:n]
	if i := strings.LastIndexByte(cut, '_'); i > n/2 && slug[n] != '_' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, "_")
}

func idSuffix(id string, attempt int) string {
	hash := sha256.Sum256([]byte(id + strconv.Itoa(max(attempt-1, 0))))
	return strings.ToLower(base32.StdEncoding.EncodeToString(hash[:]))[:5]
}
