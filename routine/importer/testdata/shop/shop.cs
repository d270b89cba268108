using Microsoft.Playwright;
using System.Threading.Tasks;

using var playwright = await Playwright.CreateAsync();
await using var browser = await playwright.Chromium.LaunchAsync();
var page = await browser.NewPageAsync();
await page.GotoAsync("http://127.0.0.1:8765/");
await page.Locator("#q").FillAsync("lamp");
await page.GetByRole(AriaRole.Search).GetByText("Search", new() { Exact = true }).ClickAsync();
await Assertions.Expect(page.GetByRole(AriaRole.Listitem).Nth(1)).ToBeVisibleAsync();
var names = await page.GetByRole(AriaRole.Listitem).Locator(".name").AllTextContentsAsync();
