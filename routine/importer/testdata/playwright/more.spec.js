// @ts-check
const { test, expect } = require('@playwright/test');

async function login(page, user) {
  await page.fill('#user', user);
}

test('windows, dialogs and other things', async ({ page, request, context }) => {
  await context.addCookies([{ name: 'a', value: 'planted-Secret', url: 'https://shop.example' }]);
  await page.goto(`${process.env.BASE_URL}/catalog`);
  await login(page, process.env.SHOP_USER);
  await page.fill('input[name="q"]', process.env.QUERY || 'lamp')
  await page.click('text=Search')
  await page.waitForSelector('.results >> li:has-text("Floor")')
  await page.click('//div[contains(., "Floor") and @data-id]')
  await page.hover('.menu');
  await page.click('.menu li a[href="/lamps"]');
  page.once('dialog', dialog => dialog.accept());
  await page.getByRole('button', { name: 'Delete' }).click();
  const popupPromise = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Terms' }).click();
  const page1 = await popupPromise;
  await page1.getByRole('button', { name: 'Agree' }).click();
  await page.getByRole('textbox', { name: 'Note' }).pressSequentially('hello');
  await page.keyboard.press('Tab');
  await page.frameLocator('#pay').getByLabel('Card number').fill('4111 1111 1111 1111');
  for (const row of await page.locator('tr').all()) {
    await row.click();
  }
  await expect(page.locator('#a').or(page.getByText('Nothing found'))).toBeVisible();
  await page.getByRole('checkbox', { name: 'News' }).and(page.locator('.big')).uncheck();
  await page.mouse.wheel(0, 400);
  await page.mouse.move(10, 20);
  await page.locator('#file').setInputFiles('a.pdf');
  await page.goBack();
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`- heading "A"`);
  const answer = await request.post('https://shop.example/api/orders', { data: { item: 'lamp', pieces: 2, token: 'Zk3v9Q1mX8bT7rW2' } });
  const names = await page.$$eval('li.item', items => items.map(i => i.textContent));
  expect(names.length).toBe(3);
});
