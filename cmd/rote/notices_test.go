package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
	swagger "github.com/swaggest/swgui/v5/static"
)

var update = flag.Bool("update", false, "write notices.txt anew")

// allowedLicenses are those under which the program may contain software of others: they ask
// for a notice, and for nothing of the program's own source. MPL-2.0 asks for the source of
// the files under it, which the module proxy has.
var allowedLicenses = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense", "Zlib"}

// readLicenses are files whose licences no list has, by the SHA-256 of their text. A person has read them.
var readLicenses = map[string]string{
	"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": "LicenseRef-logo-not-contained", // modernc.org/memory, LICENSE-LOGO
	"8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0": "LicenseRef-public-domain",      // modernc.org/sqlite, LICENSE-SQLITE
}

// swaggerBundle is the SHA-256 of the compressed bundle that testdata/notices/swagger-ui.txt is of.
const swaggerBundle = "7985a79e91c1d7b1ce81c0881ec886ec070cad9002e9bfe3a3ea55deccf64ad4"

// releasePlatforms are those of .goreleaser.yaml.
var releasePlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

const noticesHead = `The program rote contains software of others, under the licences below. They ask that
their texts go with each copy. The source of a Go module is at https://proxy.golang.org and in
the module cache of whoever builds rote; the packages from npm are at https://registry.npmjs.org.

`

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)
	noticeFile  = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice|patents)`)
	rule        = "\n" + strings.Repeat("-", 80) + "\n\n"
)

// part is software of others in the program, and the texts that go with it.
type part struct {
	name     string
	licenses []string
	texts    []string
}

// TestNotices makes notices.txt of what the program contains on all platforms, and checks that
// each licence may be in it.
func TestNotices(t *testing.T) {
	if *update {
		if err := os.WriteFile("notices.txt", []byte(noticesText(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		return // the program has the text of before
	}
	if notices != noticesText(t) {
		t.Error("notices.txt is not of the modules that the program contains: go test ./cmd/rote -run TestNotices -update")
	}
}

// noticesText lists all parts, and then each text once, with the parts that it goes with.
func noticesText(t *testing.T) string {
	t.Helper()
	parts := append(moduleParts(t), goPart(t))
	parts = append(parts, editorParts(t)...)
	parts = append(parts, swaggerPart(t))
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	b.WriteString(noticesHead)
	owners := map[string][]string{}
	for _, p := range parts {
		fmt.Fprintf(&b, "%s: %s\n", p.name, strings.Join(p.licenses, ", "))
		for _, text := range p.texts {
			owners[text] = append(owners[text], p.name)
		}
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(x, y string) int {
		return cmp.Or(slices.Compare(owners[x], owners[y]), strings.Compare(x, y))
	})
	for _, text := range texts {
		b.WriteString(rule + strings.Join(owners[text], "\n") + "\n\n" + text + "\n")
	}
	return b.String()
}

// moduleParts returns the modules of the program on all platforms.
func moduleParts(t *testing.T) []part {
	t.Helper()
	files := map[string][]string{} // of texts, by module
	for _, platform := range releasePlatforms {
		system, arch, _ := strings.Cut(platform, "/")
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", ".")
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 {
				continue
			}
			// A directory below the module's may have a licence of its own.
			for dir := fields[2]; ; dir = filepath.Dir(dir) {
				files[fields[0]] = append(files[fields[0]], noticeFiles(t, dir)...)
				if dir == fields[1] {
					break
				}
			}
		}
	}
	var parts []part
	for _, module := range slices.Sorted(maps.Keys(files)) {
		all := files[module]
		slices.Sort(all)
		parts = append(parts, readPart(t, module, slices.Compact(all)))
	}
	if len(parts) < 50 {
		t.Errorf("only %d modules are found", len(parts))
	}
	return parts
}

func noticeFiles(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && noticeFile.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// readPart returns a part with the texts of files, whose licences are checked.
func readPart(t *testing.T, name string, files []string) part {
	t.Helper()
	p := part{name: name}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p.texts = append(p.texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		if licenseFile.MatchString(filepath.Base(file)) {
			p.licenses = append(p.licenses, licensesOf(t, name, file, text)...)
		}
	}
	if len(p.licenses) == 0 {
		t.Errorf("%s has no licence: it may not be in the program", name)
	}
	slices.Sort(p.licenses)
	p.licenses = slices.Compact(p.licenses)
	return p
}

func licensesOf(t *testing.T, name, file string, text []byte) (licenses []string) {
	t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if license := readLicenses[sum]; license != "" {
		return []string{license}
	}
	for _, m := range licensecheck.Scan(text).Match {
		if !m.IsURL {
			licenses = append(licenses, m.ID)
		}
	}
	if len(licenses) == 0 {
		t.Errorf("%s, %s (%s): no known licence. Read it; if it may be in the program, add it to readLicenses", name, filepath.Base(file), sum)
	}
	for _, license := range licenses {
		if !slices.Contains(allowedLicenses, license) {
			t.Errorf("%s, %s (%s): %s is not one of allowedLicenses", name, filepath.Base(file), sum, license)
		}
	}
	return licenses
}

// goPart is the standard library and the runtime.
func goPart(t *testing.T) part {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(out))
	return readPart(t, "Go, the standard library and the runtime", []string{filepath.Join(root, "LICENSE"), filepath.Join(root, "PATENTS")})
}

// editorParts are the packages of npm in the console's editor.
func editorParts(t *testing.T) (parts []part) {
	t.Helper()
	text, err := os.ReadFile("../../httpapi/console/assets/vendor/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(text), rule) {
		head, license, _ := strings.Cut(section, "\n")
		name, id, found := strings.Cut(head, ", ")
		if !found || !slices.Contains(allowedLicenses, id) {
			t.Errorf("the editor has %q", head)
		}
		parts = append(parts, part{"npm: " + name, []string{id}, []string{strings.TrimSpace(license)}})
	}
	return parts
}

// swaggerPart is Swagger UI, which a Go module embeds without its notices.
func swaggerPart(t *testing.T) part {
	t.Helper()
	bundle, err := fs.ReadFile(swagger.FS, "swagger-ui-bundle.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(bundle)); sum != swaggerBundle {
		t.Errorf("Swagger UI is another one (%s): make testdata/notices/swagger-ui.txt of the same version of swagger-ui-dist from npm", sum)
	}
	text, err := os.ReadFile("testdata/notices/swagger-ui.txt")
	if err != nil {
		t.Fatal(err)
	}
	return part{"npm: swagger-ui-dist 5.29.1", []string{"Apache-2.0", "BSD-3-Clause", "MIT"}, []string{strings.TrimSpace(string(text))}}
}
