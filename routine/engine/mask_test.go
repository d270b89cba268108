package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/stopwatch"

	"golang.org/x/net/idna"

	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/seeded"
)

func secretText(text string) secrets {
	return secretsOf([]routine.Parameter{{Name: "p", Secret: true}}, routine.Values{"p": text})
}

// A secret is found in any form that pages, browsers and we ourselves give to a
// text, and what is around it stays.
func TestMaskedForms(t *testing.T) {
	long := strings.Repeat("abcdefghij", 30)
	host, _ := idna.ToASCII("geheim-wörter")
	encoded := base64.StdEncoding.EncodeToString([]byte("u:Tr0ub4dor&3"))
	for _, row := range []struct{ name, secret, text, want string }{
		{"folded line break", "first line\nsecond line", "<first line second line>", "<***>"},
		{"folded tab", "first\tsecond", "a first second b", "a *** b"},
		{"folded double blank", "first  second", "a first second b", "a *** b"},
		{"line breaks removed", "first\r\nsecond", "https://a.test/firstsecond?x", "https://a.test/***?x"},
		{"more white space", "first second", "a first \n\u00a0\u200b second b", "a *** b"},
		{"lower case", "TopSecret", "topsecret.shop.test:443", "***.shop.test:443"},
		{"upper case", "topsecret", "<TOPSECRET>", "<***>"},
		{"upper case of other scripts", "straßenÄpfel", "a STRAßENäPFEL b", "a *** b"},
		{"a label in punycode", "geheim-wörter", host + ".test", "***.test"},
		{"a part of a label in punycode", "wörter", host + ".test", "***.test"},
		{"a cut label in punycode", "geheim-wörter", host[:10] + "…", "***…"},
		{"a host mapped", "ＧＥＨＥＩＭ", "geheim.test", "***.test"},
		{"a dot at the end", "shop.secret.test.", "https://shop.secret.test/x", "https://***/x"},
		{"a URL as a browser writes it", "HTTPS://Shop.Test:443/a/../b?c=d", "at https://shop.test/b?c=d now", "at *** now"},
		{"a URL without its fragment", "https://shop.test/b?c=d#e", "at https://shop.test/b?c=d now", "at *** now"},
		{"the two ends of it", long, long[:50] + "…" + long[len(long)-49:], "***…***"},
		{"the two ends in an object", long, `log: {token: "` + long[:50] + "…" + long[len(long)-49:] + `", n: 5}`, `log: {token: "***…***", n: 5}`},
		{"the two ends with more text", long, `{"t=` + long[:40] + "…" + long[len(long)-30:] + `; path=/"}`, `{"t=***…***; path=/"}`},
		{"the end only", long, "…" + long[len(long)-12:] + " and more", "…*** and more"},
		{"a cut in the second end", long, long[:50] + "…" + long[len(long)-49:len(long)-20] + "…", "***…***…"},
		{"a cut in an escape", `pass word wörd`, "https://a.test/pass%20word%20w%C3…", "https://a.test/***…"},
		{"ends with a line break", "begin\n" + long, "begin " + long[:40] + "…" + long[len(long)-49:], "***…***"},
		{"an exponent", "1e3", "it costs 1000 or 1,000.0 or 1E+3", "it costs *** or *** or ***"},
		{"a number in full", "1000", "1e3 of 1000 and 1001", "*** of *** and 1001"},
		{"zeros before it", "007", "7", "***"},
		{"zeros before a longer one", "00123", "n=123;", "n=***;"},
		{"a plus sign", "+5", "5", "***"},
		{"zeros behind it", "5.0", " 5 ", "***"},
		{"a short number in other text", "5.0", "5 of 15", "5 of 15"},
		{"a sign", "-4711", "<−> 4711 -4711.00", "<−> *** ***"},
		{"rounded as a script does", "12345678901234567890", "12345678901234567000", "***"},
		{"no whole number", "0.5", "x=.500", "x=***"},
		{"escaped in other ways", `a"b<ö>c`, `a\u0022b\u003C\xf6>c|a&quot;b&lt;&ouml;&#62;c|%61%22b<%c3%B6%3ec`, "***|***|***"},
		{"escaped twice", `a/"b" c`, url.QueryEscape(url.QueryEscape(`a/"b" c`)) + " " + html.EscapeString(html.EscapeString(`a/"b" c`)), "*** ***"},
		{"JSON in JSON in a URL", "a\n\"b\"", "?q=" + url.QueryEscape(quoteJSON(quoteJSON("a\n\"b\""))) + "&r", `?q=` + "%22%5C%22***%5C%22%22&r"},
		{"a plus for a blank", "a b+c", "?q=a+b%2Bc&r", "?q=***&r"},
		{"base64 in lower case", "Tr0ub4dor&3", strings.ToLower(encoded), "dtp***w=="},
		{"hexadecimal in upper case", "Tr0ub4dor&3", "547230756234646F722633", "***"},
		{"short ones stand alone", "ab", " AB ", "***"},
		{"short ones in other text", "ab", "about", "about"},
		{"white space alone", "   ", "a   b", "a***b"},
		{"what is alike", "hunter2", "hunter3, hunte…r", "hunter3, ***…r"},
		{"several", "hunter2", "hunter2hunter2 Hunter2", "****** ***"},
		{"no UTF-8", "hunter2", "\xff\xfehunter2\xff", "\xff\xfe***\xff"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := secretText(row.secret).text(row.text); got != row.want {
				t.Errorf("%q in %q: %q, want %q", row.secret, row.text, got, row.want)
			}
		})
	}
}

func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// Nothing of a result is left out: names of headers, of files and types of content
// too.
func TestAllOfAResultIsMasked(t *testing.T) {
	const secret = "s3cretKey"
	size := int64(4)
	headers := map[string]string{"x-s3cretkey": "1", "x-s3cretKey": "2", "x-other": "s3 cretkey"}
	record := routine.OperationRecord{Type: "fetch", Error: new("s3cretKey"),
		EgressDenied: []routine.Denial{{Host: "s3cretkey.test", Address: "s3cretKey", Reason: "no s3cretKey"}},
		Details:      map[string]any{"response": map[string]any{"headers": headers, "status": 200}, "console": []string{"s3cretKey"}}}
	r := &routine.Result{Filename: "r-s3cretKey.pdf", ContentType: "text/x; name=s3cretkey", Size: &size, Error: new("E s3cretKey"), Warnings: []string{"w S3CRETKEY"},
		PlaceholderResolution: map[string]*string{"sessionStorage:k": new("s3cret\tKey"), "meta:none": nil}, OperationsMetadata: []routine.OperationRecord{record}}
	secretText(secret).result(r)
	text, _ := json.Marshal(r)
	if strings.Contains(strings.ToLower(string(text)), "cretkey") {
		t.Errorf("the secret is left in %s", text)
	}
	for _, want := range []string{`"filename":"r-***.pdf"`, `"x-***":"2"`, `"x-******":"1"`, `"x-other":"***"`, `"status":200`, `"meta:none":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	err := secretText(secret).err(routine.Internal("do", fmt.Errorf("of https://s3cretkey.test")))
	if cause := routine.HiddenCause(err); routine.CodeOf(err) != routine.CodeInternal || cause == nil || strings.Contains(cause.Error(), "cretkey") {
		t.Errorf("%v because of %v", err, cause)
	}
}

// Wherever a text is cut and however it is folded, at most two characters of a
// secret are left. The seed is fixed.
func TestNothingOfASecretIsLeft(t *testing.T) {
	optional.OneGoroutine(t)
	random := seeded.Rand(t)
	alphabet := []rune("QXZJ \t\n\"\\%&ÄÖ")
	for range 800 {
		runes := make([]rune, 8+random.IntN(200))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		secret := string(runes)
		forms := []func(string) string{func(s string) string { return s },
			url.QueryEscape, url.PathEscape, html.EscapeString, quoteJSON, routine.OneLine, strings.ToLower,
			func(s string) string { return fmt.Sprintf("%q", s) }}
		form := []rune(forms[random.IntN(len(forms))](secret))
		cut := random.IntN(len(form) + 1)
		for _, text := range []string{"<< " + string(form) + " >>", "<< " + string(form[:cut]) + "…",
			"<< " + string(form[:cut/2]) + "…" + string(form[len(form)-cut/3:]) + " >>"} {
			got := secretText(secret).text(text)
			left := 0
			for _, r := range strings.ToLower(got) {
				if strings.ContainsRune("qxzjäö", r) {
					left++
				}
			}
			if left > 4 { // two at each end
				t.Fatalf("%d characters of %q are left of %q: %q", left, secret, text, got)
			}
		}
	}
}

// Masking takes time linear to the text, whatever the text and the secret are.
func TestMaskingIsLinear(t *testing.T) {
	optional.OneGoroutine(t)
	for name, row := range map[string]struct{ secret, before, unit string }{
		"the same letter":       {strings.Repeat("a", 3000) + "b", "", "a"},
		"the secret":            {"s3cret", "", "s3cret "},
		"ellipses":              {strings.Repeat("abc", 500), "", "abc…"},
		"escapes":               {"a/b", "", "%2561%5c\\u0061&amp;"},
		"references":            {"a&b", "", "&"},
		"numbers":               {"1e3", "", "1,000 1"},
		"numbers after blanks":  {"1e3", " ", "1 "},
		"numbers after signs":   {"1e3", "-", "1-"},
		"numbers before blanks": {"1e3", "1 ", " "},
		"labels":                {"geheim", "", "xn--a"},
		"the secret's own half": {strings.Repeat("ab", 2000), "", strings.Repeat("ab", 1999) + "c"},
		"secrets of blanks":     {" \n\t ", " \n", "\t "},
	} {
		t.Run(name, func(t *testing.T) {
			s := secretText(row.secret)
			took := func(size int) time.Duration { // the best of some, in time of the processor: others use the machine too
				text := strings.Repeat(row.before, size/2) + strings.Repeat(row.unit, size/2/len(row.unit))
				best := time.Hour
				for range 4 {
					start := stopwatch.ProcessorTime()
					s.text(text)
					best = min(best, stopwatch.ProcessorTime()-start)
				}
				return best
			}
			if small, large := took(32<<10), took(512<<10); large > 5*16*small {
				t.Errorf("16 times the text took %v instead of %v", large, small)
			}
		})
	}
}

// Long texts are searched in windows. A secret across the border of two windows
// is found.
func TestLongTextsAreMasked(t *testing.T) {
	optional.OneGoroutine(t)
	s := secretText("first second\nthird")
	const hidden = "first%20second third"
	var text strings.Builder
	n := 0
	for text.Len() < 3*maskedAtOnce {
		text.WriteString(strings.Repeat("x", 1000+n%7) + hidden)
		n++
	}
	got := s.text(text.String())
	if strings.Count(got, routine.Masked) != n || strings.Contains(got, "first") || strings.Count(got, "x")+n*len(routine.Masked) != len(got) {
		t.Errorf("%d of %d are masked", strings.Count(got, routine.Masked), n)
	}
}

// Secrets with a common prefix longer than the tree of the finder are
// distinguished: the spellings of one secret, and several secrets.
func TestLongSecretsThatBeginAlike(t *testing.T) {
	long := strings.Repeat("k", 300)
	both := secretsOf([]routine.Parameter{{Name: "p", Secret: true}, {Name: "q", Secret: true}}, routine.Values{"p": long + "&tail-one", "q": long + "-other-two"})
	for name, s := range map[string]secrets{"one": secretText(long + "&tail-one"), "both": both} {
		for _, text := range []string{long + "&tail-one", "a " + long + "&amp;tail-one b", long + `\u0026tail-one`} {
			if got := s.text(text); strings.Contains(got, "tail") || strings.Contains(got, "one") {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	if got := both.text(long + "-other-two and " + long + "&tail-one"); strings.Contains(got, "two") ||
		strings.Contains(got, "one") || !strings.Contains(got, " and ") {
		t.Errorf("both: %s", got)
	}
}

func TestNamesOfSecretFilesAreMasked(t *testing.T) {
	files := routine.Values{"cv": []routine.InputFile{{Name: "cv.txt", Type: "text/plain", Data: []byte("hello")}}}
	if got := secretsOf([]routine.Parameter{{Name: "cv", Secret: true}}, files).text("uploaded cv.txt (text/plain)"); strings.Contains(got, "cv.txt") {
		t.Error(got)
	}
}
