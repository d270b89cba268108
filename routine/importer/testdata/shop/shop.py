import re
from playwright.sync_api import Page, expect


def test_search_the_shop(page: Page) -> None:
    page.goto("http://127.0.0.1:8765/")
    page.get_by_placeholder("lamp, mug").fill("lamp")
    page.get_by_placeholder("lamp, mug").press("Enter")
    page.wait_for_url(re.compile(r"[?&]q=lamp"))
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ products"))
    names = page.locator("#results").locator(".name").all_text_contents()
    print(names)
