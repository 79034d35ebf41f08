import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { createDemoTokenCache } from '../../src/dev/demo.ts';
import { openView, serveAppHost } from '../conformance/mcp/app-host/app-host.ts';
import { findChromium, launchChromium } from '../support/docs/browser.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { MCP_CLIENTS } from '../support/mcp/mcp.ts';
import { startService } from '../support/service/running-service.ts';

/** `npm run docs:screenshots`: the pictures of the documents, of a service of its own with a year of record; takes about a minute. */
const PICTURES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const chromium = findChromium();
if (chromium === undefined) throw new Error('There is no Chromium here; install it or set CHROMIUM_PATH');
const folder = await mkdtemp(join(tmpdir(), 'oracle-screenshots-'));
const service = await startService({ DATA_DIR: join(folder, 'data'), REPLAY_DAYS: '365' });
const browser = await launchChromium(chromium);
try {
  await mkdir(PICTURES, { recursive: true });
  await takePage(browser);
  process.stdout.write('docs/images/page.png\n');
  await takeView(browser);
  process.stdout.write('docs/images/mcp-app.png\n');
} finally {
  await browser.close();
  service.child.kill('SIGTERM');
  await service.ended;
  await removeFolder(folder);
}

async function takePage(from: Browser): Promise<void> {
  const page = await from.newPage({ viewport: { width: 1_200, height: 1_000 }, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(service.url);
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('section:not([hidden]) .loading') === null);
  await page.screenshot({ path: join(PICTURES, 'page.png') });
  await page.close();
}

/** The forecast as a view in a host of MCP Apps. */
async function takeView(from: Browser): Promise<void> {
  const host = await serveAppHost();
  const token = await createDemoTokenCache({ wallet: 'basic', dataDir: join(folder, 'data'), url: service.url, now: Date.now }).getToken();
  const client = await MCP_CLIENTS['2026-07-28'](service.url, { Authorization: `Bearer ${token}` });
  const page = await from.newPage({ viewport: { width: 720, height: 900 } });
  await page.goto(host.url);
  const call = { name: 'predict_btc_direction', arguments: {} };
  const { view } = await openView(page, { client, call, sandboxUrl: host.sandboxUrl, hostContext: { theme: 'light' } });
  await view.waitForSelector('main .lead');
  // The size that the view reports arrives by messages.
  await page.waitForFunction(() => document.querySelector('iframe')!.offsetHeight > 200);
  await page.locator('iframe').screenshot({ path: join(PICTURES, 'mcp-app.png') });
  await page.close();
  await client.close();
  host.close();
}
