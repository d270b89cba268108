import puppeteer from 'puppeteer';

const browser = await puppeteer.launch({ headless: true });
try {
  const page = await browser.newPage();
  await page.setUserAgent('Mozilla/5.0');
  await page.goto('https://shop.example/search?q=lamp', { waitUntil: 'networkidle2' });
  await page.type('#user', 'ada');
  await page.type('#password', 'planted-Secret', { delay: 20 });
  await Promise.all([
    page.waitForNavigation(),
    page.click('button[type="submit"]'),
  ]);
  await page.waitForSelector('.product', { visible: true });
  const more = await page.$('button.more');
  await more.click();
  await page.select('select#sort', 'price');
  await page.locator('::-p-xpath(//button[contains(., "Next")])').click();
  const products = await page.$$eval('.product', (list) =>
    list.map((p) => ({ name: p.querySelector('h2').textContent, price: p.querySelector('.price').textContent })));
  console.log(JSON.stringify(products));
} finally {
  await browser.close();
}
