package placeholder

import (
	"fmt"
	"strings"
	"testing"
)

// All invalid values are reported together, and each is read once.
func TestAllInvalidValuesAreFoundInOnePass(t *testing.T) {
	const n = 500
	for name, row := range map[string]struct {
		place                         Place
		before, between, after, value string
	}{
		"refused where they stand": {URL, "http://", "", "", "a/b"},
		"refused as a whole":       {URL, "http://a.test", "/", "", ".."},
		"names in a script":        {Script, "(() => {", "; x.", "; })()", "0a"},
	} {
		var b strings.Builder
		b.WriteString(row.before)
		for i := range n {
			fmt.Fprintf(&b, "%s{{p%d}}", row.between, i)
		}
		tmpl, _ := Parse(b.String()+row.after, row.place)
		asked := 0
		f := Filling{Resolve: func(Token) (any, bool) { asked++; return row.value, true }}
		if misfits := f.Misfits(tmpl, 2*n); len(misfits) != n || asked != n {
			t.Errorf("%s: %d values asked for, %d misfits", name, asked, len(misfits))
		}
		if misfits := f.Misfits(tmpl, 3); len(misfits) != 3 {
			t.Errorf("%s: %d misfits where 3 are enough", name, len(misfits))
		}
	}
}

// The limit counts the bytes that are written for all texts together, and
// nothing is written beyond it.
func TestFillLimitsSizeOfValues(t *testing.T) {
	for _, row := range []struct {
		text  string
		place Place
		value string
		fits  bool
	}{
		{"{{a}}{{a}}", Text, "12345", true},
		{"{{a}}{{a}}", Text, "123456", false},
		{"{{a}}", Value, "1234567890", true},
		{"{{a}}", Value, "12345678901", false},
		{"/{{a}}", URL, "ééé", false}, // %C3%A9 thrice
		{"plain text without any value", Text, "", true},
	} {
		tmpl, _ := Parse(row.text, row.place)
		put := ""
		f := Filling{Resolve: func(Token) (any, bool) { return row.value, true }, Room: 10, Put: func(_ Token, text string) { put += text }}
		_, err := f.Fill(tmpl)
		if (err == nil) != row.fits || f.Full == row.fits || len(put) > 10 {
			t.Errorf("%s with %s: %v, full %v, written %q", row.text, row.value, err, f.Full, put)
		}
	}
	f := Filling{Resolve: func(Token) (any, bool) { return "123456", true }, Room: 10}
	tmpl, _ := Parse("{{a}}", Text)
	if _, err := f.Fill(tmpl); err != nil {
		t.Error(err)
	}
	if _, err := f.Fill(tmpl); err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("the second text: %v", err)
	}
}
