import type { Browser, BrowserContext, Page } from 'playwright-core';

/** How a page is loaded, in a profile of its own, so that nothing is cached. */
export interface LoadOptions {
  width: number;
  height: number;
  /** Round trip in milliseconds and bytes a second of the network; absent: loopback as it is. */
  network?: { latencyMs: number; bytesPerSecond: number };
}

/** What a reader sees and waits for. */
export interface Load {
  /** From the navigation to the first pixels of content, milliseconds. */
  firstPaintMs: number;
  /** To the first frame that shows an amount in the section of the call, milliseconds; null: it never came. */
  callPaintedMs: number | null;
  /** Compressed, with headers, of everything that was loaded. */
  bytes: number;
  /** Cumulative layout shift. */
  shift: number;
  words: { fold: number; page: number };
  /** Height of the document in viewports. */
  screens: number;
}

/** Runs in the browser before anything is loaded. */
const OBSERVERS = `
window.seen = { shift: 0, callPaintedMs: null };
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.seen.shift += value;
}).observe({ type: 'layout-shift', buffered: true });
(function look() {
  if (/\\$[\\d,]{4}/.test(document.getElementById('today')?.innerText ?? '')) window.seen.callPaintedMs = performance.now();
  else requestAnimationFrame(look);
})();`;

/** Runs in the browser: words of the text that is drawn, in the first viewport and in all. */
const MEASURED = `(() => {
  const words = { fold: 0, page: 0 };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    if (!node.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { width, height, top, left, right } = range.getBoundingClientRect();
    const drawn = width > 1 && height > 1 && right > 0 && left < innerWidth && getComputedStyle(node.parentElement).clipPath === 'none';
    const count = drawn ? node.data.split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word)).length : 0;
    words.page += count;
    if (top < innerHeight) words.fold += count;
  }
  const firstPaintMs = performance.getEntriesByName('first-contentful-paint')[0].startTime;
  return { ...window.seen, firstPaintMs, words, screens: document.documentElement.scrollHeight / innerHeight };
})()`;

export async function loadOnce(browser: Browser, url: string, { width, height, network }: LoadOptions): Promise<Load> {
  const context = await browser.newContext({ viewport: { width, height } });
  try {
    const page = await context.newPage();
    await page.addInitScript(OBSERVERS);
    const countBytes = await observeNetwork(context, page, network);
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
    const measured = await page.evaluate<Omit<Load, 'bytes'>>(MEASURED);
    return { ...measured, bytes: countBytes() };
  } finally {
    await context.close();
  }
}

async function observeNetwork(context: BrowserContext, page: Page, network: LoadOptions['network']): Promise<() => number> {
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  if (network !== undefined) {
    const { latencyMs: latency, bytesPerSecond } = network;
    const throughput = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
    await session.send('Network.emulateNetworkConditions', { offline: false, latency, ...throughput });
  }
  return () => bytes;
}
