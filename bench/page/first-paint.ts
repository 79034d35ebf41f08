import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../../test/support/docs/browser.ts';
import { type Benchmark, type Comparison, interleaved, median } from '../benchmark.ts';
import { startChild } from '../child.ts';
import type { ServiceAnswers } from '../service-process.ts';

const GOAL_MS = 1_000;

interface Load {
  /** From the navigation to the first pixels of content, milliseconds. */
  firstPaintMs: number;
  /** Compressed, of everything that was loaded. */
  bytes: number;
}

/** The page of the service beside an empty one, in a real browser with nothing in its cache. */
export const PAGE: Benchmark = {
  name: 'page',
  what: 'first paint of the page on loopback, beside an answer of a few bytes from the same process',
  async run({ rounds, report }): Promise<Comparison[]> {
    const path = findChromium();
    if (path === undefined) {
      report('  there is no Chromium here: nothing is measured');
      return [];
    }
    const service = await startChild<ServiceAnswers>('service-process.ts');
    const browser = await launchChromium(path);
    try {
      const url = await service.ask('url');
      const load = (page: string) => () => loadOnce(browser, `${url}${page}`);
      const { ours, baseline } = await interleaved({ ours: load('/'), baseline: load('/health') }, { rounds, report });
      report(`  the page with all that it asks for has ${median(ours.map(({ bytes }) => bytes / 1_000)).toFixed(0)} kB, compressed`);
      const times = (loads: readonly Load[]) => loads.map(({ firstPaintMs }) => firstPaintMs);
      const meaning = 'how long a visitor looks at nothing';
      return [{ kind: 'time', meaning, work: 'first paint', ours: times(ours), baseline: times(baseline), goalMs: GOAL_MS }];
    } finally {
      await browser.close();
      await service.ask('stop');
      await service.end();
    }
  },
};

/** Runs in the browser. */
const MEASURED = `(() => {
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const bytes = loaded.reduce((sum, { transferSize }) => sum + transferSize, 0);
  return { firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0].startTime, bytes };
})()`;

/** In a profile of its own, so that nothing is cached. */
async function loadOnce(browser: Browser, url: string): Promise<Load> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'networkidle' });
    return await page.evaluate<Load>(MEASURED);
  } finally {
    await context.close();
  }
}
