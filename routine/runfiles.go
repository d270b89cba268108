package routine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// takeFiles takes the files that the pages were sent by the end of an operation.
// The last one is the result of the run, unless an operation after the click has
// set another.
func (r *Run) takeFiles(ctx context.Context, last bool) error {
	k, _ := kindNamed(r.record.Type)
	if k.Ends() {
		r.fixed = true
	} else if k.SendsFiles {
		r.fixed = false
	}
	files, err := r.page.Files(ctx, last && k.SendsFiles)
	var names []string
	for _, f := range files {
		f.Name = r.unusedName(fileName(r.hidden.text(f.Name)))
		f.ContentType = r.hidden.text(f.ContentType)
		r.files = append(r.files, f)
		names = append(names, f.Name)
		if r.fixed {
			continue
		}
		if err := r.setFile(f); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		r.detail("files", names)
	}
	return err
}

// setFile makes a file the result of the run so far.
func (r *Run) setFile(f File) error {
	data := make([]byte, base64.StdEncoding.EncodedLen(len(f.Data))+2)
	data[0], data[len(data)-1] = '"', '"'
	base64.StdEncoding.Encode(data[1:], f.Data)
	if err := r.setData(json.RawMessage(data), len(f.Data)); err != nil {
		return err
	}
	size := int64(len(f.Data))
	r.result.IsBase64, r.result.Filename, r.result.Size, r.result.ContentType = true, f.Name, &size, f.ContentType
	return nil
}

// unusedName is a name for another file of the run: "a.csv", "a (2).csv".
func (r *Run) unusedName(name string) string {
	if name == "" {
		name = "download"
	}
	if extension := filepath.Ext(name); len(name) > maxFileName && len(extension) < 20 {
		name = strings.ToValidUTF8(name[:maxFileName-len(extension)], "") + extension
	}
	used := map[string]bool{screenshotFile: true}
	for _, f := range r.files {
		used[f.Name] = true
	}
	extension := filepath.Ext(name)
	unused := name
	for n := 2; used[unused]; n++ {
		unused = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, extension), n, extension)
	}
	return unused
}

// maxFileName is how long the name of a file may be, in bytes.
const maxFileName = 200
