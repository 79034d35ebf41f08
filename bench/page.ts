import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../test/support/docs/browser.ts';
import { type Benchmark, type Comparison, type FigureComparison, interleaved } from './lib.ts';
import { withFolder } from './process.ts';

/** How a page is loaded, in a profile of its own, so that nothing is cached. */
interface LoadOptions {
  width: number;
  height: number;
  /** Round trip in milliseconds and bytes a second of the network; absent: loopback as it is. */
  network?: { latencyMs: number; bytesPerSecond: number };
}

/** What a reader sees and waits for. */
interface Load {
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

async function loadOnce(browser: Browser, url: string, { width, height, network }: LoadOptions): Promise<Load> {
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

const REPLAY_DAYS = 120;
const GOAL_MS = 1_000;
const CALL_GOAL_MS = 2_000;

const DESKTOP = { width: 1_440, height: 900 };
const PHONE = { width: 390, height: 844 };
const SLOW = { latencyMs: 150, bytesPerSecond: 200_000 };

/** The page of the demonstration beside a small answer, in a real browser with nothing in its cache. */
export const PAGE: Benchmark = {
  name: 'page',
  what: `the page with ${REPLAY_DAYS} replayed days: paint, words, bytes and layout shift, beside an answer of a few bytes from the same process`,
  async run({ rounds, report }): Promise<Comparison[]> {
    const path = findChromium();
    if (path === undefined) {
      report('  there is no Chromium here: nothing is measured');
      return [];
    }
    const browser = await launchChromium(path);
    try {
      return await withFolder(async (start) => {
        const { url } = await start({ REPLAY_DAYS: String(REPLAY_DAYS) });
        const sides = {
          desktop: () => loadOnce(browser, url, DESKTOP),
          phone: () => loadOnce(browser, url, PHONE),
          slow: () => loadOnce(browser, url, { ...DESKTOP, network: SLOW }),
          baseline: () => loadOnce(browser, `${url}/health`, DESKTOP),
          slowBaseline: () => loadOnce(browser, `${url}/health`, { ...DESKTOP, network: SLOW }),
        };
        return compareLoads(await interleaved(sides, { rounds, report }));
      });
    } finally {
      await browser.close();
    }
  },
};

type Loads = Readonly<Record<'desktop' | 'phone' | 'slow' | 'baseline' | 'slowBaseline', readonly Load[]>>;

function compareLoads({ desktop, phone, slow, baseline, slowBaseline }: Loads): Comparison[] {
  const paints = (loads: readonly Load[]) => loads.map(({ firstPaintMs }) => firstPaintMs);
  return [
    { kind: 'time', work: 'first paint', meaning: 'On loopback.', ours: paints(desktop), baseline: paints(baseline), goalMs: GOAL_MS },
    {
      kind: 'time',
      work: `the call painted at ${SLOW.latencyMs} ms and ${SLOW.bytesPerSecond / 1_000} kB/s`,
      meaning: 'The baseline is the first paint of the small answer.',
      ours: slow.map(({ callPaintedMs }) => callPaintedMs ?? Number.POSITIVE_INFINITY),
      baseline: paints(slowBaseline),
      goalMs: CALL_GOAL_MS,
    },
    figure('transferred, kB', 'Everything that the page loads, compressed, with headers.', 150, desktop, ({ bytes }) => bytes / 1_000),
    figure('words in the first fold, 1440x900', 'Text that is drawn before anything is scrolled.', 60, desktop, ({ words }) => words.fold),
    figure('words in the first fold, 390x844', 'The same on a phone.', 60, phone, ({ words }) => words.fold),
    figure('words of the page', 'Before a tab is opened.', 900, desktop, ({ words }) => words.page),
    figure('screens of 1440x900', 'Height of the document.', 4, desktop, ({ screens }) => screens, 1),
    figure(
      'layout shift',
      'Cumulative (CLS), of a desktop, a phone and the slow network.',
      0.05,
      [...desktop, ...phone, ...slow],
      ({ shift }) => shift,
      3,
    ),
  ];
}

function figure(
  what: string,
  meaning: string,
  goal: number,
  loads: readonly Load[],
  read: (load: Load) => number,
  digits = 0,
): FigureComparison {
  return { kind: 'figure', what, meaning, goal, digits, ours: loads.map(read) };
}
