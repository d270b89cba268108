package routinetest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"rote/routine"
)

// exportedCookie has the fields of a cookie in an exported state.
type exportedCookie struct {
	Name, Value, Domain, Path, SameSite, PartitionKey string
	Expires                                           int64
	Secure, HTTPOnly                                  bool
}

// ExportedState draws the state of a browser as another program may have exported it at about
// the time now, as JSON or as cookies.txt. Some have a fault, and some are no such text at all.
func ExportedState(t *rapid.T, now int64) []byte {
	odd := rapid.IntRange(0, 5).Draw(t, "faults") == 0
	pick := func(label string, usual, faulty []string) string {
		if odd && rapid.IntRange(0, 3).Draw(t, "fault in "+label) == 0 {
			return rapid.SampledFrom(faulty).Draw(t, label)
		}
		return rapid.SampledFrom(usual).Draw(t, label)
	}
	var cookies []exportedCookie
	for range rapid.IntRange(0, 6).Draw(t, "cookies") {
		cookies = append(cookies, exportedCookie{
			Name: pick("name", []string{"sid", "a", "__Host-a", "__Secure-b", "__Http-c", "x[y]", "quo\"te", "bü", "a,b", "(c)"},
				[]string{"", "a=b", "a;b", " a", "a\tb", "a\nb", "a\x00b", strings.Repeat("n", 4097)}),
			Value: pick("value", []string{"v", "", "1=2", `"quoted"`, "ünïcode", "a b", "a,b", "%20", `{"j":1}`, strings.Repeat("v", 4000)},
				[]string{"a;b", "v ", "a\x01", "a\x7f", strings.Repeat("v", 4096)}),
			Domain: pick("domain", []string{"shop.example", ".shop.example", "www.shop.example", "127.0.0.1", "localhost", "[::1]", "Shop.Example", "bücher.example"},
				[]string{"", ".", "shop.example:80", ".127.0.0.1", ".co.uk", "shop..example", "a/b", "shop.example.", "*.shop.example", ".localhost"}),
			Path:         pick("path", []string{"/", "/deep", "/deep/er/", "/a~b"}, []string{"", "deep", "/a b", "/../x", "/a;b", "/a?b", "/ü", "/%2e%2e/x", "/a\\b"}),
			SameSite:     pick("sameSite", []string{"", "Lax", "Strict", "None"}, []string{"none", "odd"}),
			PartitionKey: pick("partition", []string{"", "", "https://top.example"}, []string{"top.example", "https://www.top.example", "null", "https://top.example/"}),
			Expires:      rapid.SampledFrom([]int64{-1, 0, now + 1000, now + 1e9, 1000, 253402300799}).Draw(t, "expires"),
			Secure:       rapid.IntRange(0, 3).Draw(t, "secure") > 0,
			HTTPOnly:     rapid.Bool().Draw(t, "httpOnly"),
		})
	}
	var text []byte
	if rapid.Bool().Draw(t, "as JSON") {
		text = asStorageState(t, cookies, pick)
	} else {
		text = asLines(cookies)
	}
	if odd && rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		end := min(at+rapid.IntRange(0, 3).Draw(t, "cut"), len(text))
		text = slices.Concat(text[:at], rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "put"), text[end:])
	}
	return text
}

// asStorageState writes a state as Playwright does.
func asStorageState(t *rapid.T, cookies []exportedCookie, pick func(label string, usual, faulty []string) string) []byte {
	list := []map[string]any{}
	for _, c := range cookies {
		m := map[string]any{"name": c.Name, "value": c.Value, "domain": c.Domain, "path": c.Path, "expires": c.Expires, "secure": c.Secure, "httpOnly": c.HTTPOnly}
		if c.SameSite != "" {
			m["sameSite"] = c.SameSite
		}
		if c.PartitionKey != "" {
			m["partitionKey"] = c.PartitionKey
		}
		list = append(list, m)
	}
	origins := []map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "origins") {
		items := []map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, map[string]any{"name": pick("key", []string{"k", "", "key 2", "\u2028", "<b>", "__proto__", "length"}, []string{"k"}),
				"value": pick("text", []string{"v", "", "a\"b\\", "\x00\n\t\x7f", "<!-- & -->", "\u2028é😀", "HALF", strings.Repeat("w", 5000)}, []string{"v"})})
		}
		origin := pick("origin",
			[]string{"https://shop.example", "http://127.0.0.1:8080", "https://www.shop.example:8443", "http://[::1]:81", "https://Shop.Example:443"},
			[]string{"shop.example", "https://shop.example/", "file://", "https://", "null", "https://u@shop.example", "https://shop.example:0", "ftp://shop.example"})
		origins = append(origins, map[string]any{"origin": origin, "localStorage": items})
	}
	text := routine.JSONText(map[string]any{"cookies": list, "origins": origins})
	return []byte(strings.ReplaceAll(text, "HALF", `\uD83D x \ude00`)) // halves of a pair, as compressed texts have them
}

// asLines writes cookies as curl does.
func asLines(cookies []exportedCookie) []byte {
	var b strings.Builder
	b.WriteString("# Netscape HTTP Cookie File\n\n")
	flag := func(yes bool) string { return strings.ToUpper(fmt.Sprint(yes)) }
	for _, c := range cookies {
		if c.HTTPOnly {
			b.WriteString("#HttpOnly_")
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", c.Domain, flag(strings.HasPrefix(c.Domain, ".")), c.Path, flag(c.Secure), max(c.Expires, 0), c.Name, c.Value)
	}
	return []byte(b.String())
}
