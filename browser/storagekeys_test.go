package browser

import (
	"slices"
	"strings"
	"testing"
)

func TestStorageKeys(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]any{
		"/":     `<script>sessionStorage.cart = 'x'; sessionStorage['k'.repeat(300)] = 'y'; localStorage.other = 'z'</script>`,
		"/many": `<script>for (let i = 0; i < 1000; i++) sessionStorage['k' + i] = 'x'</script>`,
	})
	p := openPage(t, "")
	keys := func() []string {
		keys, err := p.StorageKeys(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		return keys
	}
	if got := keys(); len(got) != 0 {
		t.Errorf("of a blank page: %q", got)
	}
	if _, err := p.Navigate(testContext(t), base+"/"); err != nil {
		t.Fatal(err)
	}
	if got, want := keys(), []string{"cart", strings.Repeat("k", maxStorageKey) + "…"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := p.Navigate(testContext(t), base+"/many"); err != nil {
		t.Fatal(err)
	}
	if got := keys(); len(got) != maxStorageKeys {
		t.Errorf("%d of many", len(got))
	}
}
