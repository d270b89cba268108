package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/lesson"
)

// An order that a real page sends half a second after a click is not sent again by a save.
func TestSaveDoesNotRepeatALateOrder(t *testing.T) {
	t.Parallel()
	var orders atomic.Int32
	ordered := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			orders.Add(1)
			ordered <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Shop</title><button id=order onclick="setTimeout(() => fetch('/orders', {method: 'POST'}), 500)">Order</button>`)
	}))
	defer server.Close()
	lessons := newRequestLessons(t, server)
	started, err := lessons.Start(t.Context(), teacher, lesson.StartRequest{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	tried, err := lessons.Try(t.Context(), teacher, started.ID, lesson.TryRequest{Operations: []json.RawMessage{[]byte(`{"type":"click","selector":"#order"}`)}})
	if err != nil || !tried.OK {
		t.Fatalf("%+v, %v", tried, err)
	}
	select {
	case <-ordered:
	case <-time.After(10 * time.Second):
		t.Fatal("the page has sent no order")
	}
	_, err = lessons.Save(t.Context(), teacher, started.ID, lesson.SaveRequest{Name: "order", Description: "Orders."})
	if want := "operation 2 does POST /orders again when proved: say prove all, check_last (which stops before operation 2) or no"; routine.CodeOf(err) !=
		routine.CodeConflict || err.Error() != want {
		t.Errorf("the save says %v, want %s", err, want)
	}
	saved, err := lessons.Save(t.Context(), teacher, started.ID, lesson.SaveRequest{Name: "order", Description: "Orders.", Prove: lesson.ProveCheckLast})
	if err != nil || saved.Saved != true {
		t.Errorf("%+v, %v", saved, err)
	}
	if n := orders.Load(); n != 1 {
		t.Errorf("%d orders were sent", n)
	}
}
