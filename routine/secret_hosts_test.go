package routine_test

import (
	"strings"
	"testing"

	"rote/routine"
)

func TestParseSecretHost(t *testing.T) {
	for text, want := range map[string]string{
		"shop.example":              "shop.example",
		"Shop.Example.":             "shop.example",
		"*.shop.example":            "*.shop.example",
		"shop.example:8443":         "shop.example:8443",
		"http://shop.example":       "http://shop.example",
		"http://*.shop.example:81":  "http://*.shop.example:81",
		"bücher.example":            "xn--bcher-kva.example",
		"localhost":                 "localhost",
		"*.localhost:8080":          "*.localhost:8080",
		"intranet":                  "intranet",
		"127.0.0.1:8080":            "127.0.0.1:8080",
		"[::1]:8080":                "[::1]:8080",
		"0:0:0:0:0:0:0:1":           "[::1]",
		"me.github.io":              "me.github.io",
		"*.me.github.io":            "*.me.github.io",
		"shop.co.uk":                "shop.co.uk",
		"*.example.com":             "*.example.com",
		"s3.eu-west-1.example:9000": "s3.eu-west-1.example:9000",
	} {
		h, err := routine.ParseSecretHost(text)
		if err != nil || h.String() != want {
			t.Errorf("%q: got %q, %v; want %q", text, h, err, want)
		}
		if again, err := routine.ParseSecretHost(h.String()); err != nil || again != h {
			t.Errorf("%q: its own spelling %q gives %q, %v", text, h, again, err)
		}
	}
}

func TestParseSecretHostRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "write host", "*": "write host", "*.": "write host", "*.*.example": "write host", "shop.*": "write host",
		"https://shop.example": "leave out the scheme", "http://http://shop.example": "leave out the scheme", "ftp://shop.example": "leave out the scheme",
		"shop.example/path": "write host", "shop.example?q": "write host", "shop.example#f": "write host", `shop.example\x`: "write host",
		"user@shop.example": "write host", "shop.example ": "write host", "shop%2eexample": "write host", "shop..example": "write host", ".": "write host",
		"shop.example:0": "write host", "shop.example:65536": "write host", "shop.example:": "write host", "shop.example:080": "write host",
		"10.0.0.0/8": "range of addresses", "::/0": "range of addresses", "*.127.0.0.1": "no subdomains",
		"127.1": "write host", "0x7f.0.0.1": "write host", "2130706433": "write host", "0177.0.0.1": "write host", "[::1": "write host",
		"com": "many owners", "*.com": "many owners", "co.uk": "many owners", "*.co.uk": "many owners", "github.io": "many owners",
		"*.github.io": "many owners", "GitHub.io.": "many owners", "*.example": "many owners", "*.xn--p1ai": "many owners", "foo.ck": "many owners",
	} {
		if h, err := routine.ParseSecretHost(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v; want an error with %q", text, h, err, want)
		}
	}
}

func TestSecretRulesAllow(t *testing.T) {
	for _, row := range []struct {
		hosts           string
		allowed, denied []string
	}{
		{"shop.example", []string{"https://shop.example", "https://shop.example:8443", "https://SHOP.example/login?next=/", "https://ｓhop.example"},
			[]string{"http://shop.example", "https://www.shop.example", "https://shop.example.evil", "https://evil-shop.example", "https://evilshop.example",
				"https://shop.example@evil.example", "https://user@shop.example", "https://user:pw@shop.example", "https://shop.example.",
				`https://evil.example\@shop.example`, "https://evil.example#@shop.example", "https://shop.example%2eevil.example", "https://shop.example:",
				"https://shop.exаmple", "//shop.example", "shop.example", "null", "", "about:blank", "data:text/html,shop.example", "blob:https://shop.example/x",
				"ftp://shop.example", "file://shop.example", "javascript://shop.example", "https:shop.example", "https:///shop.example", "https://shop.example\n"}},
		{"*.shop.example", []string{"https://a.shop.example", "https://a.b.shop.example"},
			[]string{"https://shop.example", "https://evil-shop.example", "https://.shop.example", "https://a.shop.example.evil", "http://a.shop.example"}},
		{"shop.example:8443", []string{"https://shop.example:8443"}, []string{"https://shop.example", "https://shop.example:443", "http://shop.example:8443"}},
		{"shop.example:443", []string{"https://shop.example", "https://shop.example:443"}, []string{"https://shop.example:444"}},
		{"http://shop.example", []string{"http://shop.example", "https://shop.example"}, []string{"http://www.shop.example", "ws://shop.example"}},
		{"http://shop.example:80", []string{"http://shop.example"}, []string{"https://shop.example", "http://shop.example:81"}},
		{"bücher.example", []string{"https://xn--bcher-kva.example", "https://BÜCHER.example"}, []string{"https://bucher.example", "https://xn--bcher-kva.evil"}},
		{"127.0.0.1", []string{"http://127.0.0.1:8080", "https://127.0.0.1"},
			[]string{"http://127.1", "http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://127.0.0.2", "http://[::ffff:127.0.0.1]",
				"http://127.0.0.1.evil"}},
		{"[::1]:8080", []string{"http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080"}, []string{"http://[::2]:8080", "http://[::1]"}},
		{"localhost", []string{"http://localhost:3000"}, []string{"http://a.localhost", "http://localhost.evil"}},
		{"*.localhost", []string{"http://shop.localhost"}, []string{"http://localhost", "http://evillocalhost"}},
		{"10.0.0.5", []string{"https://10.0.0.5"}, []string{"http://10.0.0.5", "https://10.0.0.50"}},
		{"a.example b.example", []string{"https://a.example", "https://b.example"}, []string{"https://c.example"}},
		{"* *.com github.io https://shop.example 0.0.0.0/0", nil, []string{"https://shop.example", "https://a.com", "https://github.io", "https://10.0.0.1"}},
		{"", nil, []string{"https://shop.example", "http://localhost"}},
	} {
		rules := &routine.SecretRules{Hosts: strings.Fields(row.hosts)}
		for _, origin := range row.allowed {
			if !rules.Allows(origin) {
				t.Errorf("%q does not allow %q", row.hosts, origin)
			}
		}
		for _, origin := range row.denied {
			if rules.Allows(origin) {
				t.Errorf("%q allows %q", row.hosts, origin)
			}
		}
	}
}
