const puppeteer = require('puppeteer');

(async () => {
  const browser = await puppeteer.launch();
  const page = await browser.newPage();
  await page.goto('http://127.0.0.1:8765/');
  await puppeteer.Locator.race([
    page.locator('::-p-aria(Product name)'),
    page.locator('#q'),
    page.locator('::-p-xpath(//*[@id="q"])'),
  ]).fill('lamp');
  await page.locator('::-p-aria(Search[role="button"])').click();
  await page.waitForSelector('#results[data-state="done"]');
  const names = await page.$$eval('#results .name', list => list.map(a => a.textContent));
  console.log(names);
  await browser.close();
})();
