package importer

import (
	"testing"

	"rote/routine/importer/chain"
)

// Functions of TypeScript become JavaScript, and those of JavaScript stay as they are.
func TestFunctionsWithoutTypes(t *testing.T) {
	for source, want := range map[string]string{
		"() => (document.querySelector('#a') as HTMLInputElement).value":           "() => (document.querySelector('#a')  ).value",
		"(el: HTMLElement, n?: number): string => el.textContent!.trim()":          "(el , n )  => el.textContent .trim()",
		"() => { const all: { a: string }[] = []; let x: A | B = f; return all; }": "() => { const all  = []; let x  = f; return all; }",
		"() => document.querySelector<HTMLElement>('#a')!.innerText":               "() => document.querySelector ('#a') .innerText",
		"els => els.map((e) => (e as any as HTMLAnchorElement).href)":              "els => els.map((e) => (e    ).href)",
		"({ a, b }: { a: string; b: number }) => a + b":                            "({ a, b } ) => a + b",
		"function (e: Element): void { e.click(); }":                               "function (e )  { e.click(); }",
		"() => ({ a: 1, b: x ? y : z, c: a !== b, d: !a, e: a < b })":              "() => ({ a: 1, b: x ? y : z, c: a !== b, d: !a, e: a < b })",
		"e => { switch (e) { case 1: return `a: ${e}`; default: return /a!./; } }": "e => { switch (e) { case 1: return `a: ${e}`; default: return /a!./; } }",
	} {
		if got := chain.WithoutTypes(source); got != want {
			t.Errorf("%s\nis   %s\nwant %s", source, got, want)
		}
	}
	wantWhole(t, "import { test } from '@playwright/test';\nconst wide = await page.evaluate(() => {\n const all: { w: number }[] = [];\n"+
		" document.querySelectorAll('*').forEach((el: Element) => { const he = el as HTMLElement; all.push({ w: he.scrollWidth }); });\n return all;\n});",
		`"session_storage_key":"wide"`)
}
