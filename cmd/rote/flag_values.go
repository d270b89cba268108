package main

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Limits of flag values. Values beyond them are rejected instead of clamped: a
// token that should be valid for 300 years is probably a typing error.
const (
	maxSize     = 1 << 40 // bytes
	maxCount    = 1_000_000
	maxDuration = 24 * time.Hour
	day         = 24 * time.Hour
	minDays     = time.Second
	maxDays     = 36500 * day // 100 years, which a time.Duration holds
)

// size is a number of bytes from 1 to maxSize, as in 4MiB or 500kB.
type size int64

func (s *size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n == 0 {
		return fmt.Errorf("%q is no size: write 4MiB or 500kB", text)
	}
	if n > maxSize {
		return fmt.Errorf("%q is too large: the largest size is %s", text, humanize.IBytes(maxSize))
	}
	*s = size(n)
	return nil
}

// count is an integer from 1 to maxCount. Its zero value means that the flag
// was not given.
type count int

func (c *count) UnmarshalText(text []byte) error {
	n, err := parseNumber(string(text), 1)
	*c = count(n)
	return err
}

// number is an integer from 0 to maxCount.
type number int

func (n *number) UnmarshalText(text []byte) error {
	v, err := parseNumber(string(text), 0)
	*n = number(v)
	return err
}

func parseNumber(text string, low int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > maxCount {
		return 0, fmt.Errorf("%q is no whole number from %d to %d", text, low, maxCount)
	}
	return n, nil
}

// duration is a duration over 0 and up to maxDuration, as in 45s.
type duration time.Duration

func (w *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 || v > maxDuration {
		return fmt.Errorf("%q is no time to wait up to %v: write 45s or 2m", text, maxDuration)
	}
	*w = duration(v)
	return nil
}

// addressRange is an address or a range of addresses, as in 10.0.0.1 or
// 10.0.0.0/8, but not the range of all addresses.
type addressRange netip.Prefix

func (r *addressRange) UnmarshalText(text []byte) error {
	prefix, err := netip.ParsePrefix(string(text))
	if address, noAddress := netip.ParseAddr(string(text)); noAddress == nil {
		prefix, err = address.Unmap().WithZone("").Prefix(address.Unmap().BitLen())
	}
	if err != nil || prefix.Addr().Is4In6() {
		return fmt.Errorf("%q is no address or range: write 10.0.0.1 or 10.0.0.0/8", text)
	}
	if prefix.Bits() == 0 {
		return fmt.Errorf("%q contains every address: write those of the proxies, as 10.0.0.1 or 10.0.0.0/8", text)
	}
	*r = addressRange(prefix.Masked())
	return nil
}

// days is a duration from minDays to maxDays, in the syntax of
// [time.ParseDuration] or as a number of days, as in 90d or 1.5d.
type days time.Duration

func (d *days) UnmarshalText(text []byte) error {
	v, err := parseDays(string(text))
	if err != nil || v < minDays || v > maxDays {
		return fmt.Errorf("%q is no duration from %v to %dd: write 90d or 12h", text, minDays, maxDays/day)
	}
	*d = days(v)
	return nil
}

// daysPattern matches a number of days. ParseFloat alone would accept "Infd"
// too.
var daysPattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?d$`)

// parseDays returns an error for an invalid duration and for one that does not
// fit in a time.Duration.
func parseDays(text string) (time.Duration, error) {
	if !daysPattern.MatchString(text) {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "d"), 64)
	if err != nil || n > maxDays.Hours()/24 { // checked before the product can overflow
		return 0, strconv.ErrRange
	}
	return time.Duration(n * float64(day)), nil
}
