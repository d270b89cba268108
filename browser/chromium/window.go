package chromium

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Window makes a [Launcher] start a browser with a window, in which a person works: with the
// display and the environment of our own process, and with a profile of its own.
// Pages see an ordinary browser. It keeps running, also with its session cookies, when the
// person has closed its last window.
type Window struct {
	// Proxy is the address of the proxy on this machine that is its only way to the network;
	// empty for the network of our own process.
	Proxy string
	// Headless starts it without a window, for tests.
	Headless bool
}

// flags are the command line of the browser. Chromium says navigator.webdriver to pages because
// of the pipe; the two flags that prevent it show no bar together.
func (w *Window) flags(profile string, sandbox bool) []string {
	f := []string{"--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--no-default-browser-check", "--disable-sync",
		"--disable-component-update", "--password-store=basic", "--use-mock-keychain", "--keep-alive-for-test",
		"--disable-blink-features=AutomationControlled", "--test-type"}
	if w.Headless {
		f = append(f, "--headless=new")
	}
	if w.Proxy != "" {
		f = append(append(f, confiningFlags(localProxyHost)...), "--proxy-server=http://"+w.Proxy, "--disable-background-networking",
			"--disable-features="+strings.Join(disabledFeatures, ","))
	}
	if !sandbox {
		f = append(f, "--no-sandbox")
	}
	return append(f, "about:blank")
}

// environment are the environment variables of the browser: ours without those with which rote
// itself is configured, because some are secrets. A user of its own gets a home of its own.
func (w *Window) environment(home string, ownUser bool) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ROTE_") })
	env = append(env, "TMPDIR="+temporaryOf(home))
	if ownUser {
		env = append(env, "HOME="+home)
	}
	return env
}

// writeSettings writes the settings of a new profile: it does not offer to store passwords, and
// keeps session cookies when the last window closes, as for a browser that starts with the
// pages of the last time.
func (w *Window) writeSettings(profile string, c confinement) error {
	settings, err := json.Marshal(map[string]any{
		"credentials_enable_service": false,
		"profile":                    map[string]any{"password_manager_enabled": false},
		"session":                    map[string]any{"restore_on_startup": 1},
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(profile, "Default")
	path := filepath.Join(dir, "Preferences")
	return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, settings, 0o600), c.giveTo(dir), c.giveTo(path))
}

// windowCandidates are the usual paths of browsers that can open a window, best first.
func windowCandidates() []string {
	if runtime.GOOS != "darwin" {
		return []string{"google-chrome-stable", "google-chrome", "/opt/google/chrome/chrome", "/usr/lib/chromium/chromium",
			"/usr/lib64/chromium-browser/chromium-browser", "chromium", "chromium-browser", "microsoft-edge-stable", "microsoft-edge",
			"/opt/microsoft/msedge/msedge"}
	}
	var all []string
	home, _ := os.UserHomeDir()
	for _, name := range []string{"Google Chrome", "Chromium", "Microsoft Edge"} {
		for _, root := range []string{"/", home} {
			all = append(all, filepath.Join(root, "Applications", name+".app", "Contents", "MacOS", name))
		}
	}
	return append(all, "chromium")
}

// headlessShell matches the names of browsers that cannot open a window.
var headlessShell = regexp.MustCompile(`headless[-_]shell$`)

// FindWindowed returns the path of a browser that can open a window: explicit if it is not
// empty, otherwise Chrome, Chromium or Edge, where one is installed. Its errors say what to do.
func FindWindowed(explicit string) (string, error) {
	if explicit == "" {
		for _, c := range windowCandidates() {
			if path, ok := firstOf([]string{c}); ok && !isSnap(path) {
				return path, nil
			}
		}
		return "", fmt.Errorf("no Chrome, Chromium or Edge was found, and the headless shell has no windows: %s, or name one with --browser FILE",
			howToGetWindowed())
	}
	path, err := findExplicit(explicit)
	switch {
	case err != nil:
		return "", err
	case headlessShell.MatchString(filepath.Base(path)):
		return "", fmt.Errorf("%s is the headless shell, which has no windows: name Chrome, Chromium or Edge with --browser FILE, or leave --browser out", path)
	case isSnap(path):
		return "", fmt.Errorf("%s is a snap, whose profile rote could not remove: name Chrome, Chromium or Edge from another package with --browser FILE", path)
	}
	return path, nil
}

// isSnap reports whether a program is a snap. A snap has temporary directories of its own.
func isSnap(path string) bool { return strings.HasPrefix(path, "/snap/") }

// howToGetWindowed is how to install a browser with windows on this machine.
func howToGetWindowed() string {
	m, ok := installedManager()
	if !ok {
		return "install one"
	}
	line := m.name + " " + strings.Join(m.install, " ") + " chromium"
	if m.name != "brew" {
		line = "sudo " + line
	}
	return "install one (" + line + ")"
}

// firstOf returns the first of some programs that is installed. Those without a path are looked
// for in PATH.
func firstOf(programs []string) (path string, ok bool) {
	for _, c := range programs {
		if !filepath.IsAbs(c) {
			if path, err := exec.LookPath(c); err == nil {
				return path, true
			}
			continue
		}
		if info, err := os.Stat(c); err == nil && info.Mode().IsRegular() {
			return c, true
		}
	}
	return "", false
}
