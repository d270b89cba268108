package chromium

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// useAnother is the advice for an executable that is not a supported browser.
const useAnother = `name Chromium, Chrome or the headless shell with --browser FILE, or leave --browser out: ` +
	`then rote looks for one itself, and "rote browser install" installs one`

// findExplicit is the path of the executable that the user has configured. The error
// says what is wrong with the file and what to do.
func findExplicit(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, checkName(path)
	}
	info, missing := os.Stat(name)
	switch {
	case missing != nil && !strings.ContainsRune(name, filepath.Separator):
		return "", fmt.Errorf("no program %s is in the directories of PATH: %s", name, useAnother)
	case errors.Is(missing, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s: %s", name, useAnother)
	case missing != nil:
		return "", fmt.Errorf("%s cannot be looked at (%w): give this user access to it, or %s", name, missing, useAnother)
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory: name the browser's executable in it, such as %s", name, filepath.Join(name, "chrome"))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file: %s", name, useAnother)
	case !strings.ContainsRune(name, filepath.Separator):
		return "", fmt.Errorf("no program %s is in the directories of PATH: if you mean the file in this directory, write ./%s", name, name)
	}
	return "", fmt.Errorf("%s is not executable: if it is a browser's program, run chmod +x %s; else %s", name, name, useAnother)
}

// otherBrowsers are names of browsers and similar programs that do not support the
// protocol that rote uses.
var otherBrowsers = regexp.MustCompile(`(?i)^(firefox|iceweasel|librewolf|waterfox|safari|epiphany|konqueror|geckodriver|chromedriver)`)

// checkName fails if the file name is that of another browser, which would start,
// perhaps open a window, and never answer.
func checkName(path string) error {
	names := []string{filepath.Base(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, filepath.Base(real))
	}
	for _, name := range names {
		if other := otherBrowsers.FindString(name); other != "" {
			return fmt.Errorf("%s is %s, which rote cannot drive: %s", path, strings.ToLower(other), useAnother)
		}
	}
	return nil
}

var missingLibrary = regexp.MustCompile(`error while loading shared libraries: ([^:\s]+)`)

// explainCheck adds to the reason why an executable did not start what to do
// about it.
func explainCheck(executable string, err error) error {
	switch library := missingLibrary.FindStringSubmatch(err.Error()); {
	case errors.Is(err, ErrNoSandbox): // it already says what to do
		return err
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is no program that this system can run (a script needs a first line such as #!/bin/sh): %s", executable, useAnother)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s cannot be run, because the interpreter or loader that it asks for is not installed: install that, or %s", executable, useAnother)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: this user may not run it, or it lies on a file system mounted noexec; %s", err, useAnother)
	case errors.Is(err, errSilent) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: it runs, but does not answer as Chromium does; if it is one, see whether the machine is overloaded; else %s", err, useAnother)
	case library != nil:
		return fmt.Errorf("%w: the library %s is missing; install the browser with the system's package manager, which brings its libraries along", err, library[1])
	}
	return fmt.Errorf("%w: it ended instead of answering as Chromium does; %s", err, useAnother)
}
