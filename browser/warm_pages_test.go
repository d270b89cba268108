package browser

import "testing"

// A rehearsed page is like any blank one.
func TestRehearsalLeavesNothing(t *testing.T) {
	const seen = `(() => [document.documentElement.outerHTML, history.length, document.activeElement.tagName, getSelection().toString(),
		Object.getOwnPropertyNames(window).length, scrollX, scrollY])()`
	b := own(t)
	b.config.Warm = -1 // no page is rehearsed unasked
	plain, rehearsed := mustOpen(t, b), mustOpen(t, b)
	if _, err := help[any](testContext(t), rehearsed, "rehearse"); err != nil {
		t.Fatal(err)
	}
	if got, want := eval(t, rehearsed, seen), eval(t, plain, seen); got != want {
		t.Fatalf("a run would see that the page was used:\n%s\n%s", got, want)
	}
}
