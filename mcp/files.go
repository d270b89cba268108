package mcp

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

// fileDescription describes a file of an execution in an answer.
type fileDescription struct {
	Name  string `json:"name"`
	MIME  string `json:"mime"`
	Bytes int64  `json:"bytes"`
	Where string `json:"where"`
	// URI is the resource to read the file as.
	URI string `json:"uri"`
	// Path is where the file is on this machine, for clients that run here.
	Path string `json:"path,omitempty"`
}

const (
	readHint = "not in this answer: read the resource uri"
	openHint = "not in this answer: open path, or read the resource uri"
)

// fileURI returns the URI of a file of an execution.
func fileURI(executionID, name string) string {
	return "execution://" + executionID + "/files/" + url.PathEscape(name)
}

// addDownload adds the downloaded file of a run to the answer. A small image
// becomes content of its own, and a text becomes data. Any other file becomes a
// link, or an embedded resource if the server is configured so: some clients fail
// on those.
func (a *answer) addDownload(s *Server, e *routine.Execution) []mcp.Content {
	content := decodeDownload(e.Result)
	f := fileDescription{Name: truncate(clean(e.Result.Filename), 200), MIME: mediaType(e.Result.ContentType), Bytes: int64(len(content)),
		Path: s.placeLocally(e, content)}
	if kind, ok := imageType(content); ok && len(content) <= maxImage {
		f.MIME, f.Where, f.URI = kind, "in this answer, as an image", fileURI(e.ID, e.Result.Filename)
		a.Files = append(a.Files, f)
		return []mcp.Content{mcp.NewImageContent(base64.StdEncoding.EncodeToString(content), kind)}
	}
	if isText(f.MIME) && utf8.Valid(content) {
		f.Where, f.URI = "in this answer, as text in data", fileURI(e.ID, e.Result.Filename)
		a.Files = append(a.Files, f)
		a.Data = cleanJSON(routine.RawJSON(string(content)))
		return nil
	}
	link := a.addLink(e.ID, f)
	if s.embedFiles && len(content) <= maxImage {
		a.Files[len(a.Files)-1].Where = "in this answer, as an embedded resource"
		return []mcp.Content{mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: fileURI(e.ID, e.Result.Filename), MIMEType: f.MIME,
			Blob: base64.StdEncoding.EncodeToString(content)})}
	}
	return []mcp.Content{link}
}

// addLink adds a file to the answer as a resource to read.
func (a *answer) addLink(executionID string, f fileDescription) mcp.Content {
	f.URI, f.Where = fileURI(executionID, f.Name), readHint
	description := ""
	if f.Path != "" {
		f.Where, description = openHint, "On this machine: "+f.Path
	}
	a.Files = append(a.Files, f)
	return mcp.NewResourceLink(f.URI, f.Name, description, f.MIME)
}

// placeLocally puts the file of a result where clients on this machine can open it
// and returns its path, or "" if the server has no such directory.
func (s *Server) placeLocally(e *routine.Execution, content []byte) string {
	if s.local == nil {
		return ""
	}
	path, err := s.local.put(e.ID, e.Result.Filename, content)
	if err != nil { // it can still be read as a resource
		s.log.Warn("file of an execution could not be put on disk", "execution_id", e.ID, "error", err)
		return ""
	}
	return path
}

// decodeDownload returns the content of a result that is a file.
func decodeDownload(r *routine.Result) []byte {
	var encoded string
	_ = json.Unmarshal(r.Data, &encoded) // a download's data is a string
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	return content
}

// isText reports whether files of a media type can be shown to an agent as text.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/javascript":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// mediaType returns a content type without its parameters.
func mediaType(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// imageType returns the type of an image, and reports whether content is one. It
// looks at the content itself: a wrong type makes some clients fail for good.
func imageType(content []byte) (string, bool) {
	switch kind := http.DetectContentType(content); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind, true
	}
	return "", false
}
