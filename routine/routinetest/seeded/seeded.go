// Package seeded gives random tests a fixed seed, so that a test run is the
// same every time and writes nothing into the checkout.
//
// RAPID_SEED in the environment, or -rapid.seed on the command line of a package
// that uses this one, sets another seed; 0 draws a new one in each test. A test
// that fails names its seed.
package seeded

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

const (
	seedFlag   = "rapid.seed"
	checksFlag = "rapid.checks"

	rapidChecks = 100 // how many inputs rapid draws by default
)

// init changes the defaults of rapid's flags before the command line is parsed,
// so the command line still wins.
func init() {
	if _, chosen := os.LookupEnv("RAPID_SEED"); !chosen {
		mustSet(seedFlag, "1")
	}
	// rapid repeats the cases of such files for ever. A case that is worth
	// keeping becomes a row of a table.
	mustSet("rapid.nofailfile", "true")
}

func mustSet(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}

// Check runs a property with random input, as [rapid.Check] does.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, property)
}

// CheckFew is Check for a property that takes long. It draws only the given number of
// inputs, and more or fewer in proportion if RAPID_CHECKS or -rapid.checks asks for more
// or fewer than rapid's default of 100. Tests that run in parallel cannot use it.
func CheckFew(t *testing.T, inputs int, property func(*rapid.T)) {
	t.Helper()
	usual := flag.Lookup(checksFlag).Value.String()
	checks, err := strconv.Atoi(usual)
	if err != nil {
		t.Fatal(err)
	}
	mustSet(checksFlag, strconv.Itoa(max(1, inputs*checks/rapidChecks)))
	defer mustSet(checksFlag, usual)
	rapid.Check(t, property)
}

// Rand is a source of random numbers for one test. Several goroutines may use
// it at once.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(flag.Lookup(seedFlag).Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("random numbers came from -%s=%d", seedFlag, seed)
		}
	})
	return rand.New(&lockedSource{source: rand.NewPCG(seed, seed)})
}

// lockedSource is a source for several goroutines.
type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}
