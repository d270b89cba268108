package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rote/browser/chromium"
	"rote/routine"
	"rote/routine/postgres"
)

// fontDirs are where systems keep fonts.
func fontDirs() []string {
	dirs := []string{"/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".fonts"), filepath.Join(home, ".local/share/fonts"), filepath.Join(home, "Library/Fonts"))
	}
	return dirs
}

// checkFonts looks for any font: without one, pages have no text in screenshots, and elements
// have other sizes.
func checkFonts(_ context.Context, g *globals, _ streams) []finding {
	endpoints, err := g.endpoints()
	if err == nil && !usesLocalBrowser(endpoints) {
		return nil
	}
	if n := countFonts(fontDirs()); n > 0 {
		return []finding{ok(english.Plural(n, "font file", ""))}
	}
	return []finding{warning("no fonts: pages have no text in screenshots, and their elements have other sizes",
		"install some, on Debian with apt-get install fonts-liberation fonts-noto-color-emoji")}
}

func countFonts(dirs []string) int {
	n := 0
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains([]string{".ttf", ".otf", ".ttc", ".pfb", ".woff2"}, strings.ToLower(filepath.Ext(path))) {
				n++
			}
			return nil
		})
	}
	return n
}

// A browser takes about 200 MiB, and each run at once 100 MiB for an ordinary page.
const (
	browserMemory = 200 << 20
	runMemory     = 100 << 20
)

func checkMemory(_ context.Context, g *globals, _ streams) []finding {
	available, known := chromium.AvailableMemory()
	if !known {
		return nil
	}
	runs := int(g.Concurrency)
	if runs == 0 {
		runs = 2 * runtime.NumCPU()
	}
	needed := int64(browserMemory + runs*runMemory)
	detail := fmt.Sprintf("%s available; %s at once need about %s", humanize.IBytes(uint64(max(available, 0))), english.Plural(runs, "run", ""),
		humanize.IBytes(uint64(needed)))
	if available < needed {
		return []finding{warning(detail, "give the service more memory, or lower --concurrency")}
	}
	return []finding{ok(detail)}
}

// minFree is the least free room for the database, and for profiles and downloads.
const minFree = 1 << 30

// checkDisk looks at the room for the database and for temporary files.
func checkDisk(_ context.Context, g *globals, _ streams) []finding {
	found := []finding{checkDir("temporary files", os.TempDir(), "make room, or name another directory in TMPDIR")}
	if path, err := g.databasePath(); err == nil && !postgres.IsURL(g.DB) {
		found = append(found, checkDir("the database", existingDir(path), "make room, keep less with --keep-size, or name another file with --db"))
	}
	return found
}

// existingDir returns the directory of a path, or the nearest one above it that exists.
func existingDir(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// mayWrite is W_OK of access(2).
const mayWrite = 2

func checkDir(what, dir, remedy string) finding {
	var room syscall.Statfs_t
	if err := syscall.Statfs(dir, &room); err != nil {
		return fault(fmt.Sprintf("%s: %v", dir, err), remedy)
	}
	free := room.Bavail * uint64(room.Bsize)
	detail := fmt.Sprintf("%s free for %s in %s", humanize.IBytes(free), what, dir)
	if err := syscall.Access(dir, mayWrite); err != nil {
		return fault(fmt.Sprintf("this user may not write to %s, which is for %s: %v", dir, what, err), "give the directory to the user, or name another")
	}
	if free < minFree {
		return warning(detail, remedy)
	}
	return ok(detail)
}

// maxClockLag is how far the clock may be behind a time that has been.
const maxClockLag = time.Minute

// checkClock compares the clock with times that have been: when the program was built from its
// commit, and when the newest execution began.
func checkClock(ctx context.Context, g *globals, s streams) []finding {
	const remedy = "set the clock, and keep it right with NTP: retention, schedules and one-time codes depend on it"
	now := time.Now()
	if made, err := time.Parse(time.RFC3339, thisBuild().Date); err == nil && made.Sub(now) > maxClockLag {
		return []finding{fault(fmt.Sprintf("it is %s by the clock, but this program is of %s", now.Format(time.RFC3339), made.Format(time.RFC3339)), remedy)}
	}
	store, err := g.examineDatabase(ctx, s)
	if err != nil { // it does not exist, or checkDatabase has said what is wrong with it
		return []finding{ok(now.Format(time.RFC3339))}
	}
	defer func() { _ = store.Close() }()
	newest, _, err := store.Executions(ctx, routine.ExecutionFilter{OrganizationID: g.Organization, Limit: 1})
	if err == nil && len(newest) > 0 && newest[0].CreatedAt.Sub(now) > maxClockLag {
		return []finding{fault(fmt.Sprintf("it is %s by the clock, but the newest execution is of %s", now.Format(time.RFC3339),
			newest[0].CreatedAt.Format(time.RFC3339)), remedy)}
	}
	return []finding{ok(now.Format(time.RFC3339))}
}
