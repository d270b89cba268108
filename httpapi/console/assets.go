package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
)

//go:embed assets
var assetFiles embed.FS

// assets are the scripts, styles and pictures of the pages. Their path has the hash of all
// of them, so that a browser can keep them for ever.
type assets struct {
	hash  string
	files map[string]asset
}

// asset is one file, also compressed if that makes it smaller.
type asset struct {
	mediaType         string
	plain, compressed []byte
}

func newAssets() *assets {
	a := &assets{files: map[string]asset{}}
	hash := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		hash.Write([]byte(name + "\x00" + strconv.Itoa(len(text)) + "\x00"))
		hash.Write(text)
		a.files[strings.TrimPrefix(name, "assets/")] = newAsset(name, text)
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	a.hash = hex.EncodeToString(hash.Sum(nil))[:16]
	return a
}

// mediaTypes are those of assets by extension: the tables of the system differ.
var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}

func newAsset(name string, text []byte) asset {
	x := asset{mediaType: mediaTypes[path.Ext(name)], plain: text}
	if x.mediaType == "" {
		x.mediaType = mime.TypeByExtension(path.Ext(name))
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(text)                                  // a buffer takes everything
	_ = w.Close()
	if b.Len() < len(text) {
		x.compressed = b.Bytes()
	}
	return x
}

// path returns the path of a file below base.
func (a *assets) path(base, name string) string { return base + "/assets/" + a.hash + "/" + name }

// serve answers with a file. A path with another hash is one of another version of the
// program: the file of this version would not fit its page.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	x, known := a.files[chi.URLParam(r, "*")]
	if !known || chi.URLParam(r, "hash") != a.hash {
		http.Error(w, "there is no such file in this version of rote: reload the page", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Type", x.mediaType)
	h.Set("Vary", "Accept-Encoding")
	text := x.plain
	if x.compressed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = x.compressed
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // only the connection can fail here
}
