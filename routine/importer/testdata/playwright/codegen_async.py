import asyncio
import os
import re
from playwright.async_api import async_playwright, expect

BASE = "https://shop.example"


async def main():
    async with async_playwright() as p:
        browser = await p.chromium.launch()
        page = await browser.new_page()
        await page.goto(f"{BASE}/login")
        await page.locator("#user").fill(os.environ["SHOP_USER"])
        await page.locator("#password").fill(os.environ["SHOP_PASSWORD"])
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url("**/account")
        await expect(page.get_by_text("Hello", exact=True)).to_be_visible()
        await expect(page.locator("#box")).not_to_be_checked()
        await page.get_by_role("row", name="A-1001").get_by_role("link").first.click()
        await page.locator("input").filter(has_text=re.compile("a+")).nth(0).fill("7")
        rows = await page.locator("td.total").all_text_contents()
        await browser.close()


asyncio.run(main())
