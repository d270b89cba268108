package browser

import (
	"bytes"
	"context"
	"image/jpeg"
	"testing"
	"time"

	"rote/routine"
)

// A picture shows the page on which a run acts, also while it acts, and the window that it
// follows.
func TestPictureShowsTheCurrentPage(t *testing.T) {
	t.Parallel()
	address := site(t, map[string]any{"/": `<style>body { background: red }</style><button id=b onclick="window.open('/blue')">x</button>`,
		"/blue": `<style>body { background: blue }</style>`})
	opened, err := shared.Open(testContext(t), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := opened.Navigate(testContext(t), address+"/"); err != nil {
		t.Fatal(err)
	}
	wantColour(t, opened, "red")
	busy := make(chan error, 1)
	go func() {
		_, err := opened.Evaluate(testContext(t), script("new Promise(done => setTimeout(done, 500))", testTime/2))
		busy <- err
	}()
	wantColour(t, opened, "red")
	if err := <-busy; err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Click(testContext(t), routine.Click{Selector: "#b", Count: 1, Button: "left", FollowPopup: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := opened.URL(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantColour(t, opened, "blue")
}

// wantColour waits until the picture of a page has a background. A page may not be painted yet.
func wantColour(t *testing.T, p routine.Page, want string) {
	t.Helper()
	ctx := testContext(t)
	for {
		data, err := p.(routine.Picturable).Picture(ctx)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		bounds := picture.Bounds()
		r, _, b, _ := picture.At(bounds.Max.X-5, bounds.Max.Y-5).RGBA()
		if got := map[bool]string{true: "red", false: "blue"}[r > b]; got == want && max(r, b) > 0x8000 && min(r, b) < 0x4000 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the page is not %s", want)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestPictureEndsWithItsContext(t *testing.T) {
	t.Parallel()
	opened, err := shared.Open(testContext(t), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := opened.(routine.Picturable).Picture(ended); err == nil {
		t.Error("there is a picture without time for one")
	}
}
