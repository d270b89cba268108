package service

import "testing"

// A place that is lent is free when both the lender and the borrower have left, in either order.
func TestPlaceIsLent(t *testing.T) {
	t.Parallel()
	for _, borrowerFirst := range []bool{true, false} {
		q := newQueue(1, 1)
		lender, err := q.enter("acme")
		if err != nil {
			t.Fatal(err)
		}
		waits, err := q.enter("acme")
		if err != nil {
			t.Fatal(err)
		}
		borrower := lender.lend()
		if !borrower.isRunning() || borrower.ahead() != 0 {
			t.Error("the borrower waits")
		}
		first, last := lender, borrower
		if borrowerFirst {
			first, last = borrower, lender
		}
		first.leave()
		first.leave()
		if running, waiting := q.counts(); running != 1 || waiting != 1 || waits.isRunning() {
			t.Errorf("after one has left, %d run and %d wait", running, waiting)
		}
		last.leave()
		if running, waiting := q.counts(); running != 1 || waiting != 0 || !waits.isRunning() {
			t.Errorf("after both have left, %d run and %d wait", running, waiting)
		}
		waits.leave()
		if running, _ := q.counts(); running != 0 || len(q.shares) != 0 {
			t.Errorf("in the end, %d run and %d organizations have shares", running, len(q.shares))
		}
	}
}
