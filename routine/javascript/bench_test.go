package javascript_test

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine/javascript"
	"rote/routine/javascript/facts"
)

// long repeats what authors write until it has n bytes.
func long(n int) string {
	var b strings.Builder
	b.WriteString("(() => {\n")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `	const rows%[1]d = [...document.querySelectorAll('tr.r%[1]d')].map(tr => {
		const { name, price = 0 } = tr.dataset;
		return { name, price: Number(price) / 100, text: tr.innerText.replace(/\s+/g, ' '), state: window.__STATE__?.items[name] };
	}).filter(r => r.price > %[1]d && r.name !== 'x');
	for (const r of rows%[1]d) { if (r.price) { out.push(r); } else { console.log("none", r); } }
`, i)
	}
	b.WriteString("})()")
	return b.String()
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1 << 10, 10 << 10, 100 << 10} {
		script := long(n)
		b.Run(fmt.Sprint(n>>10, "KB"), func(b *testing.B) {
			b.SetBytes(int64(len(script)))
			for b.Loop() {
				if p := javascript.Check(script); len(p) > 0 {
					b.Fatal(p)
				}
			}
		})
	}
}

func BenchmarkProve(b *testing.B) {
	for _, n := range []int{1 << 10, 10 << 10, 100 << 10} {
		script := long(n)
		b.Run(fmt.Sprint(n>>10, "KB"), func(b *testing.B) {
			b.SetBytes(int64(len(script)))
			for b.Loop() {
				facts.Prove(script)
			}
		})
	}
}
