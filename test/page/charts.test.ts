import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCORECARD, type ScorecardPageReply } from '../../src/record/schemas/track-record.ts';
import { describeWithBrowser, type OpenPage, type TestBrowser } from '../support/docs/browser.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { dateOf, oddRecords, yearOf } from '../support/record/odd-records.ts';
import { runPastDay, type TestService, testService, today } from '../support/service/service.ts';
import { openAllTabs } from './layout.ts';

const DAYS = 12;
const SECTIONS = ['accuracy', 'price', 'regimes', 'calibration'];

const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)}\u00a0%`;
const interval = ({ low, high }: { low: number; high: number }) => `${percent(low)} to ${percent(high)}`;
const usd = (value: number) => `$${Math.round(value).toLocaleString('en-US')}`;

describeWithBrowser('charts of the record', (browser) => {
  let service: TestService;
  let served: Served;
  /** The public record of two days. */
  let real: ScorecardPageReply;
  beforeAll(async () => {
    service = await testService(DAYS);
    for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    service.progress.complete();
    served = await serve(service);
    real = (await (await fetch(`${served.url}/api/svc/scorecard?horizon=2&limit=20`)).json()) as ScorecardPageReply;
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  const openReal = (width = 1_200) => opened(browser, `${served.url}/?horizon=2`, { width });
  const openWith = (answer: () => ScorecardPageReply, width = 1_200) =>
    opened(browser, `${served.url}/?horizon=2`, { width, answer: () => SCORECARD.parse(answer()) as ScorecardPageReply });

  it('every chart has an accessible name and a table with the figures of the API', async () => {
    const page = await openReal();
    for (const name of await page.locator(charts()).evaluateAll((all) => all.map((svg) => svg.getAttribute('aria-label') ?? '')))
      expect(name).toMatch(/^.{10,}\. .{20,}/);

    const byHorizon = await tableOf(page, 'Right calls by horizon');
    for (const [index, row] of real.byHorizon.entries()) {
      const [, wins, calls, , share, within] = byHorizon[index];
      expect([wins, calls]).toEqual([String(row.wins), String(row.resolved)]);
      expect([share, within]).toEqual(row.accuracy === null ? ['–', '–'] : [percent(row.accuracy), interval(row.accuracyInterval95!)]);
    }

    const over = real.predictions.filter(({ btcAtResolution }) => btcAtResolution !== null);
    const prices = new Map((await tableOf(page, 'BTC/USD at 00:00 UTC')).map(([day, ...cells]) => [day, cells]));
    for (const { resolvesAt, btcAtResolution, band80, date } of over) {
      const outcome = btcAtResolution! > band80!.high ? 'above' : btcAtResolution! < band80!.low ? 'below' : 'inside';
      const expected = [usd(btcAtResolution!), date, usd(band80!.low), usd(band80!.median), usd(band80!.high), `${outcome} the band`];
      expect(prices.get(dateOf(resolvesAt, -1))?.slice(0, 6)).toEqual(expected);
    }
    const inside = real.statistics.distribution!.coverage.find(({ nominal }) => nominal === 0.8)!.observed;
    await expectText(page, 'price', `inside the 80 % band on ${Math.round(inside * over.length)} of ${over.length} days`);

    const bins = await tableOf(page, 'Probability of UP');
    expect(bins.map(([, said, rose, within]) => [said, rose, within])).toEqual(
      real.statistics.probabilities!.reliability.map((bin) => [
        percent(bin.meanProbability),
        percent(bin.observedShare),
        interval(bin.interval95),
      ]),
    );
    const quantiles = await tableOf(page, 'Quantiles');
    expect(quantiles).toEqual(
      real.statistics.distribution!.quantiles.map(({ level, observed, interval95 }) => [
        percent(level, 0),
        percent(observed),
        interval(interval95),
      ]),
    );
    expect(await oddities(page)).toEqual([]);
    expect(page.problems()).toEqual([]);
  });

  it('a year of data renders without overlapping labels or horizontal scrolling', async () => {
    const counts = { resolved: 300, wins: 159, accuracy: 0.53, dedupedTotal: 152, dedupedWins: 79, dedupedAccuracy: 79 / 152 };
    const intervals = { accuracyInterval95: { low: 0.451, high: 0.609 }, dedupedInterval95: { low: 0.441, high: 0.598 } };
    const year = { ...yearOf(real), summary: { ...real.summary, ...counts, ...intervals } };
    const page = await openWith(() => year);
    const facts = await page.locator('#accuracy .record-facts > div').evaluateAll((all) => all.map((fact) => fact.textContent));
    expect(facts.slice(0, 2)).toEqual([
      `Accuracy, all calls${percent(0.53)}159 of 30095\u00a0% interval ${interval(intervals.accuracyInterval95)}`,
      `Accuracy, non-overlapping windows${percent(79 / 152)}79 of 15295\u00a0% interval ${interval(intervals.dedupedInterval95)}`,
    ]);
    for (const width of [1_200, 320]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForFunction((wide) => document.querySelector('#price .chart')!.getBoundingClientRect().width <= wide, width);
      for (const days of ['30', 'All']) {
        await chooseDays(page, days);
        expect(await crowded(page), `${width} px, ${days}`).toEqual([]);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    expect(await oddities(page)).toEqual([]);
    const runs = await tableOf(page, 'Market regime by day');
    const changes = year.predictions.filter(({ regime }, index, rows) => regime !== rows[index + 1]?.regime);
    expect(runs.map(([from, , , risk]) => [from, risk])).toEqual(changes.map(({ date, riskLevel }) => [date, riskLevel]));
    await expectText(page, 'regimes', `since ${changes[0].date}`);
  });

  it('values can be read by keyboard, pointer and touch, and nothing moves', async () => {
    const page = await opened(browser, `${served.url}/?horizon=2`, { hasTouch: true });
    await page.locator('#price').scrollIntoViewIfNeeded();
    await page.locator('#price .chart .fan').first().waitFor();
    const slider = page.getByRole('slider', { name: 'BTC/USD at 00:00 UTC: values' });
    const readout = page.locator('#price .readout');
    const closes = real.predictions.filter(({ btcAtSignal, provisional }) => btcAtSignal !== null && !provisional);
    await slider.focus();
    const { height } = (await readout.boundingBox())!;
    await page.keyboard.press('ArrowLeft');
    const said = await slider.getAttribute('aria-valuetext');
    expect(said).toContain(`${dateOf(closes[0].windowOpensAt, -2)}: ${usd(closes[1].btcAtSignal!)}`);
    expect(await readout.innerText()).toBe(said);
    expect(await page.locator('#price .chart .band').count()).toBe(1);
    await page.keyboard.press('End');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/, 7 days ahead: expected 80\s% range \$.* to /);

    const chart = page.locator('#price .canvas');
    await chart.hover({ position: { x: 60, y: 40 } });
    const first = dateOf(real.predictions.at(-1)!.windowOpensAt, -1);
    expect(await readout.innerText()).toContain(first);
    // The value is announced once the pointer rests.
    expect(await slider.getAttribute('aria-valuetext')).not.toContain(first);
    await page.mouse.move(0, 0);
    expect(await slider.getAttribute('aria-valuetext')).toContain(first);
    await chart.tap({ position: { x: (await chart.boundingBox())!.width - 20, y: 40 } });
    expect(await slider.inputValue()).toBe(await slider.getAttribute('max'));
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await slider.inputValue()).toBe('0');
    expect((await readout.boundingBox())!.height).toBe(height);
    expect(await page.locator('#price').getByRole('radio', { name: '30 days' }).isDisabled()).toBe(true);
  });

  it('all charts follow the chosen days, and new data keeps them, the open table and the focus', async () => {
    let answer = yearOf(real);
    const page = await opened(browser, `${served.url}/?horizon=2`, { answer: () => answer });
    const summary = page.locator('#price summary');
    await summary.click();
    await chooseDays(page, '30');
    expect(await page.locator('#regimes').getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    const rows = page.locator('#price tbody tr');
    expect(await rows.count()).toBe(12);
    await page.locator('#price').getByText('Show all', { exact: false }).click();
    expect(await rows.filter({ hasText: / the band/ }).count()).toBe(30);
    await summary.focus();
    answer = { ...answer, predictions: answer.predictions.slice(3) };
    const later = rows.filter({ hasText: dateOf(answer.predictions[0].resolvesAt) });
    await later.waitFor();
    await recordMoved(page);
    await later.waitFor({ state: 'detached' });
    expect(await page.locator('#price').getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    expect(await page.locator('#price details').getAttribute('open')).not.toBeNull();
    expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('shows text instead of an empty chart and no invalid figure', async () => {
    let answer = real;
    const page = await openWith(() => answer, 360);
    for (const [name, change, said] of oddRecords()) {
      answer = change(structuredClone(real));
      await recordMoved(page);
      const [[first, text]] = Object.entries(said);
      await page.locator(`#${first} .body`).filter({ hasText: text }).waitFor();
      for (const [section, words] of Object.entries(said)) await expectText(page, section, words, name);
      // Without scored calls, neither 0 % nor a streak is shown.
      const record = await page.locator('#accuracy .body').innerText();
      expect(record, name).not.toMatch(/0\s?% of 0|\b0 (right|wrong) in a row/);
      expect(await oddities(page), name).toEqual([]);
      expect(await crowded(page), name).toEqual([]);
    }
    expect(page.problems()).toEqual([]);
  });
});

interface OpenedOptions {
  width?: number;
  /** Replaces the scorecard, which `recordMoved` refreshes. */
  answer?: () => ScorecardPageReply;
  hasTouch?: boolean;
}

async function opened(browser: TestBrowser, url: string, { width = 1_200, answer, hasTouch }: OpenedOptions): Promise<OpenPage> {
  const page = await browser.open(url, {
    width,
    hasTouch,
    init: async (fresh) => {
      if (answer === undefined) return;
      let attestations = 0;
      await fresh.clock.install();
      await fresh.route('**/api/svc/scorecard*', (route) => route.fulfill({ json: answer() }));
      await fresh.route('**/api/svc/onchain-oracle/stats*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), totalAttestations: ++attestations } });
      });
    },
  });
  await openAllTabs(page);
  await drawn(page);
  return page;
}

/** Advances by a minute, after which the page polls and finds that the record has changed. */
async function recordMoved(page: OpenPage): Promise<void> {
  await page.clock.fastForward(80_000);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
}

/** Waits until each tested section has its chart or its empty state. */
async function drawn(page: OpenPage): Promise<void> {
  for (const section of SECTIONS) await page.locator(`#${section} .body :is(.chart, .empty)`).first().waitFor();
}

/** Charts of the tested sections. */
const charts = (inside = '') => SECTIONS.map((section) => `#${section} .chart ${inside}`).join(', ');

async function expectText(page: OpenPage, section: string, text: string | RegExp, name = section): Promise<void> {
  const shown = (await page.locator(`#${section} .body`).innerText()).replaceAll('\u00a0', ' ');
  if (typeof text === 'string') expect(shown, name).toContain(text);
  else expect(shown, name).toMatch(text);
}

/** Chooses a range of days by its visible label. */
async function chooseDays(page: OpenPage, label: string): Promise<void> {
  await page.locator('#price .ranges').getByText(label, { exact: true }).click();
}

/** Cells of the table of a figure, after opening it. */
async function tableOf(page: OpenPage, title: string): Promise<string[][]> {
  const figure = page.locator('figure').filter({ has: page.locator('figcaption strong', { hasText: title }) });
  await figure.locator('summary').click();
  await figure.locator('table').waitFor();
  const more = figure.getByText(/^Show all/);
  if (await more.isVisible()) await more.click();
  return figure.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
}

/** Attributes and texts of charts with invalid numbers. */
async function oddities(page: OpenPage): Promise<string[]> {
  return page
    .locator(`${charts()}, ${charts('*')}`)
    .evaluateAll((elements) =>
      elements.flatMap((element) =>
        [...[...element.attributes].map(({ name, value }) => `${name}=${value}`), element.textContent ?? ''].filter((text) =>
          /NaN|undefined|null|Infinity/.test(text),
        ),
      ),
    );
}

/** Chart labels that are cut off or overlap. */
async function crowded(page: OpenPage): Promise<string[]> {
  return page.locator(charts()).evaluateAll((svgs) =>
    svgs.flatMap((svg) => {
      const edge = svg.getBoundingClientRect();
      const labels = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
      const cut = labels.filter(
        ({ box }) => box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 || box.bottom > edge.bottom + 1,
      );
      const onEachOther = labels.flatMap(({ text, box }, index) =>
        labels
          .slice(index + 1)
          // Text boxes have some vertical padding.
          .filter(
            ({ box: other }) =>
              box.left < other.right && other.left < box.right && box.top < other.bottom - 3 && other.top < box.bottom - 3,
          )
          .map((other) => `${text} on ${other.text}`),
      );
      return [...cut.map(({ text }) => `${text} is cut off`), ...onEachOther];
    }),
  );
}
