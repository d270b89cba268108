import { test, expect } from '@playwright/test';

test('search the shop', async ({ page }) => {
  await page.goto('http://127.0.0.1:8765/');
  await page.getByRole('searchbox', { name: 'Product name' }).click();
  await page.getByRole('searchbox', { name: 'Product name' }).fill('lamp');
  await page.getByRole('button', { name: 'Search' }).click();
  await expect(page).toHaveURL(/[?&]q=lamp/);
  await expect(page.getByRole('status')).toContainText('products for');
  await expect(page.getByRole('listitem').filter({ hasText: 'Desk lamp' }).first()).toBeVisible();
  const names = await page.locator('#results .name').allTextContents();
  console.log(names);
});
