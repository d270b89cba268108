package chromium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// manager is a package manager: the commands that update its lists and install
// packages, and the packages with a browser, best first.
type manager struct {
	name    string
	update  []string
	install []string
	choices [][]string
}

var managers = []manager{
	{"apt-get", []string{"update"}, []string{"install", "--yes", "--no-install-recommends"},
		[][]string{{"chromium-headless-shell", sandboxPackage, "fonts-liberation"}, {"chromium", sandboxPackage, "fonts-liberation"}, {"chromium-browser"}}},
	{"dnf", nil, []string{"install", "--assumeyes"}, [][]string{{"chromium-headless"}, {"chromium"}}},
	{"apk", []string{"update"}, []string{"add"}, [][]string{{"chromium-headless-shell", "font-liberation"}, {"chromium", "font-liberation"}}},
	{"brew", nil, []string{"install", "--cask"}, [][]string{{"chromium"}}},
}

// Install installs a browser if there is none, and returns its path. It uses the
// system's package manager and writes what it does to log. If it has no right to do so,
// the error contains the command to run.
func Install(ctx context.Context, log io.Writer) (string, error) {
	path, err := Find("")
	if !errors.Is(err, ErrNotFound) {
		return path, err
	}
	m, ok := installedManager()
	if !ok {
		return "", errors.New("no browser is installed and no package manager was found (apt-get, dnf, apk, brew): " +
			"install Chromium by hand and name it with --browser FILE")
	}
	prefix, err := m.privilegePrefix()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(log, "No browser is installed; %s will install one. That takes some minutes.\n", m.name)
	if err := m.updateLists(ctx, log, prefix); err != nil {
		return "", err
	}
	var failures []error
	for _, packages := range m.choices {
		if err := m.installPackages(ctx, log, prefix, packages...); err != nil {
			failures = append(failures, err)
			continue
		}
		if path, err := Find(""); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s could not install a browser: install Chromium by hand and name it with --browser FILE: %w", m.name, errors.Join(failures...))
}

// InstallSandbox installs the setuid helper of Chromium's sandbox where it is a
// package of its own and is missing. It reports whether it installed it.
func InstallSandbox(ctx context.Context, log io.Writer, executable string) (bool, error) {
	m, ok := installedManager()
	if !ok || !lacksHelper(executable) {
		return false, nil
	}
	prefix, err := m.privilegePrefix()
	if err != nil {
		return false, nil // the check says what to do
	}
	fmt.Fprintf(log, "Chromium's sandbox does not work here without its helper; %s will install that.\n", m.name)
	if err := m.updateLists(ctx, log, prefix); err != nil {
		return false, err
	}
	return true, m.installPackages(ctx, log, prefix, sandboxPackage)
}

// updateLists updates the manager's lists of packages.
func (m manager) updateLists(ctx context.Context, log io.Writer, prefix []string) error {
	if m.update == nil {
		return nil
	}
	if err := command(ctx, log, prefix, m.name, m.update...); err != nil {
		return fmt.Errorf("%w: is the network there?", err)
	}
	return nil
}

// installPackages installs packages.
func (m manager) installPackages(ctx context.Context, log io.Writer, prefix []string, packages ...string) error {
	return command(ctx, log, prefix, m.name, slices.Concat(m.install, packages)...)
}

func installedManager() (manager, bool) {
	for _, m := range managers {
		if _, err := exec.LookPath(m.name); err == nil {
			return m, true
		}
	}
	return manager{}, false
}

// privilegePrefix is the prefix that a command needs to install packages.
func (m manager) privilegePrefix() ([]string, error) {
	if m.name == "brew" || os.Geteuid() == 0 {
		return nil, nil
	}
	if exec.Command("sudo", "-n", "true").Run() == nil {
		return []string{"sudo", "-n"}, nil
	}
	return nil, fmt.Errorf("no browser is installed, and installing one needs root: run\n  %s", m.manualCommand())
}

// manualCommand is the command line with which a user installs what Install would install. It
// updates the lists of packages first, because a new system has none.
func (m manager) manualCommand() string {
	line := fmt.Sprintf("sudo %s %s %s", m.name, strings.Join(m.install, " "), strings.Join(m.choices[0], " "))
	if m.update != nil {
		line = fmt.Sprintf("sudo %s %s && %s", m.name, strings.Join(m.update, " "), line)
	}
	return line
}

// command runs one command. It writes the command and its output to log at once, because
// some commands take minutes.
func command(ctx context.Context, log io.Writer, prefix []string, name string, args ...string) error {
	line := slices.Concat(prefix, []string{name}, args)
	fmt.Fprintf(log, "+ %s\n", strings.Join(line, " "))
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	c.Stdout, c.Stderr = log, log // the same writer, so that os/exec does not write concurrently
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(line, " "), err)
	}
	return nil
}
