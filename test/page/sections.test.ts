import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WagerAccountRow, WagerRow, WagersReply } from '../../src/http/routes/prediction-markets.ts';
import { describeWithBrowser } from '../support/docs/browser.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { type TestService, testService } from '../support/service/service.ts';
import answers from './fixtures/answers.json' with { type: 'json' };
import { openAllTabs, openTab } from './layout.ts';

const exampleOf = (operation: keyof typeof answers) => answers[operation] as unknown as Record<string, never>;

const ACCOUNT: WagerAccountRow = {
  ...{ venue: 'paper', asset: 'PAPER-USD', quotesAreOurs: true, wins: 1, losses: 1, voids: 0, open: 0, skipped: 1 },
  ...{ stakedMicros: 30_000_000, returnedMicros: 24_500_000, profitMicros: -5_500_000, openMicros: 0 },
  profitByDay: [
    { date: '2026-03-01', profitMicros: 4_500_000 },
    { date: '2026-03-03', profitMicros: -5_500_000 },
  ],
};

const WAGER: WagerRow = {
  ...{ date: '2026-03-03', venue: 'paper', asset: 'PAPER-USD', quotesAreOurs: true, state: 'LOSS', skippedBecause: null, replayed: true },
  ...{ marketId: 'paper:1', question: '<b>Will BTC/USD close above 100,000?</b>', strike: 100_000, expiresAt: '2026-03-06T00:00:00.000Z' },
  book: {
    bid: 0.45,
    ask: 0.47,
    fee: 0.01,
    at: '2026-03-03T21:42:00.000Z',
    bids: [{ price: 0.45, size: 120 }],
    asks: [{ price: 0.47, size: 80 }],
  },
  ...{ pModel: 0.57, qMarket: 0.46, pBelieved: 0.52, weight: 0.5, side: 'YES', basis: 'edge', contracts: 20.5 },
  ...{ costMicros: 10_000_000, payoutMicros: 0, profitMicros: -10_000_000, winner: 'NO' },
  ...{ placedAt: '2026-03-03T21:42:00.000Z', settledAt: '2026-03-06T06:00:00.000Z', feedbackTxHash: null },
};

const SKIPPED: WagerRow = {
  ...WAGER,
  date: '2026-03-02',
  state: 'SKIPPED',
  skippedBecause: 'the edge is too small',
  side: null,
  basis: null,
  contracts: 0,
  costMicros: 0,
  profitMicros: 0,
  payoutMicros: null,
};

const WAGERS: Pick<WagersReply, 'throughDate' | 'notes' | 'source' | 'timestamp' | 'success'> = {
  throughDate: '2026-03-03',
  notes: [],
  source: 'simulated (seed 2)',
  timestamp: '2026-03-11T00:00:00.000Z',
  success: true,
};

/** A year of a record whose calls beat always UP and whose distribution is too narrow. */
function seriesOf(days: number) {
  const estimate = (value: number | null, reach = 0.01) => ({
    value,
    low: value === null ? null : value - reach,
    high: value === null ? null : value + reach,
  });
  const values = {
    hitRate: estimate(0.6),
    alwaysUp: estimate(0.55),
    hitAdvantage: estimate(0.05),
    brierSkill: { value: 0.01, low: null, high: null },
    crpsSkill: estimate(0.005),
    coverage80: estimate(0.7),
  };
  const points = Array.from({ length: days }, (_, index) => ({
    date: new Date(Date.UTC(2026, 0, days - index)).toISOString().slice(0, 10),
    n: days - index,
    cumulative: values,
    rolling: values,
    evidence: [{ challenger: 'm1', against: 'm0-d1', eBetter: 2.5, eWorse: 0.4 }],
  }));
  return { success: true, horizon: '7d', rollingDays: 90, points, nextCursor: '2026-01-01' };
}

describeWithBrowser('sections of evidence', (browser) => {
  let service: TestService;
  let served: Served;
  beforeAll(async () => {
    service = await testService(0);
    service.progress.complete();
    served = await serve(service);
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  const answer = (page: Page, path: string, json: unknown) => page.route(`**${path}*`, (route) => route.fulfill({ json }));
  const open = (init: (page: Page) => Promise<unknown>) =>
    browser.open(served.url, {
      init: async (page) => {
        page.setDefaultTimeout(10_000);
        await init(page);
      },
    });

  it('show their data', async () => {
    const wagers: WagersReply = { ...WAGERS, accounts: [ACCOUNT], wagers: [WAGER, SKIPPED], count: 2, total: 2 };
    const feeds = exampleOf('getCacheStats') as unknown as { feeds: { stale: boolean; providers: unknown[] }[] };
    feeds.feeds[0] = { ...feeds.feeds[0], stale: true, providers: [{ provider: 'kraken', circuit: 'open' }] };
    const page = await open(async (opening) => {
      await answer(opening, '/api/svc/wagers', wagers);
      await answer(opening, '/api/svc/crowd-vs-oracle', exampleOf('getCrowdVsOracle'));
      await answer(opening, '/api/cache/stats', feeds);
      await answer(opening, '/api/svc/scorecard/series', seriesOf(120));
    });

    await openAllTabs(page);
    // The service of this test has no record, whose first day hides these sections.
    await page.evaluate(() => document.querySelector('.first-steps')?.remove());
    const wagered = page.locator('#wagers');
    await wagered.getByText('Paper money.').waitFor();
    await wagered.getByText('−5.50 PAPER-USD', { exact: true }).waitFor();
    await wagered.getByRole('img', { name: /^Profit of all settled wagers, paper\. −5\.50 PAPER-USD after 2 settled wagers/ }).waitFor();
    // Text of the venue is rendered as text, not as HTML.
    await wagered.getByText('<b>Will BTC/USD close above 100,000?</b>').first().waitFor();
    await wagered.getByText('the edge is too small (1)').waitFor();
    await wagered.getByText('0.45 / 0.47').first().click();
    await wagered.getByText('buy 120 at 0.450').first().waitFor();

    const crowd = page.locator('#crowd');
    await crowd.getByText('Not evidence.').waitFor();
    await crowd.getByRole('img', { name: /^Probabilities of the weekly question/ }).waitFor();

    const scores = page.locator('#scores');
    await scores.getByText('Skill of probabilities').click();
    await scores
      .getByRole('img', { name: /^Calls right, less always UP\. \+5 % so far: better than the reference\. Last 90 days: \+5 %\./ })
      .waitFor();
    await scores.getByRole('img', { name: /^Skill of P\(up\) .* too few days for an interval\./ }).waitFor();
    await scores.getByRole('img', { name: /^Skill of the distribution .* no measurable difference\./ }).waitFor();
    await scores.getByRole('img', { name: /^Outcomes within .* the band is too narrow\./ }).waitFor();
    expect(await scores.getByRole('link', { name: 'CSV' }).getAttribute('href')).toBe('api/svc/scorecard/series.csv?horizon=7&limit=1000');

    const data = page.locator('#feeds');
    await data
      .getByText(`${feeds.feeds.length - 1} of ${feeds.feeds.length} series are fresh; 1 with a failing provider, replaced by the next.`)
      .waitFor();
    await data.getByRole('row', { name: 'Bitcoin daily close ! stale' }).getByText('kraken (failing, paused)').waitFor();
    expect(page.problems()).toEqual([]);
  });

  it('show a replay note during a replay, and empty states only after it', async () => {
    const health = (await (await fetch(`${served.url}/health`)).json()) as object;
    let setup: object | null = { what: 'replaying days of history', done: 1, total: 12 };
    const page = await open((opening) => opening.route('**/health', (route) => route.fulfill({ json: { ...health, setup } })));
    await openTab(page, 'crowd');
    const [filling, nothing] = ['History is being replayed; this section fills automatically.', /^(Nothing|No) .* yet/];
    for (const section of ['scores', 'record', 'crowd']) {
      await page.locator(`#${section}`).getByText(filling).waitFor();
      expect(await page.locator(`#${section}`).getByText(nothing).isVisible(), section).toBe(false);
    }
    expect(await page.getByText('The first forecast').count()).toBe(0);
    setup = null;
    await page.locator('#today').getByText('The first forecast').first().waitFor();
    await page.locator('#crowd').getByText(nothing).waitFor();
    for (const section of ['scores', 'record', 'crowd'])
      expect(await page.locator(`#${section}`).getByText(filling).isVisible(), section).toBe(false);
  });

  it('show their empty states before the first forecast', async () => {
    const page = await open((opening) =>
      answer(opening, '/api/svc/wagers', { ...WAGERS, accounts: [], wagers: [], count: 0, total: 0 } satisfies WagersReply),
    );
    await openAllTabs(page);
    await page.locator('#today').getByText('The first forecast').first().waitFor();
    await page.locator('#wagers').getByText('No wagers up to 2026-03-03').waitFor();
    await page.locator('#crowd').getByText('No weekly question has been priced yet').waitFor();
    await page
      .locator('#feeds')
      .getByText(/^✓ \d+ of \d+ series are fresh\.$/)
      .waitFor();
    expect(page.problems()).toEqual([]);
  });
});
