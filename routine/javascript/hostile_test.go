package javascript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// hostile are scripts that some step could take very long for.
func hostile(size int) map[string]string {
	var names strings.Builder
	for i := 0; names.Len() < size/2; i++ {
		fmt.Fprintf(&names, "v%x;", i)
	}
	n := names.String()
	wrap := func(s string) string { return "(() => {" + s + "})()" }
	nest := func(open, inner, close string, times int) string {
		return wrap(strings.Repeat(open, times) + inner + strings.Repeat(close, times))
	}
	return map[string]string{
		"brackets":         strings.Repeat("[", size),
		"pattern":          "let " + strings.Repeat("[", size),
		"async":            strings.Repeat("async(", size/6),
		"names":            wrap(n + n),
		"names in blocks":  nest("{", n+n, "}", 90),
		"vars in blocks":   nest("{", strings.ReplaceAll(n, "v", "var v"), "}", 90),
		"names in async":   nest("async(", strings.ReplaceAll(n, ";", ",")+"1", ")", 90),
		"names in arrows":  wrap(strings.Repeat("a=>", 900) + "[" + strings.ReplaceAll(n, ";", ",") + "]"),
		"names in loops":   wrap(strings.Repeat("for(;;)", 900) + "{" + n + "}"),
		"names and arrows": wrap(n[:size/4] + ";" + strings.ReplaceAll(strings.ReplaceAll(n[:size/4], "v", "w"), ";", "=>0;")),
		"spaces":           wrap(strings.Repeat(" ", size)),
		"semicolons":       strings.Repeat(";", size),
		"fetches":          wrap(strings.Repeat("fetch;", size/6)),
		"string":           wrap("x='" + strings.Repeat("y", size) + "'"),
		"escapes":          wrap("window['" + strings.Repeat(`\x61`, size/4) + "']"),
		"slashes":          wrap("a" + strings.Repeat("/a", 900)),
		"chains":           wrap(strings.Repeat("a"+strings.Repeat(".b", 900)+";", size/1801)),
		"window chains":    wrap(strings.Repeat("window"+strings.Repeat(".self", 900)+";", size/4506)),
		"concatenations":   wrap(strings.Repeat("window['a'"+strings.Repeat("+'b'", 900)+"];", size/3612)),
		"growing strings":  wrap("let a='a';" + strings.Repeat("a=a+a;a+='b';", size/13)),
		"aliases":          wrap("let a0=window;" + aliases(size/16)),
		"objects":          wrap("const o={" + strings.ReplaceAll(n[:size/4], ";", ":1,") + "};" + strings.Repeat("o.x;", size/16)),
		"cyclic objects":   wrap("const o={a:()=>o.a,b:o};" + strings.Repeat("o.b.b.b.b.b.b.b.b.a().b;", size/30)),
		"recursion":        wrap("const f=x=>f(f(x));" + strings.Repeat("f(f(f(f(window))));", size/20)),
		"towers":           nest("(", "a", strings.Repeat(".a", 900)+")", size/2000),
		"towers of sums":   nest("(", "a", strings.Repeat("+a", 800)+")", size/2000),
		"nested joins":     nest("[", "'a'", "].join().concat('b')", 90),
		"long array":       wrap("const o=[" + strings.ReplaceAll(n[:size/4], ";", ",") + "];" + strings.Repeat("o.map(x=>x);", size/32)),
		"conditions":       wrap("let a;" + strings.Repeat("a=b?a:window;a.x;", size/18)),
		"callbacks":        wrap("const f=x=>x;" + strings.Repeat("[f,f].map(f).map(f);", size/25)),
	}
}

func aliases(n int) string {
	var b strings.Builder
	for i := n; i > 0; i-- { // the last one first
		fmt.Fprintf(&b, "let a%x=a%x;", i, i-1)
	}
	return b.String()
}

// The limit is generous, because the test is there for what takes minutes on any
// machine.
func TestSpeedOfHostileScripts(t *testing.T) {
	optional.Speed(t)
	// at the smaller sizes the refusals for their depth do not help
	for _, size := range []int{MaxBytes - 8<<10, 160 << 10, 60 << 10} {
		for name, script := range hostile(size) {
			var problems []Problem
			d := stopwatch.Time(func() { problems = Check(script) })
			t.Logf("%-18s %7d bytes %8.1f ms %v", name, len(script), float64(d.Microseconds())/1000, places(problems[:min(1, len(problems))]))
			if d > 5*time.Second {
				t.Errorf("%s took %s", name, d)
			}
		}
	}
}
