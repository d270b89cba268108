package javascript

import (
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// callString returns s.name(args) for the string methods with which names can
// be assembled.
func (f *flow) callString(s []text, name string, args []js.Arg) []text {
	switch name {
	case "toString":
		if len(args) > 0 {
			return unknown
		}
		return s
	case "concat":
		for _, a := range args {
			if a.Rest {
				return unknown
			}
			s = concat(s, f.eval(a.Value).texts)
		}
		return s
	case "trim":
		return mapTexts(s, func(s string) (string, bool) { return strings.TrimSpace(s), true })
	case "toLowerCase":
		return mapTexts(s, func(s string) (string, bool) { return strings.ToLower(s), true })
	case "toUpperCase":
		return mapTexts(s, func(s string) (string, bool) { return strings.ToUpper(s), true })
	case "replace", "replaceAll":
		was, is := f.argument(args, 0), f.argument(args, 1)
		if was == nil || is == nil || len(args) != 2 {
			return unknown
		}
		n := 1
		if name == "replaceAll" {
			n = -1
		}
		return mapTexts(s, func(s string) (string, bool) {
			return strings.Replace(s, *was, *is, n), !strings.Contains(*is, "$")
		})
	case "slice", "substring", "substr", "charAt":
		return f.cut(s, name, args)
	}
	return unknown
}

// cut returns the result of s.slice(from, to) and similar methods.
func (f *flow) cut(s []text, name string, args []js.Arg) []text {
	var n []int
	for i := range args {
		a := f.argument(args, i)
		if a == nil {
			return unknown
		}
		k, err := strconv.Atoi(*a)
		if err != nil {
			return unknown
		}
		n = append(n, k)
	}
	if len(n) == 0 || len(n) > 2 {
		return unknown
	}
	return mapTexts(s, func(s string) (string, bool) {
		if strings.IndexFunc(s, func(r rune) bool { return r > 127 }) >= 0 {
			return "", false // JavaScript counts UTF-16
		}
		from, to := n[0], len(s)
		switch {
		case name == "charAt":
			to = from + 1
		case len(n) == 2 && name == "substr":
			to = from + n[1]
		case len(n) == 2:
			to = n[1]
		}
		if name == "slice" && to < 0 {
			to += len(s)
		}
		if name != "substring" && from < 0 {
			from += len(s)
		}
		if name == "substring" && from > to {
			from, to = to, from
		}
		from, to = min(max(from, 0), len(s)), min(max(to, 0), len(s))
		return s[from:max(from, to)], true
	})
}
