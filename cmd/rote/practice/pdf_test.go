package practice

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestInvoice(t *testing.T) {
	ada := signedIn(t)
	for _, tc := range []struct {
		name        string
		visitor     *visitor
		path        string
		status      int
		contentType string
		want        string
	}{
		{"own order", ada, "/invoices/A-1001.pdf", 200, "application/pdf", "(Invoice A-1001) Tj"},
		{"another own order", ada, "/invoices/A-1000.pdf", 200, "application/pdf", "(Total: 22.00 EUR) Tj"},
		{"unknown order", ada, "/invoices/A-4711.pdf", 404, "text/html; charset=utf-8", "Page not found"},
		{"not a PDF", ada, "/invoices/A-1001", 404, "text/html; charset=utf-8", "Page not found"},
		{"stranger", visit(t, ada.base), "/invoices/A-1001.pdf", 401, "text/html; charset=utf-8", "Sign in first"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.visitor.get(tc.path)
			if got.status != tc.status || got.header.Get("Content-Type") != tc.contentType {
				t.Errorf("got %d %s, want %d %s", got.status, got.header.Get("Content-Type"), tc.status, tc.contentType)
			}
			if !strings.Contains(got.body, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got.body)
			}
		})
	}
}

// A reader starts at the end: startxref names the table, the table names the
// byte of each object.
func TestInvoiceTableLeadsToItsObjects(t *testing.T) {
	file := signedIn(t).get("/invoices/A-1001.pdf").body
	if !strings.HasPrefix(file, "%PDF-1.4\n") || !strings.HasSuffix(file, "\n%%EOF\n") {
		t.Fatalf("no PDF frame around\n%s", file)
	}
	start := regexp.MustCompile(`startxref\n(\d+)\n%%EOF`).FindStringSubmatch(file)
	if start == nil {
		t.Fatalf("no startxref in\n%s", file)
	}
	table := file[atoi(t, start[1]):]
	if !strings.HasPrefix(table, "xref\n0 6\n0000000000 65535 f \n") {
		t.Fatalf("at startxref stands\n%s", table)
	}
	entries := regexp.MustCompile(`(\d{10}) 00000 n \n`).FindAllStringSubmatch(table, -1)
	if len(entries) != 5 {
		t.Fatalf("%d entries for 5 objects in\n%s", len(entries), table)
	}
	for i, entry := range entries {
		if object := file[atoi(t, entry[1]):]; !strings.HasPrefix(object, strconv.Itoa(i+1)+" 0 obj\n") {
			t.Errorf("entry %d leads to %.30q", i+1, object)
		}
	}
}

func TestInvoiceStreamHasItsDeclaredLength(t *testing.T) {
	found := regexp.MustCompile(`(?s)/Length (\d+) >>\nstream\n(.*)\nendstream`).FindSubmatch(invoicePDF(orders()[0]))
	if found == nil {
		t.Fatal("no stream")
	}
	if declared := atoi(t, string(found[1])); declared != len(found[2]) {
		t.Errorf("declared %d bytes, has %d", declared, len(found[2]))
	}
}

func TestInvoiceTextIsEscaped(t *testing.T) {
	got := string(invoicePDF(order{ID: `A(1)\`}))
	if want := `(Invoice A\(1\)\\) Tj`; !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

func atoi(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
