import { test, expect, type Page } from '@playwright/test';

const product = 'Desk lamp';

test.use({ baseURL: 'https://shop.example' });

test.describe('Checkout', () => {
  test.beforeEach(async ({ page }) => {
    await page.goto('/login');
    await page.getByLabel('E-mail').fill('ada@shop.example');
    await page.getByLabel('Password').fill('planted-Secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(/\/account$/);
  });

  test('buys a lamp', async ({ page }) => {
    await test.step('search', async () => {
      await page.getByPlaceholder('Search').fill(product);
      await page.getByPlaceholder('Search').press('Enter');
      await page.waitForURL('**/search?q=*');
    });
    const card = page.getByRole('listitem').filter({ hasText: product });
    await expect(card).toBeVisible({ timeout: 7000 });
    await card.getByRole('button', { name: /add to basket/i }).click();
    await expect(page.getByTestId('basket-count')).toHaveText('1');
    await page.getByRole('link', { name: 'Basket', exact: true }).click();
    await page.locator('#country').selectOption({ label: 'Norway' });
    await page.getByLabel('Gift wrap').check();
    await page.locator('tr', { has: page.getByText('Desk lamp') }).locator('input.pieces').fill('2');
    await page.getByText('Delivery').first().click();
    await page.locator('.slot').nth(2).click();
    await page.getByAltText('Visa').click({ button: 'right' });
    await page.getByTitle('Close', { exact: true }).dblclick();
    await page.waitForTimeout(500);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Thank');
    await expect(page.locator('.error')).not.toBeVisible();
    await expect(page.locator('.line')).toHaveCount(2);
    await expect.soft(page).toHaveTitle(/Order/);
    const total = await page.locator('#total').textContent();
    console.log(total);
  });

  test.afterEach(async ({ page }) => {
    await page.close();
  });
});
