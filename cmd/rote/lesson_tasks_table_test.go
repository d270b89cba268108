package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sites "rote/cmd/rote/practice/teach"
)

// whole lets a test that has a representative sample of its rows by default do all rows.
var whole = flag.Bool("whole", false, "all rows of the tables, and the tests of the console that take a minute")

// onlyWhole skips a test that takes long and whose subject other tests have in parts.
func onlyWhole(t *testing.T) {
	t.Helper()
	if !*whole {
		t.Skip("without -whole, which .ci/run gives it")
	}
}

// lessonTasks are what the tools of lessons are tried with: a fixed list of calls for each.
// A task is judged by what the site got and by the data of further runs.
var lessonTasks = []struct {
	name  string
	do    func(*driver)
	whole bool // only with -whole
}{
	{"letters, then mend", taskLettersAndMend, true}, // first, because it takes longest
	{"catalog", taskCatalog, true},
	{"search", taskSearch, false},
	{"purchases", taskPurchases, false},
	{"bank", taskBank, true},
	{"quotes", taskQuotes, true},
	{"news", taskNews, true},
	{"invoices", taskInvoices, true},
	{"stories", taskStories, true},
	{"insurance", taskInsurance, true},
	{"shop", taskShop, false},
}

// maxTaskCalls and maxTaskBytes bound what one task may cost an agent.
const (
	maxTaskCalls = 15
	maxTaskBytes = 60_000
	// All tasks together take at most a minute, or on a slow machine so many times what a lesson
	// takes that opens a page and ends.
	maxTasksTime      = time.Minute
	maxTasksInLessons = 60
)

// Each task can be done with the tools of lessons alone, its routine is proved, and no
// answer, log or database has a password of a site.
func TestLessonTasks(t *testing.T) {
	t.Parallel()
	s := newTaskServer(t, 4)
	var mu sync.Mutex
	var report []string
	note := func(st *driver, task string) {
		mu.Lock()
		defer mu.Unlock()
		report = append(report, fmt.Sprintf("%-10s %2d calls, %6d bytes of answers, at most %5d, %4.1f s, %s", task, st.calls, st.bytes, st.largest, st.seconds,
			cmp.Or(st.grades(), "no selectors")))
	}
	one := (&driver{taskServer: s, t: t}).emptyLesson()
	start := time.Now()
	t.Run("tasks", func(t *testing.T) {
		// Tasks mostly wait until pages are quiet, so more of them run at once than there
		// are processors.
		places := make(chan struct{}, 4)
		var all sync.WaitGroup
		for _, row := range lessonTasks {
			if row.whole && !*whole {
				continue
			}
			all.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				t.Run(row.name, func(t *testing.T) {
					row.do(&driver{taskServer: s, t: t, started: time.Now(), note: note})
				})
			})
		}
		all.Wait()
	})
	slices.Sort(report)
	took := time.Since(start)
	t.Logf("in %.1f s, where an empty lesson takes %.2f s:\n%s", took.Seconds(), one.Seconds(), strings.Join(report, "\n"))
	if *whole && took > max(maxTasksTime, maxTasksInLessons*one) {
		t.Errorf("the tasks take %v, at most %v or %d empty lessons are allowed", took, maxTasksTime, maxTasksInLessons)
	}
	for _, leak := range s.leaks() {
		t.Error(leak)
	}
}

// emptyLesson is the median time of nine lessons that open a page, look at it and end.
func (s *driver) emptyLesson() time.Duration {
	s.t.Helper()
	var took []time.Duration
	for range 9 {
		start := time.Now()
		s.start(members{"url": s.url(sites.Shop, "/")})
		s.in("end_lesson", members{})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
