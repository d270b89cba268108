package main

import (
	"encoding"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A value is either taken as it is written or refused with a message that says
// what to write. None is wrapped, clamped or cut.
func TestFlagValues(t *testing.T) {
	const refused = -1
	const h = int64(time.Hour)
	newDays := func() (encoding.TextUnmarshaler, func() int64) {
		d := new(days)
		return d, func() int64 { return int64(*d) }
	}
	newWait := func() (encoding.TextUnmarshaler, func() int64) {
		w := new(duration)
		return w, func() int64 { return int64(*w) }
	}
	newSize := func() (encoding.TextUnmarshaler, func() int64) {
		s := new(size)
		return s, func() int64 { return int64(*s) }
	}
	newCount := func() (encoding.TextUnmarshaler, func() int64) {
		c := new(count)
		return c, func() int64 { return int64(*c) }
	}
	newNumber := func() (encoding.TextUnmarshaler, func() int64) {
		n := new(number)
		return n, func() int64 { return int64(*n) }
	}
	for _, kind := range []struct {
		name, advice string
		make         func() (encoding.TextUnmarshaler, func() int64)
		values       map[string]int64
	}{
		{"days", "write 90d or 12h", newDays, map[string]int64{
			"90d": 90 * 24 * h, "12h": 12 * h, "1.5d": 36 * h, "0.5d": 12 * h, "1h30m": h * 3 / 2, "36500d": 36500 * 24 * h, "1s": int64(time.Second), "007d": 7 * 24 * h,
			"200000d": refused, "213504d": refused, "106752d": refused, "36501d": refused, "36500.1d": refused, "99999999999999999999d": refused,
			strings.Repeat("9", 400) + "d": refused, "3000000h": refused, "0d": refused, "-1d": refused, "-90d": refused, "0": refused, "1ns": refused, "0.9s": refused,
			"90d x": refused, "90dd": refused, "90 d": refused, "d": refused, "90": refused, "1d12h": refused, "1e3d": refused,
			"Infd": refused, "NaNd": refused, "soon": refused, "": refused, "9_0d": refused}},
		{"wait", "write 45s or 2m", newWait, map[string]int64{
			"45s": 45 * int64(time.Second), "2m": int64(2 * time.Minute), "24h": 24 * h, "1.5s": 1500 * int64(time.Millisecond), "1ms": int64(time.Millisecond),
			"24h1s": refused, "2562047h47m17s": refused, "9223372036854775808ns": refused, "0s": refused, "-1s": refused, "45": refused, "1d": refused, "": refused}},
		{"size", "4MiB", newSize, map[string]int64{
			"4MiB": 4 << 20, "500kB": 500_000, "1": 1, "1.5KiB": 1536, "1TiB": 1 << 40, "10GiB": 10 << 30,
			"0": refused, "0.4": refused, "-4MiB": refused, "1.1TiB": refused, "16EiB": refused, "99999999999999999999": refused, "much": refused, "": refused, "NaN": refused}},
		{"count", "from 1 to 1000000", newCount, map[string]int64{
			"1": 1, "40": 40, "1000000": 1_000_000, "1000001": refused, "0": refused, "-1": refused, "1.5": refused, "18446744073709551615": refused, "": refused}},
		{"number", "from 0 to 1000000", newNumber, map[string]int64{
			"0": 0, "600": 600, "1000000": 1_000_000, "1000001": refused, "-1": refused, "0.5": refused, "18446744073709551615": refused, "4294967296": refused}},
	} {
		for text, want := range kind.values {
			v, got := kind.make()
			err := v.UnmarshalText([]byte(text))
			if want == refused {
				if err == nil || !strings.Contains(err.Error(), kind.advice) && !strings.Contains(err.Error(), "largest") || got() != 0 {
					t.Errorf("%s %.40q: %d, %v", kind.name, text, got(), err)
				}
			} else if err != nil || got() != want {
				t.Errorf("%s %q: %d instead of %d, %v", kind.name, text, got(), want, err)
			}
		}
	}
}

// The local user must belong to an organization, because an empty name would
// match the public routines of all others.
func TestLocalUserHasNames(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for _, args := range [][]string{{"mcp", "--organization", ""}, {"mcp", "--organization="}, {"list", "--user", ""}, {"token", "create", "--project", ""}} {
		if _, errs, code := r.run(args...); code != 2 || !strings.Contains(errs, "must not be empty") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

func TestAddressRange(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1/32", "10.1.2.3/8": "10.0.0.0/8", "::1": "::1/128", "fd00::/8": "fd00::/8", "::ffff:10.0.0.1": "10.0.0.1/32",
		"0.0.0.0/0": "", "::/0": "", "10.0.0.0/33": "", "::ffff:10.0.0.0/104": "", "proxy.example": "", "10.0.0": "", "10.0.0.1:80": "", "": "",
	} {
		var r addressRange
		err := r.UnmarshalText([]byte(text))
		if want != "" && (err != nil || netip.Prefix(r).String() != want) || want == "" && (err == nil || !strings.Contains(err.Error(), "10.0.0.0/8")) {
			t.Errorf("%q: %v, %v, want %s", text, netip.Prefix(r), err, want)
		}
	}
}
