package operation

import (
	"fmt"
	"mime"
	"net/url"
	"path/filepath"
	"rote/routine"
	"rote/routine/placeholder"
	"strings"
)

// anyFile are the content types that servers give whatever file it is.
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

// pages are the names under which a web page is no surprise.
var pages = map[string]bool{"": true, ".html": true, ".htm": true, ".xhtml": true, ".txt": true, ".md": true}

// unlike says what a download is when its content type is not one of the file
// that its name promises; empty: it may well be that.
func unlike(filename, contentType, asked, from string) string {
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

// redirected tells whether an answer came from elsewhere than was asked.
func redirected(asked, from string) bool {
	end, err := url.Parse(from)
	if err != nil {
		return false
	}
	begin, err := end.Parse(asked)
	return err == nil && (begin.Host != end.Host || strings.TrimSuffix(begin.Path, "/") != strings.TrimSuffix(end.Path, "/"))
}

// FileName is what a download's literal name becomes; empty when that is none.
func FileName(text string) string {
	t, _ := placeholder.Parse(text, placeholder.Filename)
	name, err := t.FillText(nil)
	if err != nil {
		return ""
	}
	return name
}
