// Package totp makes one-time codes of keys, as RFC 6238 defines them.
package totp

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Key is the key of one-time codes with the settings of the codes.
type Key struct {
	secret    []byte
	algorithm string
	digits    int
	period    time.Duration
}

// Bounds and defaults of keys. RFC 4226 asks for 16 bytes at least; real sites also use 10.
const (
	minKeyBytes, maxKeyBytes = 5, 1024
	minDigits, maxDigits     = 6, 10
	minPeriod, maxPeriod     = 5, 300 // seconds
	defaultAlgorithm         = "SHA1"
)

var algorithms = map[string]func() hash.Hash{"SHA1": sha1.New, "SHA256": sha256.New, "SHA512": sha512.New}

// ParseKey reads an otpauth://totp/ URI, as QR codes have it, or the key alone in base32, in
// which spaces, dashes and the case of letters mean nothing. The error names the fault and
// never quotes the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	k := Key{algorithm: defaultAlgorithm, digits: minDigits, period: 30 * time.Second}
	encoded := text
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "otpauth" {
			return Key{}, errors.New("is no otpauth URI: give otpauth://totp/…?secret=…, or the key alone in base32")
		}
		if u.Host != "totp" {
			return Key{}, errors.New("is a key of counted codes (HOTP), which are not supported: give a key of time-based codes, otpauth://totp/…")
		}
		if encoded, err = k.readSettings(u.RawQuery); err != nil {
			return Key{}, err
		}
	}
	plain := strings.TrimRight(strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(encoded)), "=")
	var err error
	k.secret, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(plain)
	if err != nil || len(k.secret) < minKeyBytes || len(k.secret) > maxKeyBytes {
		return Key{}, errors.New("is no key of one-time codes: it has the letters A to Z and the digits 2 to 7, as in JBSW Y3DP EHPK 3PXP")
	}
	return k, nil
}

// readSettings reads the query of an otpauth URI and returns its secret.
func (k *Key) readSettings(query string) (secret string, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", errors.New("is no otpauth URI: its query cannot be read")
	}
	if name := values.Get("algorithm"); name != "" {
		k.algorithm = strings.ReplaceAll(strings.ToUpper(name), "-", "")
		if algorithms[k.algorithm] == nil {
			return "", errors.New("has an unknown algorithm: SHA1, SHA256 and SHA512 are supported")
		}
	}
	if text := values.Get("digits"); text != "" {
		if k.digits, err = strconv.Atoi(text); err != nil || k.digits < minDigits || k.digits > maxDigits {
			return "", fmt.Errorf("has a wrong number of digits: from %d to %d are supported", minDigits, maxDigits)
		}
	}
	if text := values.Get("period"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < minPeriod || seconds > maxPeriod {
			return "", fmt.Errorf("has a wrong period: from %d to %d seconds are supported", minPeriod, maxPeriod)
		}
		k.period = time.Duration(seconds) * time.Second
	}
	return values.Get("secret"), nil
}

// URI returns the key as an otpauth URI without the names of the account.
func (k Key) URI() string {
	return fmt.Sprintf("otpauth://totp/key?secret=%s&algorithm=%s&digits=%d&period=%d",
		base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(k.secret), k.algorithm, k.digits, int(k.period.Seconds()))
}

// Step returns the number of the time step of a time, and when the step ends.
func (k Key) Step(at time.Time) (step int64, end time.Time) {
	seconds := int64(k.period / time.Second)
	step = at.Unix() / seconds
	return step, time.Unix((step+1)*seconds, 0)
}

// Code returns the code of a time step.
func (k Key) Code(step int64) string {
	mac := hmac.New(algorithms[k.algorithm], k.secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash does not fail
	sum := mac.Sum(nil)
	// RFC 4226, section 5.3: 31 bits at the place that the last four bits name.
	at := sum[len(sum)-1] & 0xf
	number := int64(binary.BigEndian.Uint32(sum[at:at+4]) & 0x7fffffff)
	modulus := int64(1)
	for range k.digits {
		modulus *= 10
	}
	return fmt.Sprintf("%0*d", k.digits, number%modulus)
}
