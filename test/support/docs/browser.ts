import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';

/** Where Debian, other distributions and macOS have it. */
const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** As root there is no sandbox; the rest keeps it from asking hosts of its maker. */
const SWITCHES = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export interface OpenOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'reducedMotion' | 'hasTouch'> {
  width?: number;
  height?: number;
  /** Prepares the page before anything is loaded: what it can call, what is answered to it. */
  init?(page: Page): Promise<void>;
}

/** A page of the browser, and what went wrong on it. */
export type OpenPage = Page & {
  /** Errors of the console and of scripts since it was opened. */
  problems(): readonly string[];
};

export interface TestBrowser {
  /** Opens an address in a profile of its own; it is closed after the test. */
  open(url: string, options?: OpenOptions): Promise<OpenPage>;
}

export function findChromium(): string | undefined {
  return PLACES.find((path) => path !== undefined && existsSync(path));
}

export async function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: SWITCHES });
}

const NEEDED = process.env.REQUIRE_CHROMIUM === '1';

/** Suites in a real Chromium; skipped with the reason in their name where there is none, unless `REQUIRE_CHROMIUM=1`. */
export function describeWithBrowser(name: string, body: (browser: TestBrowser) => void): void {
  const path = findChromium();
  if (path === undefined && !NEEDED) {
    describe.skip(name, () => it('needs Chromium: install it, or name it in CHROMIUM_PATH', () => {}));
    return;
  }
  describe(name, () => {
    let browser: Browser;
    const open = new Set<Page>();
    beforeAll(async () => {
      if (path === undefined) throw new Error('REQUIRE_CHROMIUM=1, and there is no Chromium; install it or set CHROMIUM_PATH');
      browser = await launchChromium(path);
    });
    afterEach(async () => {
      for (const page of open) await page.context().close();
      open.clear();
    });
    afterAll(() => browser?.close());
    body({
      open: async (url, options = {}) => {
        const page = await openPage(browser, options);
        open.add(page);
        await page.goto(url);
        return page;
      },
    });
  });
}

async function openPage(browser: Browser, { width = 1_200, height = 900, init, ...options }: OpenOptions): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(`${message.text()} (${message.location().url})`));
  page.on('pageerror', (error) => problems.push(String(error)));
  await init?.(page);
  return Object.assign(page, { problems: () => problems });
}
