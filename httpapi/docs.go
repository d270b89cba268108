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

	"rote/routine"
)

// docsPolicy is the content security policy of /docs: only files of this
// service. Swagger UI sets inline styles.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const docsPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>rote</title>
<link rel="icon" href="%[1]s/docs/favicon-32x32.png">
<link rel="stylesheet" href="%[1]s/docs/swagger-ui.css">
<body data-document="%[1]s/openapi.yaml">
<div id="docs"></div>
<script src="%[1]s/docs/swagger-ui-bundle.js"></script>
<script src="%[1]s/docs/start.js"></script>
`

const docsStart = `SwaggerUIBundle({
  url: document.body.dataset.document,
  dom_id: "#docs",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
`

// docsFiles are the files of Swagger UI that the page uses, with their media
// types. The module embeds texts compressed.
var docsFiles = map[string]struct{ file, mediaType string }{
	"swagger-ui.css":       {"swagger-ui.css.gz", "text/css; charset=utf-8"},
	"swagger-ui-bundle.js": {"swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"},
	"favicon-32x32.png":    {"favicon-32x32.png", "image/png"},
}

// docs returns a page with the API reference, from which calls can be tried. It
// loads nothing from other hosts.
func (a *api) docs(q *request) (response, error) {
	q.w.Header().Set("Content-Security-Policy", docsPolicy)
	return response{status: http.StatusOK, body: document{"text/html; charset=utf-8", fmt.Appendf(nil, docsPage, html.EscapeString(a.base))}}, nil
}

func (a *api) docsFile(q *request) (response, error) {
	name := chi.URLParam(q.Request, "*")
	if name == "start.js" {
		return response{status: http.StatusOK, body: document{"text/javascript; charset=utf-8", []byte(docsStart)}}, nil
	}
	asset, known := docsFiles[name]
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
