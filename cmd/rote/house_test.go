package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// arrows has, for each package, the packages of ours that its code imports. Whatever
// is not here is forbidden. The map in httpapi/docs/contributing.md has the same rooms.
var arrows = map[string][]string{
	// The core. Each of these knows those before it, and no transport, database or browser.
	"routine/placeholder":      {},
	"routine/javascript":       {},
	"routine/javascript/facts": {"routine/javascript"},
	"routine/keyboard":         {},
	"routine":                  {"routine/javascript/facts", "routine/placeholder"},
	"routine/pattern":          {"routine"},
	"routine/selector":         {"routine"},
	"routine/sanitize":         {"routine"},
	"routine/spelling":         {"routine"},
	"routine/operation": {"routine", "routine/javascript/facts", "routine/keyboard", "routine/pattern", "routine/placeholder",
		"routine/sanitize"},
	"routine/definition": {"routine", "routine/javascript", "routine/operation", "routine/pattern", "routine/placeholder",
		"routine/selector", "schemas"},
	"routine/tool":     {"routine", "routine/definition", "routine/operation"},
	"routine/requests": {"routine", "routine/operation", "routine/placeholder"},

	// Spans of OpenTelemetry, behind a package of their own: the others do not know its API.
	"routine/tracing": {},

	"routine/engine": {"routine", "routine/operation", "routine/placeholder", "routine/spelling"},
	"routine/cron":   {"routine"},
	"routine/jobs":   {"routine"},
	"routine/totp":   {},

	"routine/browserstate": {"routine"},
	"routine/audit":        {"routine"},
	"routine/service": {"routine", "routine/audit", "routine/browserstate", "routine/cron", "routine/definition", "routine/engine", "routine/exporter",
		"routine/importer", "routine/jobs", "routine/pattern", "routine/selector", "routine/totp", "routine/tracing"},

	// The parts of a lesson that know no lesson.
	"routine/lesson/jsonobject": {"routine"},
	"routine/lesson/textform":   {"routine", "routine/lesson/jsonobject", "routine/operation"},
	"routine/lesson/candidate":  {"routine", "routine/lesson/jsonobject", "routine/lesson/textform", "routine/operation"},
	"routine/lesson/judge":      {"routine", "routine/placeholder"},
	"routine/lesson/parameters": {"routine", "routine/definition", "routine/javascript", "routine/pattern", "routine/placeholder"},

	// Recordings of other tools, which become routines.
	"routine/importer/jsontree": {"routine"},
	"routine/importer/draft": {"routine", "routine/javascript", "routine/lesson/jsonobject", "routine/lesson/parameters", "routine/lesson/textform",
		"routine/operation", "routine/placeholder", "routine/requests", "routine/selector"},
	"routine/importer/recorder": {"routine", "routine/importer/draft", "routine/importer/jsontree", "routine/keyboard", "routine/lesson/textform"},
	"routine/importer/curl":     {"routine", "routine/importer/draft", "routine/importer/jsontree"},
	"routine/importer/side":     {"routine", "routine/importer/draft", "routine/importer/jsontree", "routine/keyboard", "routine/lesson/textform"},
	"routine/importer/har":      {"routine", "routine/importer/draft", "routine/importer/jsontree", "routine/requests"},
	"routine/importer/chain":    {},
	"routine/importer/playwright": {"routine", "routine/importer/chain", "routine/importer/draft", "routine/keyboard",
		"routine/lesson/textform", "routine/selector"},
	"routine/importer": {"routine", "routine/definition", "routine/importer/curl", "routine/importer/draft", "routine/importer/har", "routine/importer/jsontree",
		"routine/importer/playwright", "routine/importer/recorder", "routine/importer/side", "routine/lesson/parameters"},

	// Routines for other tools.
	"routine/exporter": {"routine", "routine/definition", "routine/importer", "routine/importer/draft", "routine/importer/jsontree",
		"routine/lesson/textform", "routine/operation", "routine/placeholder"},

	// What a person does in a browser.
	"routine/recording": {"routine", "routine/definition", "routine/importer/draft", "routine/keyboard", "routine/lesson/parameters",
		"routine/lesson/textform", "routine/operation", "routine/spelling"},

	"routine/lesson": {"routine", "routine/definition", "routine/engine", "routine/importer", "routine/importer/draft", "routine/javascript", "routine/keyboard",
		"routine/lesson/candidate", "routine/lesson/jsonobject", "routine/lesson/judge", "routine/lesson/parameters", "routine/lesson/textform", "routine/operation",
		"routine/placeholder", "routine/requests", "routine/selector", "routine/service"},
	"schemas": {},

	// What the core's ports are filled with.
	"routine/provider":    {"routine"},
	"routine/rows":        {"routine"},
	"routine/sqlite":      {"routine", "routine/rows"},
	"routine/postgres":    {"routine", "routine/jobs", "routine/rows"},
	"browser/cdp":         {},
	"browser/tempdir":     {},
	"browser/chromium":    {"browser/cdp", "browser/tempdir"},
	"browser/egress":      {"routine"},
	"browser/guard":       {"browser/cdp", "routine", "routine/javascript"},
	"browser/sitestorage": {"browser/cdp"},
	"browser/window":      {"browser/cdp", "browser/chromium", "browser/sitestorage", "routine/browserstate"},
	"browser": {"browser/cdp", "browser/chromium", "browser/egress", "browser/guard", "routine", "routine/browserstate", "routine/javascript",
		"routine/keyboard", "routine/selector", "routine/spelling"},

	"browser/recorder": {"browser", "browser/cdp", "browser/chromium", "browser/sitestorage", "routine", "routine/browserstate", "routine/recording",
		"routine/requests"},

	// The front ends, which are independent of each other, and the program.
	"httpapi/docs": {},
	"httpapi": {"httpapi/docs", "routine", "routine/audit", "routine/browserstate", "routine/definition", "routine/exporter", "routine/importer", "routine/lesson",
		"routine/operation", "routine/service", "routine/tracing", "schemas"},
	"httpapi/console": {"httpapi", "routine", "routine/definition", "routine/importer", "routine/lesson", "routine/lesson/candidate", "routine/operation",
		"routine/service", "routine/tool"},
	"mcp/wire": {"routine", "routine/audit", "routine/tracing"},
	"mcp": {"mcp/wire", "routine", "routine/audit", "routine/definition", "routine/importer", "routine/lesson", "routine/operation", "routine/service",
		"routine/tool", "routine/tracing",
		"schemas"},
	"cmd/rote": {"browser", "browser/chromium", "browser/egress", "browser/recorder", "browser/tempdir", "browser/window",
		"cmd/rote/backups", "cmd/rote/practice", "cmd/rote/telemetry", "httpapi", "httpapi/console", "mcp", "mcp/wire",
		"routine", "routine/audit", "routine/browserstate", "routine/definition", "routine/exporter", "routine/importer", "routine/importer/draft",
		"routine/lesson", "routine/lesson/parameters", "routine/operation", "routine/postgres", "routine/provider", "routine/recording",
		"routine/rows", "routine/service", "routine/sqlite", "routine/tracing"},
	"cmd/rote/backups":        {},
	"cmd/rote/telemetry":      {"routine/tracing"},
	"cmd/rote/practice":       {"routine/totp"},
	"cmd/rote/practice/teach": {"cmd/rote/practice"},

	// For tests and measurements.
	"routine/routinetest":              {"routine", "routine/definition", "routine/routinetest/stopwatch"},
	"routine/routinetest/budget":       {"routine", "routine/routinetest", "routine/service"},
	"routine/routinetest/display":      {},
	"routine/routinetest/leakcheck":    {},
	"routine/routinetest/optional":     {},
	"routine/routinetest/postgrestest": {},
	"routine/routinetest/scratch":      {},
	"routine/routinetest/scripts":      {},
	"routine/routinetest/seeded":       {},
	"routine/routinetest/stopwatch":    {},
	"browser/egress/egresstest":        {},
	"cmd/rote/bench": {"mcp", "routine", "routine/postgres", "routine/routinetest",
		"routine/service"},
	"cmd/rote/testreport": {},
}

// eachPackage calls see with each package of ours, without "rote/" in front, and
// with what it imports.
func eachPackage(t *testing.T, see func(pkg string, imports []string)) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "rote/...").Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		see(strings.TrimPrefix(fields[0], "rote/"), fields[1:])
	}
}

func TestArrows(t *testing.T) {
	seen := 0
	eachPackage(t, func(pkg string, imports []string) {
		seen++
		allowed, known := arrows[pkg]
		if !known {
			t.Errorf("%s is in no row: say what it may import", pkg)
		}
		var ours []string
		for _, i := range imports {
			if i, own := strings.CutPrefix(i, "rote/"); own {
				ours = append(ours, i)
			}
		}
		slices.Sort(ours)
		if diff := cmp.Diff(allowed, ours, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s imports other packages than its row allows (-row +code):\n%s", pkg, diff)
		}
	})
	if seen != len(arrows) {
		t.Errorf("%d packages for %d rows: a row is of a package that is gone", seen, len(arrows))
	}
}

// The map of the rooms in the documentation names each package, and no file that is gone.
func TestMapOfTheRooms(t *testing.T) {
	contributing := docsPage(t, "contributing")
	for pkg := range arrows {
		if !strings.Contains(contributing, "`"+pkg+"`") {
			t.Errorf("the map does not name %s", pkg)
		}
	}
	files := regexp.MustCompile("`([a-z_/*]+(?:<type>)?[a-z_]*\\.(?:go|js|json|yaml))`").FindAllStringSubmatch(contributing, -1)
	if len(files) < 10 {
		t.Fatalf("the map names only %d files", len(files))
	}
	for _, f := range files {
		pattern := strings.ReplaceAll(f[1], "<type>", "click")
		if strings.Contains(pattern, "/") {
			if named, err := filepath.Glob("../../" + pattern); err != nil || len(named) == 0 {
				t.Errorf("the map names %s, which is gone: %v", f[1], err)
			}
		}
	}
}

// ban is a dependency that a package must not have, not even through others,
// and why.
type ban struct{ pkg, dependency, reason string }

var bans = []ban{
	{"rote/routine/service", "net/http", "the core knows no transport: both front ends and the command line use it"},
	{"rote/routine/service", "database/sql", "the core declares Store; routine/sqlite supplies it"},
	{"rote/routine/service", "github.com/go-rod/rod", "the core declares Browser and Page; browser supplies them"},
	{"rote/routine/service", "github.com/go-chi/chi/v5", "HTTP is httpapi's"},
	{"rote/routine/service", "github.com/mark3labs/mcp-go", "MCP is mcp's"},
	{"rote/httpapi", "github.com/mark3labs/mcp-go", "an mcp-go type stays in mcp"},
	{"rote/browser", "github.com/mark3labs/mcp-go", "an mcp-go type stays in mcp"},
	{"rote/browser", "github.com/go-rod/rod", "only rod's protocol and input tables are used: its own pages poll, lock and leak"},
	{"rote/routine/sqlite", "github.com/go-rod/rod", "a rod type stays in browser"},
	{"rote/routine/rows", "database/sql", "stores share how values are kept, not their SQL"},
	{"rote/httpapi/console", "rote/browser", "a front end reaches pages through Service only"},
	{"rote/httpapi/console", "rote/mcp", "front ends are independent of each other"},
	{"rote/httpapi/console", "github.com/mark3labs/mcp-go", "an mcp-go type stays in mcp"},
	{"rote/httpapi", "rote/browser", "a front end reaches pages through Service only"},
	{"rote/mcp", "rote/browser", "a front end reaches pages through Service only"},
	{"rote/routine/service", "go.opentelemetry.io/otel/sdk", "the core makes spans; cmd/rote/telemetry sends them, if the operator wants that"},
	{"rote/routine/engine", "go.opentelemetry.io/otel", "the engine tells of operations in its hooks and knows no spans"},
}

// broken returns the first of deps that falls under the ban; empty: none does. A ban
// of a folder of ours or of a module covers all below it; one of the standard library
// or of rod, whose lib/ browser may use, covers that package alone.
func (b ban) broken(deps []string) string {
	below := strings.HasPrefix(b.dependency, "rote/") || strings.Contains(b.dependency, ".") && b.dependency != "github.com/go-rod/rod"
	for _, d := range deps {
		if d == b.dependency || below && strings.HasPrefix(d, b.dependency+"/") {
			return d
		}
	}
	return ""
}

// dependencies are the packages that pkg imports, also through others, but not through the
// list of public suffixes: it imports net/http only to name a type of cookie jars.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, pkg).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		imports[fields[0]] = fields[1:]
	}
	delete(imports, "golang.org/x/net/publicsuffix")
	found := []string{pkg}
	for n := 0; n < len(found); n++ {
		for _, i := range imports[found[n]] {
			if !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
	}
	return found
}

func TestBannedDependencies(t *testing.T) {
	t.Parallel()
	deps := map[string][]string{}
	for _, b := range bans {
		if deps[b.pkg] == nil {
			deps[b.pkg] = dependencies(t, b.pkg)
		}
		if d := b.broken(deps[b.pkg]); d != "" {
			t.Errorf("%s depends on %s: %s", b.pkg, d, b.reason)
		}
	}
}

// room is a pattern that only some folders may have in their code.
type room struct {
	pattern *regexp.Regexp
	allowed []string
	reason  string
}

// Some bans are on names rather than on packages. The proxy, the connection to a browser
// elsewhere, the providers of secrets, the practice site and the demo's client speak HTTP by trade.
var rooms = []room{
	{regexp.MustCompile(`http\.Status[A-Z]`), []string{"httpapi/", "mcp/", "browser/cdp/dial.go", "browser/egress/", "routine/provider/", "cmd/rote/"},
		"a status number is for what speaks HTTP: others give a code"},
	{regexp.MustCompile(`"database/sql"`), []string{"routine/sqlite/", "routine/postgres/"}, "SQL is for the stores"},
	{regexp.MustCompile(`"github.com/jackc/pgx/v5`), []string{"routine/postgres/", "routine/routinetest/postgrestest/", "cmd/rote/bench/"},
		"Postgres is for its store"},
	{regexp.MustCompile(`"github.com/riverqueue/river`), []string{"routine/postgres/"}, "River does the jobs of the Postgres store"},
	{regexp.MustCompile(`"github.com/go-rod/rod/`), []string{"browser/"}, "a rod type stays in browser"},
	{regexp.MustCompile(`"github.com/mark3labs/mcp-go/`), []string{"mcp/"}, "an mcp-go type stays in mcp"},
	{regexp.MustCompile(`"os/exec"`), []string{"browser/chromium/", "cmd/rote/", "routine/routinetest/"}, "the only program that the service starts is Chromium"},
	{regexp.MustCompile(`"rote/browser/chromium"`), []string{"browser/launcher.go", "browser/verify.go", "browser/recorder/", "browser/window/", "cmd/rote/"},
		"pages use any browser that a launcher has started and that was verified"},
	{regexp.MustCompile(`routine\.Store\b|service\.Service\b`), []string{"httpapi/", "mcp/", "cmd/", "routine/"}, "pages know neither store nor service"},
}

func TestNamesStayInTheirRooms(t *testing.T) {
	t.Parallel()
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
