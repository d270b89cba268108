package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/service"
)

// The page of a running run offers what its page shows, if the server has the live view.
func TestLiveView(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		e := newEnv(t, func(c *envConfig) { c.service.LiveView = on })
		arrived, release := make(chan struct{}), make(chan struct{})
		e.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
			close(arrived)
			<-release
			return routine.Navigation{URL: url, Status: http.StatusOK}, nil
		}
		e.browser.Page.Picture = func(context.Context) ([]byte, error) { return []byte("\xff\xd8\xff"), nil }
		e.signIn("routines:read", "executions:read")
		r := e.create(unsavedText)
		run, err := e.service.Start(t.Context(), ada, r.ID, service.Call{})
		if err != nil {
			t.Fatal(err)
		}
		<-arrived
		path := "/console/executions/" + run.ID
		if page := e.get(path, http.StatusOK).body; strings.Contains(page, `data-picture="`+path+`/picture"`) != on {
			t.Errorf("with the live view %v:\n%s", on, page)
		}
		picture := e.get(path+"/picture", http.StatusOK)
		switch kind := picture.Header.Get("Content-Type"); {
		case on && (kind != "image/jpeg" || picture.body != "\xff\xd8\xff" || picture.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox"):
			t.Errorf("%q %v", picture.body, picture.Header)
		case !on && (!strings.HasPrefix(kind, "text/plain") || !strings.Contains(picture.body, "--live-view")):
			t.Errorf("%q %v", picture.body, picture.Header)
		}
		close(release)
		if _, err := e.service.Wait(t.Context(), ada, run.ID); err != nil {
			t.Fatal(err)
		}
		if got := e.get(path, http.StatusOK).body; strings.Contains(got, "data-picture") {
			t.Error("the page of a run that has ended has a live view")
		}
		if on {
			if got := e.get(path+"/picture", http.StatusOK); got.body != "the run has ended" {
				t.Error(got.body)
			}
		}
		e.signIn("routines:read")
		e.get(path+"/picture", http.StatusForbidden)
	}
}
