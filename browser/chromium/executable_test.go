package chromium

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each kind of unusable --browser gets an error message of its own that says what to
// do.
func TestUnusableBrowsersAreExplained(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "my-browser")
	if err := os.Symlink(file("firefox-esr", "#!/bin/sh\n", 0o755), link); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ path, words, remedy string }{
		"nothing":                      {filepath.Join(dir, "absent"), "there is no file", "rote browser install"},
		"no command":                   {"no-such-browser", "no program no-such-browser is in the directories of PATH", "rote browser install"},
		"a directory":                  {dir, "is a directory", "such as " + filepath.Join(dir, "chrome")},
		"a text":                       {file("notes.txt", "hello", 0o644), "is not executable", "chmod +x"},
		"a text that is executable":    {file("notes", "hello", 0o755), "is no program that this system can run", "rote browser install"},
		"an empty file":                {file("empty", "", 0o755), "is no program that this system can run", "rote browser install"},
		"a device":                     {"/dev/null", "is no regular file", "rote browser install"},
		"another program":              {"/bin/ls", "ended instead of answering", "rote browser install"},
		"a script that fails":          {file("fails", "#!/bin/sh\necho oh no >&2\nexit 3\n", 0o755), "oh no", "rote browser install"},
		"a script that ends":           {file("ends", "#!/bin/sh\n", 0o755), "ended instead of answering", "rote browser install"},
		"a script without interpreter": {file("lost", "#!/no/such/shell\n", 0o755), "the interpreter or loader that it asks for is not installed", "rote browser install"},
		"a script that says nothing":   {file("silent", "#!/bin/sh\nexec sleep 60\n", 0o755), "does not answer as Chromium does", "rote browser install"},
		"a browser without a library": {
			file("chrome", "#!/bin/sh\necho chrome: error while loading shared libraries: libnss3.so: cannot open >&2\nexit 127\n", 0o755),
			"the library libnss3.so is missing", "package manager"},
		"Firefox":           {file("firefox", "#!/bin/sh\n", 0o755), "is firefox, which rote cannot drive", "name Chromium"},
		"a link to Firefox": {link, "is firefox, which rote cannot drive", "name Chromium"},
		"a driver":          {file("chromedriver", "#!/bin/sh\n", 0o755), "is chromedriver", "name Chromium"},
	} {
		t.Run(name, func(t *testing.T) {
			limit := testTime
			if strings.Contains(row.path, "silent") {
				limit = 300 * time.Millisecond // which it takes
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			path, err := Find(row.path)
			if err == nil {
				_, err = Check(ctx, path)
			}
			if err == nil || !strings.Contains(err.Error(), row.words) || !strings.Contains(err.Error(), row.remedy) {
				t.Errorf("error %v, want %q and %q", err, row.words, row.remedy)
			}
		})
	}
}
