package practice

import (
	"bytes"
	"fmt"
	"strings"
)

// invoicePDF returns the invoice of an order.
func invoicePDF(o order) []byte {
	return PDF("Invoice "+o.ID, []string{
		"Corner Shop, 1 Loopback Lane",
		"Customer: Ada Lovelace",
		"Date: " + o.Placed,
		"Items: " + o.Items,
		"Total: " + o.Total.String() + " " + o.Currency,
	})
}

// PDF returns a file with one A4 page of ASCII text in a standard font: a heading and
// lines.
func PDF(heading string, lines []string) []byte {
	content := pageContent(heading, lines)
	return assemblePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] " +
			"/Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
	})
}

// pageContent returns the drawing commands for a heading and lines of ASCII
// text, from the top of the page.
func pageContent(heading string, lines []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BT\n/F1 24 Tf\n72 760 Td\n(%s) Tj\n/F1 12 Tf\n0 -40 Td\n20 TL\n", escapePDF(heading))
	for _, line := range lines {
		fmt.Fprintf(&b, "(%s) Tj T*\n", escapePDF(line))
	}
	b.WriteString("ET")
	return b.String()
}

// escapePDF escapes text for a PDF literal string.
func escapePDF(text string) string {
	return strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(text)
}

// assemblePDF numbers the objects from 1, the first of which is the catalog,
// and appends the table with the byte offset of each.
func assemblePDF(objects []string) []byte {
	var b bytes.Buffer
	// The comment's bytes above 127 mark the file as binary for transfer programs.
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}

	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.Bytes()
}
