package main

import (
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ban is a dependency that a package must not have, not even through others,
// and why.
type ban struct{ pkg, dependency, reason string }

var bans = []ban{
	{"rote/routine/service", "net/http", "the core knows no transport: both front ends and the command line use it"},
	{"rote/routine/service", "database/sql", "the core declares Store; routine/sqlite supplies it"},
	{"rote/routine/service", "github.com/go-rod/rod", "the core declares Browser and Page; browser supplies them"},
	{"rote/routine/service", "github.com/go-chi/chi/v5", "HTTP is httpapi's"},
	{"rote/routine/service", "github.com/mark3labs/mcp-go", "MCP is mcp's"},
	{"rote/routine/service", "rote/httpapi", "front ends use the core, never the other way"},
	{"rote/routine/service", "rote/mcp", "front ends use the core, never the other way"},
	{"rote/routine/service", "rote/browser", "the core is tested without a browser"},
	{"rote/routine/service", "rote/routine/sqlite", "the core is tested without a database"},
	{"rote/schemas", "rote/", "what is published depends on nothing of ours"},
	{"rote/routine/placeholder", "rote/", "filling templates needs nothing of ours"},
	{"rote/routine/keyboard", "rote/", "the names of keys need nothing of ours"},
	{"rote/routine/javascript", "rote/", "the script rules need nothing of ours"},
	{"rote/routine/javascript/facts", "rote/schemas", "the prover needs the syntax tree of javascript and nothing else"},
	{"rote/routine/javascript/facts", "rote/routine/placeholder", "the prover needs the syntax tree of javascript and nothing else"},
	{"rote/routine/javascript/facts", "rote/routine/keyboard", "the prover needs the syntax tree of javascript and nothing else"},
	{"rote/httpapi", "rote/mcp", "the front ends are independent of each other"},
	{"rote/mcp", "rote/httpapi", "the front ends are independent of each other"},
	{"rote/mcp/wire", "rote/mcp", "the protocol knows no tools: mcp hands them to it as a Peer"},
	{"rote/mcp/wire", "rote/httpapi", "the front ends are independent of each other: wire declares Admission"},
	{"rote/mcp/wire", "rote/browser", "the protocol knows no pages"},
	{"rote/mcp/wire", "rote/routine/sqlite", "the protocol knows no rows"},
	{"rote/httpapi", "rote/browser", "a front end reaches pages through Service only"},
	{"rote/mcp", "rote/browser", "a front end reaches pages through Service only"},
	{"rote/httpapi", "rote/routine/sqlite", "a front end reaches rows through Service only"},
	{"rote/mcp", "rote/routine/sqlite", "a front end reaches rows through Service only"},
	{"rote/httpapi", "github.com/mark3labs/mcp-go", "an mcp-go type stays in mcp"},
	{"rote/browser", "rote/routine/sqlite", "pages know no rows"},
	{"rote/browser", "rote/httpapi", "pages know no transport"},
	{"rote/browser", "rote/mcp", "pages know no transport"},
	{"rote/browser", "github.com/mark3labs/mcp-go", "an mcp-go type stays in mcp"},
	{"rote/browser", "github.com/go-rod/rod", "only rod's protocol and input tables are used: its own pages poll, lock and leak"},
	{"rote/browser/cdp", "rote/", "messages need nothing of ours: any browser can be at the other end"},
	{"rote/browser/chromium", "rote/routine", "a process knows no runs: browser makes its pages theirs"},
	{"rote/browser/chromium", "rote/browser/egress", "what a run may reach is decided by its page and its proxy"},
	{"rote/browser/tempdir", "rote/", "temporary directories need nothing of ours"},
	{"rote/routine/sqlite", "rote/browser", "rows know no pages"},
	{"rote/routine/sqlite", "github.com/go-rod/rod", "a rod type stays in browser"},
	{"rote/cmd/rote/practice", "rote/", "the practice site is any site"},
}

// broken is the first of deps that falls under the ban. A ban of one of our
// folders or of a module covers all below it; one of the standard library or of
// rod, whose lib/ is browser's to use, is of that package alone.
func (b ban) broken(deps []string) string {
	whole := strings.HasPrefix(b.dependency, "rote/") || strings.Contains(b.dependency, ".") && b.dependency != "github.com/go-rod/rod"
	for _, d := range deps {
		if d == b.pkg {
			continue
		}
		if d == b.dependency || whole && strings.HasPrefix(d, strings.TrimSuffix(b.dependency, "/")+"/") {
			return d
		}
	}
	return ""
}

func TestArrows(t *testing.T) {
	deps := map[string][]string{}
	for _, b := range bans {
		if deps[b.pkg] == nil {
			out, err := exec.Command("go", "list", "-deps", b.pkg).Output()
			if err != nil {
				t.Fatalf("go list %s: %v", b.pkg, err)
			}
			deps[b.pkg] = strings.Fields(string(out))
		}
		if d := b.broken(deps[b.pkg]); d != "" {
			t.Errorf("%s depends on %s: %s", b.pkg, d, b.reason)
		}
	}
}

// allowed are packages that may import only these packages of ours themselves, and why.
var allowed = []struct {
	pkg     string
	imports []string
	reason  string
}{
	{"rote/browser/guard", []string{"rote/browser/cdp", "rote/routine", "rote/routine/javascript"},
		"the guard knows its page as guard.Page only, and no network, store or front end"},
}

func TestArrowsAllowed(t *testing.T) {
	for _, a := range allowed {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, a.pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", a.pkg, err)
		}
		imports := strings.Fields(string(out))
		for _, i := range imports {
			if strings.HasPrefix(i, "rote/") && !slices.Contains(a.imports, i) {
				t.Errorf("%s imports %s: %s", a.pkg, i, a.reason)
			}
		}
		for _, i := range a.imports {
			if !slices.Contains(imports, i) {
				t.Errorf("%s does not import %s any more: take it off the list", a.pkg, i)
			}
		}
	}
}

// room is a pattern that only some folders may have in their code.
type room struct {
	pattern *regexp.Regexp
	allowed []string
	reason  string
}

// Some bans are on names rather than on packages. The proxy, the practice site
// and the demo's client speak HTTP by trade.
var rooms = []room{
	{regexp.MustCompile(`http\.Status[A-Z]`), []string{"httpapi/", "mcp/", "browser/egress/", "cmd/rote/"}, "a status number is for what speaks HTTP: others give a code"},
	{regexp.MustCompile(`"database/sql"`), []string{"routine/sqlite/"}, "SQL is sqlite's"},
	{regexp.MustCompile(`"github.com/go-rod/rod/`), []string{"browser/"}, "a rod type stays in browser"},
	{regexp.MustCompile(`"github.com/mark3labs/mcp-go/`), []string{"mcp/"}, "an mcp-go type stays in mcp"},
	{regexp.MustCompile(`"os/exec"`), []string{"browser/chromium/", "cmd/rote/", "routine/routinetest/"}, "the only program that the service starts is Chromium"},
	{regexp.MustCompile(`"rote/browser/chromium"`), []string{"browser/launcher.go", "cmd/rote/"}, "pages use any browser that a launcher has started"},
	{regexp.MustCompile(`routine\.Store\b|service\.Service\b`), []string{"httpapi/", "mcp/", "cmd/", "routine/"}, "pages know neither store nor service"},
}

func TestNamesStayInTheirRooms(t *testing.T) {
	root := os.DirFS("../..")
	seen := 0
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		seen++
		for _, r := range rooms {
			inside := slices.ContainsFunc(r.allowed, func(dir string) bool { return strings.HasPrefix(path, dir) })
			if found := r.pattern.Find(text); found != nil && !inside {
				t.Errorf("%s has %s: %s", path, found, r.reason)
			}
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Fatalf("read %d files: %v", seen, err)
	}
}
