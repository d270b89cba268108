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

// The bounds of flag values. A value beyond them is refused instead of being
// clamped: a token that should live for 300 years is a typing error.
const (
	maxSize  = 1 << 40 // bytes
	maxCount = 1_000_000
	maxWait  = 24 * time.Hour
	day      = 24 * time.Hour
	minDays  = time.Second
	maxDays  = 36500 * day // 100 years, which a time.Duration holds
)

// size is a number of bytes from 1 to maxSize, written as 4MiB or 500kB.
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

// count is a whole number from 1 to maxCount. Its zero value means that the
// flag was not given.
type count int

func (c *count) UnmarshalText(text []byte) error {
	n, err := parseNumber(string(text), 1)
	*c = count(n)
	return err
}

// number is a whole number from 0 to maxCount.
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

// wait is a duration over 0 and up to maxWait, written as 45s.
type wait time.Duration

func (w *wait) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 || v > maxWait {
		return fmt.Errorf("%q is no time to wait up to %v: write 45s or 2m", text, maxWait)
	}
	*w = wait(v)
	return nil
}

// addressRange is an address or a range of addresses, written as 10.0.0.1 or
// 10.0.0.0/8. It is never the range of all addresses.
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

// days is a duration from minDays to maxDays. It takes the notation of
// [time.ParseDuration], and a number of days as in 90d or 1.5d.
type days time.Duration

func (d *days) UnmarshalText(text []byte) error {
	v, err := parseDays(string(text))
	if err != nil || v < minDays || v > maxDays {
		return fmt.Errorf("%q is no duration from %v to %dd: write 90d or 12h", text, minDays, maxDays/day)
	}
	*d = days(v)
	return nil
}

// daysPattern is a number of days. ParseFloat alone would take "Infd" too.
var daysPattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?d$`)

// parseDays is an error for what is no duration, and for one that a
// time.Duration does not hold.
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
