package chromium

import (
	"errors"
	"runtime"
)

// ErrNotFound says that no browser was found at the usual places.
var ErrNotFound = errors.New("no headless shell, Chromium or Chrome found")

// candidates are the usual paths of browsers, best first. The headless shell precedes
// full Chromium: it opens a context four times as fast and needs a third of the memory.
// Debian's /usr/bin/chromium is a shell script, so the program that it starts precedes
// it.
func candidates() []string {
	if runtime.GOOS == "darwin" {
		return []string{"chrome-headless-shell", "/Applications/Chromium.app/Contents/MacOS/Chromium",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "chromium"}
	}
	return []string{"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell", "headless-shell",
		"/usr/lib64/chromium-browser/headless_shell", "/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser",
		"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "/snap/bin/chromium"}
}

// Find returns the path of the browser to use: explicit if it is not empty, otherwise the
// best one that is installed. It fails with ErrNotFound if there is none. The error about
// an explicit one says what to do.
func Find(explicit string) (string, error) {
	if explicit != "" {
		return findExplicit(explicit)
	}
	if path, ok := firstOf(candidates()); ok {
		return path, nil
	}
	return "", ErrNotFound
}
