package operation

import (
	"fmt"
	"mime"
	"net/url"
	"path/filepath"
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// anyFile are content types that servers send for all kinds of files.
var anyFile = map[string]bool{
	"": true, "application/octet-stream": true, "binary/octet-stream": true, "application/download": true, "application/x-download": true,
	"application/force-download": true,
}

// typesOf are the beginnings of the content types that files of such names come
// with. Of others only a web page is out of place.
var typesOf = map[string][]string{
	".pdf": {"application/pdf", "application/x-pdf"},
	".png": {"image/"}, ".jpg": {"image/"}, ".jpeg": {"image/"}, ".gif": {"image/"}, ".webp": {"image/"}, ".svg": {"image/"},
	".mp3": {"audio/"}, ".wav": {"audio/"}, ".mp4": {"video/", "audio/"}, ".webm": {"video/", "audio/"},
	".zip": {"application/zip", "application/x-zip"},
	".csv": {"text/csv", "text/plain", "text/comma-separated-values", "application/csv", "application/vnd.ms-excel"},
}

// pages are the extensions with which a web page is expected.
var pages = map[string]bool{"": true, ".html": true, ".htm": true, ".xhtml": true, ".txt": true, ".md": true}

// contentTypeMismatch describes a download whose content type does not fit its file
// name. It returns an empty string if it may fit.
func contentTypeMismatch(filename, contentType, asked, from string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = strings.ToLower(strings.TrimSpace(contentType))
	}
	extension := strings.ToLower(filepath.Ext(filename))
	types, known := typesOf[extension]
	fits := pages[extension] || kind != "text/html" && kind != "application/xhtml+xml"
	if known {
		fits = anyFile[kind]
		for _, t := range types {
			fits = fits || strings.HasPrefix(kind, t)
		}
	}
	if fits {
		return ""
	}
	text := fmt.Sprintf("%s was answered with %s, which is no %s file", routine.Truncate(filename, 80), routine.Truncate(kind, 60), extension)
	if redirected(asked, from) {
		text += ", after a redirect to " + routine.ShownURL(from)
	}
	return text
}

// redirected reports whether a response came from another URL than the requested one.
func redirected(asked, from string) bool {
	end, err := url.Parse(from)
	if err != nil {
		return false
	}
	begin, err := end.Parse(asked)
	return err == nil && (begin.Host != end.Host || strings.TrimSuffix(begin.Path, "/") != strings.TrimSuffix(end.Path, "/"))
}

// FileName returns the file name for a download that is named text, or an empty string
// if nothing valid is left of it.
func FileName(text string) string {
	t, _ := placeholder.Parse(text, placeholder.Filename)
	name, err := t.FillText(nil)
	if err != nil {
		return ""
	}
	return name
}
