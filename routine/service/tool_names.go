package service

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxToolName is the longest tool name in bytes. With it "mcp__<server>__<name>" stays within
// the 64 characters that clients allow.
const maxToolName = 40

// reservedTools are the names of the built-in tools of package mcp.
var reservedTools = map[string]bool{
	"search_routines": true, "describe_routine": true, "run_routine": true, "get_execution": true, "cancel_execution": true,
	"validate_routine": true, "create_routine": true, "update_routine": true, "archive_routine": true, "publish_routine": true,
	"list_executions": true, "create_schedule": true, "list_schedules": true, "update_schedule": true, "delete_schedule": true,
	"start_lesson": true, "take_snapshot": true, "list_network_requests": true, "try_operation": true, "undo_operations": true,
	"save_lesson": true, "end_lesson": true, "import_routine": true,
}

// toolName derives the name of a routine's tool from the name of the routine. It has letters
// a to z, digits and underscores, and starts with a letter. From the second attempt on, and
// for the name of a built-in tool, it ends with a suffix that is derived from the routine's
// id, so that it differs from other tools. attempt counts from 0.
func toolName(name, id string, attempt int) string {
	slug := slugify(name)
	if slug == "" {
		slug = "routine_" + idSuffix(id, 0)
	}
	if slug[0] < 'a' || slug[0] > 'z' {
		slug = "routine_" + slug
	}
	if attempt == 0 && !reservedTools[slug] {
		return truncateSlug(slug, maxToolName)
	}
	suffix := "_" + idSuffix(id, attempt)
	return truncateSlug(slug, maxToolName-len(suffix)) + suffix
}

// undecomposed replaces letters that Unicode does not decompose into a letter and an accent.
var undecomposed = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "þ", "th", "ð", "d")

// slugify returns name in lower case without accents, and with one underscore for each run of
// other characters. It is empty for a name without letters a to z and digits.
func slugify(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(undecomposed.Replace(strings.ToLower(name))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // an accent, decomposed from its letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}

// truncateSlug shortens a slug to at most n bytes, at an underscore in its second half if
// there is one.
func truncateSlug(slug string, n int) string {
	if len(slug) <= n {
		return slug
	}
	short := slug[:n]
	if i := strings.LastIndexByte(short, '_'); i > n/2 && slug[n] != '_' {
		short = short[:i]
	}
	return strings.TrimRight(short, "_")
}

// idSuffix returns five characters that depend on an id and the number of the attempt; those
// of attempts 0 and 1 are equal.
func idSuffix(id string, attempt int) string {
	hash := sha256.Sum256([]byte(id + strconv.Itoa(max(attempt-1, 0))))
	return strings.ToLower(base32.StdEncoding.EncodeToString(hash[:]))[:5]
}
