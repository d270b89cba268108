package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documentedCommands says of each command of the documentation, by the beginning of its line,
// which test or step of CI runs it, or after "not run:" why CI cannot. The longest beginning counts.
var documentedCommands = map[string]string{
	"rote serve":                         "TestServe",
	"rote serve --demo":                  "TestConsoleRoutines",
	"rote serve --audit-log":             "TestAuditLog",
	"rote serve --audit-log stderr":      "TestAuditLogOnStandardError",
	"rote serve --backup-to":             "TestBackupToBucket",
	"rote serve --browser-url":           "TestServeWithBrowserElsewhere",
	"rote serve --egress-listen":         "TestRunOnABrowserElsewhere",
	"rote serve --allowed-host":          "TestTrustedProxy",
	"rote serve --addr":                  "TestServe",
	"ROTE_BROWSER_TOKEN=… rote serve":    "TestServeWithBrowserElsewhere",
	"rote browser flags":                 "TestBrowserFlags",
	"rote browser install":               ".ci/run",
	"rote doctor":                        "TestDoctor",
	"rote executions":                    "TestReadmeFirstRoutine",
	"rote validate":                      "TestReadmeFirstRoutine",
	"rote run":                           "TestReadmeFirstRoutine",
	"rote add":                           "TestReadmeFirstRoutine",
	"rote list":                          "TestReadmeFirstRoutine",
	"rote show":                          "TestReadmeFirstRoutine",
	"rote import":                        "TestImport",
	"rote import recording.json":         "TestRecordingsOfAllToolsGiveTheSameData",
	"rote import project.side":           "TestImportAllTests",
	"rote import shop.har":               "TestRecordingsOfAllToolsGiveTheSameData",
	"rote import shop.spec.ts":           "TestScriptsGiveTheSameData",
	"rote import shop.spec.ts --resolve": "TestResolveOnTheCommandLine",
	"rote import login.json":             "TestResolveWithSecret",
	"rote import commands.txt":           "TestRecordingsOfAllToolsGiveTheSameData",
	"rote export":                        "TestExport",
	"rote key":                           "TestKeyCommands",
	"(umask 077; rote key new":           "TestPostgresCommands",
	"rote secret set":                    "TestRoutinesStayLoggedIn",
	"rote session":                       "TestRoutinesStayLoggedIn",
	"rote run read_orders":               "TestRoutinesStayLoggedIn",
	"rote login":                         "TestLogin",
	"rote mend":                          "TestMendCommand",
	"rote record":                        "TestRecordSearch",
	"rote token create":                  "TestTokens",
	"rote token list":                    "TestTokens",
	"rote token revoke":                  "TestTokens",
	"rote backup":                        "TestRestoreAndPrune",
	"rote backup s3:":                    "TestBackupToBucket",
	"rote restore":                       "TestRestoreAndPrune",
	"rote restore s3:":                   "TestBackupToBucket",
	"rote schedule":                      "TestScheduleCommands",
	"rote teach":                         "TestReadmeTeach",
	"curl ":                              "TestReadmeFirstRoutine",
	"(umask 077; echo":                   "TestReadmeFirstRoutine",
	"export TOKEN":                       "TestReadmeFirstRoutine",
	"export ROTE_CONFIG":                 "TestReadmeFirstRoutine",
	"export ROTE_DB":                     "TestPostgresCommands",
	"cat > ~/rote.yaml":                  "TestReadmeFirstRoutine",
	"CGO_ENABLED=0 go build":             ".ci/run",
	"go run ./cmd/rote demo":             ".ci/run",
	"go run ./cmd/rote browser install":  ".ci/run",
	"go run ./cmd/rote/bench":            "not run: it compares with other tools, which take minutes and a quiet machine",
	"git clone":                          "not run: the address is that of your copy; CI itself starts from a clone",
	"claude mcp add":                     "not run: a client with an account; TestReadmeFirstRoutine calls what it would",
	"codex mcp add":                      "not run: a client with an account; TestReadmeFirstRoutine calls what it would",
	"docker ":                            "not run: CI has no containers; its step of the files for deployment checks the image's definition",
	"kubectl ":                           "not run: CI has no cluster",
	"helm install":                       "not run: CI has no cluster; its step of the files for deployment renders the chart and checks it",
	"sha256sum --check":                  ".ci/package",
	"tar -xzf":                           ".ci/package",
	"jq ":                                "not run: .ci/package looks into the list of components without jq",
	"install rote":                       "not run: CI does not install into the system",
	"apt ":                               "not run: CI does not install into the system; .ci/package looks into the package",
	"dnf ":                               "not run: the system of CI has no dnf",
	"systemctl ":                         "not run: containers of CI have no systemd; .ci/run has the unit verified",
	"journalctl ":                        "not run: containers of CI have no systemd",
	"rm -r /var/lib/private/rote":        "not run: CI does not install into the system",
	"CGO_ENABLED=0 go install":           "not run: .ci/run builds the same program, without installing it",
}

// documentedLines returns the lines with commands of a page: those of its blocks for the shell,
// without the comment at their end, with lines joined that go on, and without sudo and ./.
func documentedLines(page string) (lines []string) {
	shown := strings.Join(blocks(page, "sh"), "\n")
	for _, block := range regexp.MustCompile(`(?m)(^\n|\A)((?: {4}.*\n)+)`).FindAllStringSubmatch(page, -1) {
		shown += "\n" + block[2]
	}
	shown = strings.ReplaceAll(shown, "\\\n", "")
	for line := range strings.Lines(shown) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "sudo "), "./")
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// insideOfFiles are lines of files that a page shows in a block for the shell.
var insideOfFiles = regexp.MustCompile(`^(db:|allow-host:|END$|[{"}\]])`)

// Each command of the documentation is run by a test or by CI, or it is known why not; and the
// arguments of each rote are some that it takes.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../httpapi/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	used, count := map[string]bool{}, 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documentedLines(string(text)) {
			if insideOfFiles.MatchString(line) {
				continue
			}
			count++
			known := ""
			for beginning := range documentedCommands {
				if strings.HasPrefix(line, beginning) && len(beginning) > len(known) {
					known = beginning
				}
			}
			if used[known] = true; known == "" {
				t.Errorf("%s: %s: say in documentedCommands which test runs it, or why none can", filepath.Base(page), line)
			}
			if strings.HasPrefix(line, "rote ") {
				wantAccepted(t, filepath.Base(page), line)
			}
		}
	}
	if count < 80 {
		t.Errorf("only %d commands were found", count)
	}
	for beginning, by := range documentedCommands {
		if !used[beginning] {
			t.Errorf("no page has %q any more", beginning)
		}
		wantProof(t, beginning, by)
	}
}

// wantAccepted fails the test unless the command line is one of rote. The shell splits it.
func wantAccepted(t *testing.T, page, line string) {
	t.Helper()
	line = strings.TrimSpace(strings.ReplaceAll(line, " … ", " "))
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+strings.TrimSuffix(line, " …")).Output()
	if err != nil {
		t.Fatalf("%s: %s: %v", page, line, err)
	}
	args := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var said strings.Builder
	if _, _, err := parse(args[1:], streams{out: &said, err: &said}); err != nil {
		t.Errorf("%s: %s: %v", page, line, err)
	}
}

// wantProof fails the test if the test or the file that is said to run a command does not exist.
func wantProof(t *testing.T, command, by string) {
	t.Helper()
	switch {
	case strings.HasPrefix(by, "not run: "):
	case strings.HasPrefix(by, "Test"):
		files, err := filepath.Glob("*_test.go")
		if err != nil || !slices.ContainsFunc(files, func(f string) bool {
			text, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(text), "\nfunc "+by+"(")
		}) {
			t.Errorf("%s: there is no %s: %v", command, by, err)
		}
	default:
		if _, err := os.Stat(filepath.Join("../..", by)); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// With stderr, the lines of the audit log are on standard error.
func TestAuditLogOnStandardError(t *testing.T) {
	t.Parallel()
	_, errs, code := newRote(t).run("token", "create", "--audit-log", "stderr")
	if code != 0 || !regexp.MustCompile(`(?m)^\{"time":"[^"]+","event":"token.created",.*\}$`).MatchString(errs) {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
