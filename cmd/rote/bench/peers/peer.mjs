// Does the form task with one public tool for each line on standard input, and
// answers each with a line of JSON: {text} or {error}.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import puppeteer from 'puppeteer-core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [tool, engine, chromium, url, visitor, greeting] = process.argv.slice(2);
const root = process.getuid() === 0;
const modules = new URL('./node_modules/', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'rote-bench-peer-'));

// A script as one writes it by hand: a context of its own for each run.
async function script() {
  const browser = await puppeteer.launch({
    executablePath: chromium, headless: engine === 'shell' ? 'shell' : true, pipe: true, args: root ? ['--no-sandbox'] : [],
  });
  return {
    close: () => browser.close(),
    once: async () => {
      const context = await browser.createBrowserContext();
      try {
        const page = await context.newPage();
        await page.goto(url, { waitUntil: 'domcontentloaded' });
        await page.type('#q', visitor);
        await page.click('#go');
        await page.waitForFunction(() => location.search.includes('done=1'));
        return await page.$eval('#result', e => e.outerHTML);
      } finally {
        await context.close();
      }
    },
  };
}

// An MCP server as an agent uses it: each step is a call, and the elements are
// found in the page's outline.
async function server(args, steps) {
  const client = new Client({ name: 'rote-bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore', cwd: scratch }));
  const properties = new Map((await client.listTools()).tools.map(t => [t.name, t.inputSchema.properties ?? {}]));
  const call = async (name, parameters) => {
    const answer = await client.callTool({ name, arguments: parameters });
    const text = answer.content.map(c => c.text ?? '').join('\n');
    if (answer.isError) throw new Error(`${name}: ${text.slice(0, 500)}`);
    return text;
  };
  return { close: () => client.close(), once: () => steps(call, properties) };
}

const find = (outline, line, mark) => {
  const found = outline.split('\n').find(l => line.test(l))?.match(mark);
  if (!found) throw new Error(`no ${line} in:\n${outline.slice(0, 800)}`);
  return found[1];
};

const tools = {
  puppeteer: script,
  'playwright-mcp': () => server(
    [join(modules, '@playwright/mcp/cli.js'), '--headless', '--isolated', '--executable-path', chromium, '--output-dir', scratch, ...(root ? ['--no-sandbox'] : [])],
    async (call, properties) => {
      let outline = await call('browser_navigate', { url });
      if (!/\[ref=/.test(outline)) outline = await call('browser_snapshot', {});
      const key = properties.get('browser_click').target ? 'target' : 'ref';
      await call('browser_type', { element: 'Name', [key]: find(outline, /textbox/, /\[ref=(\w+)\]/), text: visitor });
      await call('browser_click', { element: 'Greet', [key]: find(outline, /button "Greet"/, /\[ref=(\w+)\]/) });
      await call('browser_wait_for', { text: greeting });
      return await call('browser_snapshot', {});
    }),
  'chrome-devtools-mcp': () => server(
    [join(modules, 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'), '--headless', '--isolated', '--executablePath', chromium,
      '--usageStatistics=false', '--performanceCrux=false', ...(root ? ['--chromeArg=--no-sandbox'] : [])],
    async (call, properties) => {
      pages ??= await call('list_pages', {}); // once
      const page = name => properties.get(name).pageId ? { pageId: +(pages.match(/^\s*(\d+):/m)?.[1] ?? 1) } : {};
      await call('navigate_page', { ...page('navigate_page'), type: 'url', url });
      const outline = await call('take_snapshot', page('take_snapshot'));
      await call('fill', { ...page('fill'), uid: find(outline, /textbox/, /uid=(\w+)/), value: visitor });
      await call('click', { ...page('click'), uid: find(outline, /button "Greet"/, /uid=(\w+)/) });
      const many = properties.get('wait_for').text?.type === 'array';
      return await call('wait_for', { ...page('wait_for'), text: many ? [greeting] : greeting });
    }),
};

let pages;
const started = await tools[tool]();
for await (const _ of createInterface({ input: process.stdin })) {
  let answer;
  try { answer = { text: await started.once() }; } catch (e) { answer = { error: String(e.stack ?? e) }; }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
await started.close();
rmSync(scratch, { recursive: true, force: true });
