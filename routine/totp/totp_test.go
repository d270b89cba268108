package totp

import (
	"encoding/base32"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The vectors of RFC 6238, appendix B.
func TestVectorsOfTheRFC(t *testing.T) {
	seeds := map[string]string{"SHA1": "12345678901234567890", "SHA256": "12345678901234567890123456789012",
		"SHA512": "1234567890123456789012345678901234567890123456789012345678901234"}
	for _, row := range []struct {
		seconds              int64
		sha1, sha256, sha512 string
	}{
		{59, "94287082", "46119246", "90693936"},
		{1111111109, "07081804", "68084774", "25091201"},
		{1111111111, "14050471", "67062674", "99943326"},
		{1234567890, "89005924", "91819424", "93441116"},
		{2000000000, "69279037", "90698825", "38618901"},
		{20000000000, "65353130", "77737706", "47863826"},
	} {
		for name, want := range map[string]string{"SHA1": row.sha1, "SHA256": row.sha256, "SHA512": row.sha512} {
			k, err := ParseKey(fmt.Sprintf("otpauth://totp/Shop:ann?secret=%s&issuer=Shop&algorithm=%s&digits=8&period=30",
				base32.StdEncoding.EncodeToString([]byte(seeds[name])), name))
			if err != nil {
				t.Fatal(err)
			}
			step, end := k.Step(time.Unix(row.seconds, 0))
			if got := k.Code(step); got != want {
				t.Errorf("%s at %d: %s, want %s", name, row.seconds, got, want)
			}
			if left := end.Unix() - row.seconds; left < 1 || left > 30 {
				t.Errorf("%s at %d: %d s are left", name, row.seconds, left)
			}
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, text := range []string{"JBSWY3DPEHPK3PXP", "jbsw y3dp ehpk 3pxp", "JBSW-Y3DP-EHPK-3PXP", " JBSWY3DPEHPK3PXP======\n",
		"otpauth://totp/Shop:ann@shop.example?secret=JBSWY3DPEHPK3PXP&issuer=Shop", "otpauth://totp/x?secret=jbsw%20y3dp%20ehpk%203pxp&algorithm=sha-1"} {
		k, err := ParseKey(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if want := "otpauth://totp/key?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30"; k.URI() != want {
			t.Errorf("%q: %s, want %s", text, k.URI(), want)
		}
		again, err := ParseKey(k.URI())
		if err != nil || again.Code(1) != k.Code(1) || len(k.Code(1)) != 6 {
			t.Errorf("%q: its URI is read as %v, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		"":         "is no key",
		"ABC":      "is no key",
		"01890189": "is no key",
		"otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1":          "HOTP",
		"https://totp/x?secret=JBSWY3DPEHPK3PXP":                      "is no otpauth URI",
		"otpauth://totp/x?issuer=Shop":                                "is no key",
		"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=5":           "digits",
		"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&period=0":           "period",
		"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=MD5":      "algorithm",
		"otpauth://totp/x?secret=%zz":                                 "query",
		"otpauth://totp/x?secret=" + strings.Repeat("JBSWY3DP", 1000): "is no key",
	} {
		if _, err := ParseKey(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "EHPK3PXP") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
