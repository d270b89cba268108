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
)

// whole lets a test that has a representative sample of its rows by default do all rows.
var whole = flag.Bool("whole", false, "all rows of the tables")

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
	t.Logf("in %.1f s:\n%s", time.Since(start).Seconds(), strings.Join(report, "\n"))
	for _, leak := range s.leaks() {
		t.Error(leak)
	}
}
