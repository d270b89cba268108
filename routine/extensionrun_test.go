package routine_test

import (
	"context"
	"slices"
	"testing"

	"rote/routine"
)

// What rote adds to an operation reaches the page, its placeholders filled in. A
// popup is closed when its operation has ended, and stays when that has failed.
func TestExtensionsReachThePage(t *testing.T) {
	t.Parallel()
	var did []string
	_, err := runOnce(t, fakePage{did: &did},
		`{"type":"click","selector":"#b","x-hover":["#{{id}}",".m"],"x-popup":"follow"},{"type":"press","key":"Enter","x-popup":"close"}`,
		`{"name":"id"}`, `{"id":"1a"}`)
	want := []string{"click #b left×1", `over [#\31 a .m], following true`, "press Enter", "close popup"}
	if err != nil || !slices.Equal(did, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, did, want)
	}
	did = nil
	_, err = runOnce(t, fakePage{did: &did, click: failingClick(routine.CodeElementNotFound)},
		`{"type":"click","selector":"#b","x-popup":"close"}`, ``, `{}`)
	if err == nil || slices.Contains(did, "close popup") {
		t.Errorf("%v, %q", err, did)
	}
}

func (p *fakePage) noteExtensions(c routine.Click) {
	if len(c.Hover) > 0 || c.FollowPopup {
		p.note("over %v, following %v", c.Hover, c.FollowPopup)
	}
}

func (p *fakePage) ClosePopup(context.Context) error {
	p.note("close popup")
	return nil
}
