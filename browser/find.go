package browser

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// ErrNotFound: no browser is installed where we look.
var ErrNotFound = errors.New("no headless shell, Chromium or Chrome found")

// candidates are where browsers live, best first. The headless shell comes
// before full Chromium: it opens a context four times as fast and needs a third
// of the memory. Debian's /usr/bin/chromium is a shell script, so the program
// behind it comes first.
func candidates() []string {
	if runtime.GOOS == "darwin" {
		return []string{"chrome-headless-shell", "/Applications/Chromium.app/Contents/MacOS/Chromium",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "chromium"}
	}
	return []string{"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell", "headless-shell",
		"/usr/lib64/chromium-browser/headless_shell", "/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser",
		"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "/snap/bin/chromium"}
}

// Find is the path of the browser to use: explicit when given, else the best
// that is installed. ErrNotFound when there is none; the error about an explicit
// one says what to do.
func Find(explicit string) (string, error) {
	if explicit != "" {
		return findExplicit(explicit)
	}
	for _, c := range candidates() {
		if !filepath.IsAbs(c) {
			if path, err := exec.LookPath(c); err == nil {
				return path, nil
			}
			continue
		}
		if info, err := os.Stat(c); err == nil && info.Mode().IsRegular() {
			return c, nil
		}
	}
	return "", ErrNotFound
}
