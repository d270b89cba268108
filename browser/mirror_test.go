package browser

import (
	"strconv"
	"strings"
	"testing"
)

// A text that fills the storage of an origin to the last code unit is mirrored,
// and the browser takes no longer one.
func TestMirrorFillsTheStorage(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": "<p>x"})+"/")
	ctx := testContext(t)
	const key = "k"
	for i, part := range []string{"😀", "é", "x"} {
		if sampled(shared, i) {
			continue
		}
		units := len([]rune(part)) + strings.Count(part, "😀")
		most := (maxMirrored - len(key)) / units
		if err := p.Mirror(ctx, key, strings.Repeat(part, most)); err != nil {
			t.Fatal(err)
		}
		if got := eval(t, p, `(() => sessionStorage.getItem('k')?.length ?? 0)()`); got != strconv.Itoa(most*units) {
			t.Errorf("%q: %s units of %d are there", part, got, most*units)
		}
		if !fitsStorage(strings.Repeat(part, maxMirrored/units)) || fitsStorage(strings.Repeat(part, maxMirrored/units+1)) {
			t.Errorf("%q: the bound is not %d units", part, maxMirrored)
		}
		longer := strconv.Itoa(most*units + 2)
		if got := eval(t, p, `(() => { sessionStorage.clear(); try { sessionStorage.setItem('k', 'x'.repeat(`+longer+`)); return 1 } catch { return 0 } })()`); got != "0" {
			t.Errorf("the browser takes %s units: %s", longer, got)
		}
	}
}
