using Microsoft.Playwright;
using Microsoft.Playwright.NUnit;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

[Parallelizable(ParallelScope.Self)]
[TestFixture]
public class Tests : PageTest
{
    [Test]
    public async Task BuysALamp()
    {
        await Page.GotoAsync("https://shop.example/");
        await Page.GetByRole(AriaRole.Button, new() { Name = "Accept all" }).ClickAsync();
        await Page.GetByRole(AriaRole.Textbox, new() { Name = "Search", Exact = true }).FillAsync("lamp");
        await Page.Locator("#search").PressAsync("Enter");
        await Page.GetByRole(AriaRole.Link, new() { NameRegex = new Regex("desk lamp", RegexOptions.IgnoreCase) }).ClickAsync();
        var page1 = await Page.RunAndWaitForPopupAsync(async () =>
        {
            await Page.GetByText("Data sheet").ClickAsync();
        });
        await page1.GetByText("Close").ClickAsync();
        await Page.GetByLabel("Pieces").SelectOptionAsync(new[] { "2" });
        await Page.GetByLabel("Password").FillAsync(@"planted-Secret");
        await Expect(Page.GetByText("In your basket")).ToBeVisibleAsync();
        await Expect(Page).ToHaveURLAsync(new Regex(".*basket"));
        await Expect(Page.Locator("#total")).Not.ToHaveTextAsync("0.00");
        var total = await Page.Locator("#total").InnerTextAsync();
    }
}
