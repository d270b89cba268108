package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// takeFiles takes the files that the pages received during an operation. The last file
// becomes the result of the run, unless an operation after the click has set another.
func (r *runner) takeFiles(ctx context.Context, last bool) error {
	k, _ := operation.KindOf(r.Record.Type)
	if k.Ends() {
		r.resultSet = true
	} else if k.SendsFiles {
		r.resultSet = false
	}
	files, err := r.Page.Files(ctx, last && k.SendsFiles)
	var names []string
	for _, f := range files {
		f.Name = r.unusedName(operation.FileName(r.hidden.text(f.Name)))
		f.ContentType = r.hidden.text(f.ContentType)
		if err := r.concealFile(&f); err != nil {
			return err
		}
		r.files = append(r.files, f)
		names = append(names, f.Name)
		if r.resultSet {
			continue
		}
		if err := r.SetFile(f); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		r.SetDetail("files", names)
	}
	return err
}

// unusedName returns a name that no file of the run has: "a (2).csv" if there is an
// "a.csv".
func (r *runner) unusedName(name string) string {
	if name == "" {
		name = "download"
	}
	if extension := filepath.Ext(name); len(name) > maxFileName && len(extension) < 20 {
		name = strings.ToValidUTF8(name[:maxFileName-len(extension)], "") + extension
	}
	used := map[string]bool{routine.ScreenshotFile: true}
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

// maxFileName bounds the name of a file in bytes.
const maxFileName = 200
