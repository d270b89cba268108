package httpapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	swagger "github.com/swaggest/swgui/v5/static"

	"rote/httpapi/docs"
	"rote/routine"
)

// maxDocsQuery bounds the text that is searched for, in bytes.
const maxDocsQuery = 200

// docsPolicy is the content security policy of the documentation: only files of this
// service. It has no scripts.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// referencePolicy is that of the API reference. Swagger UI sets inline styles.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const referencePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>rote</title>
<link rel="icon" href="%[1]s/docs/api/favicon-32x32.png">
<link rel="stylesheet" href="%[1]s/docs/api/swagger-ui.css">
<body data-document="%[1]s/openapi.yaml">
<div id="docs"></div>
<script src="%[1]s/docs/api/swagger-ui-bundle.js"></script>
<script src="%[1]s/docs/api/start.js"></script>
`

const referenceStart = `SwaggerUIBundle({
  url: document.body.dataset.document,
  dom_id: "#docs",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
`

// referenceFiles are the files of Swagger UI that the page uses, with their media
// types. The module embeds texts compressed.
var referenceFiles = map[string]struct{ file, mediaType string }{
	"swagger-ui.css":       {"swagger-ui.css.gz", "text/css; charset=utf-8"},
	"swagger-ui-bundle.js": {"swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"},
	"favicon-32x32.png":    {"favicon-32x32.png", "image/png"},
}

// docsIndex returns the list of the pages of the documentation or, with the parameter q, the
// sections that have its words.
func (a *api) docsIndex(q *request) (response, error) {
	q.w.Header().Set("Content-Security-Policy", docsPolicy)
	query := routine.Truncate(q.URL.Query().Get("q"), maxDocsQuery)
	return response{status: http.StatusOK, body: document{"text/html; charset=utf-8", docs.Index(query)}}, nil
}

// docsPage returns a page of the documentation or a file that it needs.
func (a *api) docsPage(q *request) (response, error) {
	q.w.Header().Set("Content-Security-Policy", docsPolicy)
	name := chi.URLParam(q.Request, "*")
	if name == "style.css" {
		return response{status: http.StatusOK, body: document{"text/css; charset=utf-8", docs.Style}}, nil
	}
	if picture, isPicture := strings.CutPrefix(name, "pictures/"); isPicture {
		if png, ok := docs.Picture(picture); ok {
			return response{status: http.StatusOK, body: document{"image/png", png}}, nil
		}
	}
	page, ok := docs.Page(name)
	if !ok {
		return a.notFound(q)
	}
	return response{status: http.StatusOK, body: document{"text/html; charset=utf-8", page}}, nil
}

// reference returns a page with the API reference, from which calls can be tried. It
// loads nothing from other hosts.
func (a *api) reference(q *request) (response, error) {
	q.w.Header().Set("Content-Security-Policy", referencePolicy)
	return response{status: http.StatusOK, body: document{"text/html; charset=utf-8", fmt.Appendf(nil, referencePage, html.EscapeString(a.base))}}, nil
}

func (a *api) referenceFile(q *request) (response, error) {
	name := chi.URLParam(q.Request, "*")
	if name == "start.js" {
		return response{status: http.StatusOK, body: document{"text/javascript; charset=utf-8", []byte(referenceStart)}}, nil
	}
	asset, known := referenceFiles[name]
	if !known {
		return a.notFound(q)
	}
	data, err := readAsset(asset.file)
	if err != nil {
		return response{}, routine.Internal("read "+asset.file, err)
	}
	return response{status: http.StatusOK, body: document{asset.mediaType, data}}, nil
}

// readAsset reads a file of Swagger UI and decompresses it if its name ends in .gz.
func readAsset(name string) ([]byte, error) {
	data, err := fs.ReadFile(swagger.FS, name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return data, err
	}
	text, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(text)
}
