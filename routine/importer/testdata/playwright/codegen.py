import re
from playwright.sync_api import Playwright, sync_playwright, expect


def run(playwright: Playwright) -> None:
    browser = playwright.chromium.launch(headless=False)
    context = browser.new_context()
    page = context.new_page()
    page.goto("https://shop.example/")
    page.get_by_role("button", name="Accept all").click()
    page.get_by_placeholder("Search for a product").click()
    page.get_by_placeholder("Search for a product").fill("lamp")
    page.get_by_placeholder("Search for a product").press("Enter")
    page.get_by_role("link", name=re.compile(r"desk lamp", re.IGNORECASE)).click()
    with page.expect_popup() as page1_info:
        page.get_by_text("Data sheet").click()
    page1 = page1_info.value
    page1.get_by_role("button", name="Close", exact=True).click()
    page.get_by_label("Pieces").select_option("2")
    page.get_by_test_id("add").click()
    expect(page.get_by_role("alert")).to_contain_text("In your basket")
    expect(page).to_have_url("https://shop.example/basket")
    page.get_by_label("Password").fill("planted-Secret")
    page.locator("css=.total").nth(1).wait_for(state="visible", timeout=3000)
    page.wait_for_load_state("networkidle")
    total = page.locator("#total").inner_text()
    print(total)

    # ---------------------
    context.close()
    browser.close()


with sync_playwright() as playwright:
    run(playwright)
