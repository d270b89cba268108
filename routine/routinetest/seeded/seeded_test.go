package seeded

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const beProbe = "SEEDED_TEST_PROBE"

// draw fails and shows what it drew, in a child process of TestSeeds.
func draw(t *testing.T) {
	t.Run("rand", func(t *testing.T) { t.Errorf("drew %d", Rand(t).Uint64()) })
	t.Run("rapid", func(t *testing.T) {
		Check(t, func(r *rapid.T) { // many numbers: rapid likes to draw the smallest one
			var sum uint64
			for _, n := range rapid.SliceOfN(rapid.Uint64(), 20, 20).Draw(r, "n") {
				sum = sum*31 + n
			}
			r.Fatalf("drew %d", sum)
		})
	})
}

// probe is what a child process drew, and the seeds that it named.
func probe(t *testing.T, args []string, env ...string) (drawn, seeds []string) {
	t.Helper()
	c := exec.Command(os.Args[0], append([]string{"-test.run=^TestSeeds$", "-rapid.shrinktime=0s"}, args...)...)
	c.Dir = t.TempDir()
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "RAPID_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(append(c.Env, beProbe+"=1"), env...)
	out, err := c.CombinedOutput()
	if err == nil {
		t.Fatalf("the probe passed:\n%s", out)
	}
	drawn = regexp.MustCompile(`drew \d+`).FindAllString(string(out), -1)
	seeds = regexp.MustCompile(`-rapid\.seed=\d+`).FindAllString(string(out), -1)
	if len(drawn) < 2 || len(seeds) < 2 {
		t.Fatalf("the output shows %q and %q:\n%s", drawn, seeds, out)
	}
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
		t.Fatalf("a failing test left %v, %v", left, err)
	}
	return drawn, seeds
}

func TestSeeds(t *testing.T) {
	if os.Getenv(beProbe) != "" {
		draw(t)
		return
	}
	join := func(drawn, _ []string) string { return strings.Join(drawn, " ") }
	fixed := join(probe(t, nil))
	if again := join(probe(t, nil)); again != fixed {
		t.Errorf("two runs drew %s and %s", fixed, again)
	}
	if flagged := join(probe(t, []string{"-rapid.seed=2"})); flagged == fixed || flagged != join(probe(t, nil, "RAPID_SEED=2")) {
		t.Errorf("seed 2 drew %s, the fixed seed %s", flagged, fixed)
	}
	drawn, seeds := probe(t, nil, "RAPID_SEED=0")
	again, _ := probe(t, nil, "RAPID_SEED=0")
	if drawn[0] == again[0] || drawn[len(drawn)-1] == again[len(again)-1] {
		t.Errorf("without a fixed seed two runs drew %s and %s", drawn, again)
	}
	if replayed, _ := probe(t, []string{strings.Fields(seeds[0])[0]}); replayed[0] != drawn[0] {
		t.Errorf("%s drew %s, the run that named it %s", seeds[0], replayed[0], drawn[0])
	}
}

// unseeded is a call that draws random numbers from no seed, or from a seed that
// the CI step with fresh seeds cannot change.
var unseeded = regexp.MustCompile(`\brapid\.(Check|MakeCheck|MakeFuzz)\(|\brand\.(New|NewPCG|NewChaCha8|Int\w*|Uint\w*|N|Perm|Shuffle|Float\w*)\(|\bquick\.Check`)

func TestEveryRandomTestIsSeeded(t *testing.T) {
	root := os.DirFS("../../..")
	seen := 0
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "routine/routinetest/seeded/") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		seen++
		if call := unseeded.Find(text); call != nil {
			t.Errorf("%s calls %s: use seeded.Check or seeded.Rand of routine/routinetest/seeded", path, strings.TrimSuffix(string(call), "("))
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Fatalf("read %d files: %v", seen, err)
	}
}

func TestCheckFew(t *testing.T) {
	usual := flag.Lookup(checksFlag).Value.String()
	defer mustSet(checksFlag, usual)
	for _, row := range []struct{ checks, few int }{
		{checks: 100, few: 3},
		{checks: 1000, few: 30},
		{checks: 10, few: 1},
	} {
		mustSet(checksFlag, strconv.Itoa(row.checks))
		few, all := 0, 0
		CheckFew(t, 3, func(*rapid.T) { few++ })
		Check(t, func(*rapid.T) { all++ })
		if few != row.few || all != row.checks {
			t.Errorf("of %d checks, CheckFew drew %d inputs, Check %d", row.checks, few, all)
		}
	}
}
