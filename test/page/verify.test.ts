import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { zeroHash } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatDay, HOUR_MS } from '../../src/forecast/day.ts';
import { getWindowOpensMs } from '../../src/pipeline/forecaster.ts';
import type { ScorecardReply } from '../../src/record/schemas/track-record.ts';
import { login } from '../support/auth/login.ts';
import { REACHED } from '../support/clock/trusted-time.ts';
import { describeWithBrowser, type OpenPage } from '../support/docs/browser.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../support/service/service.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const DAYS = 9;
/** Days with resolved 2-day forecasts, oldest first. */
const RESOLVED = DAYS - 2;

/** A second 3-day prediction, as an attester would make to choose later which one to reveal. */
async function commitTwice({ infrastructure, pipeline }: TestService, day: number): Promise<void> {
  const opens = getWindowOpensMs(day);
  await infrastructure.localChain!.setNextBlockTime(opens - 3 * HOUR_MS);
  const window = { windowOpensAt: new Date(opens), resolvesAt: new Date(opens + 72 * HOUR_MS) };
  const place = { sequence: DAYS - 1, day, horizonDays: 3 as const, refUid: zeroHash, ...window };
  const digest = `0x${'dd'.repeat(32)}` as const;
  const second = { ...place, commitment: digest, inputsDigest: digest, metadata: digest };
  await pipeline.attester.attestPredictions('attest:twice', [second], REACHED);
}

type Row = ScorecardReply['predictions'][number];

describeWithBrowser('checking attestations in the browser', (browser) => {
  let service: TestService;
  let served: Served;
  // Midnight may pass during the test.
  const end = today();
  const resolved = (index = 1) => formatDay(end - DAYS + index);
  const gated = () => formatDay(end - 1);

  beforeAll(async () => {
    service = await testService(DAYS);
    for (let day = end - DAYS; day < end; day++) {
      if (day === end - 2) await commitTwice(service, day);
      await runPastDay(service, day);
    }
    await service.infrastructure.localChain!.followWallClock();
    service.progress.complete();
    served = await serve(service);
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  async function open(init: (page: Page) => Promise<unknown> = async () => undefined): Promise<OpenPage> {
    return browser.open(`${served.url}/?horizon=2`, {
      init: async (page) => {
        page.setDefaultTimeout(10_000);
        await init(page);
      },
    });
  }

  const findingOf = (page: Page, date: string) =>
    page.locator('#record tr:not(.below)', { hasText: date }).first().locator('xpath=following-sibling::tr[1]').locator('.finding strong');

  /** Checks all rows, each by its button. */
  async function checkRows(page: Page): Promise<void> {
    await page.locator('#record .check button').first().waitFor();
    for (const button of await page.locator('#record .check button').all()) await button.click();
    await expect
      .poll(() => page.locator('#record .finding strong').count(), { timeout: 30_000 })
      .toBe(await page.locator('#record .check button').count());
  }

  async function verdictOf(page: Page, date: string): Promise<string> {
    await page
      .locator('#record')
      .getByRole('button', { name: `Check ${date}` })
      .click();
    await findingOf(page, date).waitFor();
    return findingOf(page, date).innerText();
  }

  it('the page of a forecast checks it with one click and copies its link', async () => {
    const path = `f/${resolved()}/2d`;
    const page = await browser.open(`${served.url}/${path}`, {
      init: async (opened) => {
        await opened.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        // Chromium on some systems has a share sheet that no test can answer.
        await opened.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
      },
    });
    await page.getByRole('button', { name: 'Check this forecast' }).click();
    await page.getByText(/^Verified: 23 of 26 checks agree$/).waitFor();
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText('Link copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${served.url}/${path}`);
    await page.goto(`${served.url}/f/${gated()}/2d`);
    await page.getByRole('button', { name: 'Check this forecast' }).click();
    await page.getByText(/^Verified so far: 14 of 17 checks agree/).waitFor();
    for (const place of [`f/${gated()}/2d`, 'f']) {
      await page.goto(`${served.url}/${place}`);
      expect(await findViolations(page), place).toEqual([]);
    }
    expect(page.problems()).toEqual([]);
  });

  it('verifies resolved rows and leaves hidden values of others open', async () => {
    const page = await open();
    const section = page.locator('#record');
    await checkRows(page);
    expect(await page.locator('#record .finding.is-good').count()).toBe(DAYS);
    expect(await findingOf(page, resolved()).innerText()).toBe('Verified: 23 of 26 checks agree');
    expect(await findingOf(page, gated()).innerText()).toBe('Verified so far: 14 of 17 checks agree');
    await section.locator('summary', { hasText: 'left open' }).first().click();
    await section.getByText('Commitment: the values are hidden until the resolution').first().waitFor();
    expect(page.problems()).toEqual([]);
  });

  it('opens the commitment of an unresolved forecast for a caller with access', async () => {
    const { token, wallet, tier, expiresAt } = await login(service, 'basic');
    const session = JSON.stringify({ token, wallet, tier, expiresAt: expiresAt.toISOString() });
    const asked: (string | undefined)[] = [];
    const page = await open(async (opening) => {
      await opening.addInitScript((stored) => sessionStorage.setItem('oracle-session', stored), session);
      opening.on('request', (request) => request.url().endsWith('/rpc') && asked.push(request.headers().authorization));
    });
    expect(await verdictOf(page, gated())).toBe('Verified so far: 15 of 17 checks agree');
    await page.locator('#record summary', { hasText: 'left open' }).click();
    await page.getByText('Salt and values hash to the commitment').waitFor();
    // The endpoint receives no information about the reader.
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.every((header) => header === undefined)).toBe(true);
  });

  it('finds a second prediction for the same day and horizon that the service hides', async () => {
    const page = await browser.open(`${served.url}/?horizon=3`);
    expect(await verdictOf(page, gated())).toBe('Verified so far: 14 of 17 checks agree');
    const [twice, both] = [formatDay(end - 2), /The wallet made one prediction .* committed 2 times for one day and horizon/];
    expect(await verdictOf(page, twice)).toBe('Does not match: onePrediction');
    await page.locator('#record summary', { hasText: 'Does not match' }).click();
    await page.locator('#record').getByText(both).waitFor();
  });

  /** A changed value of a row, and the check that must find it. */
  const LIES: [change: (row: Row) => Partial<Row>, caughtBy: string][] = [
    [(row) => ({ direction: row.direction === 'UP' ? 'DOWN' : 'UP' }), 'row'],
    [(row) => ({ btcAtSignal: row.btcAtSignal! + 0.01 }), 'row'],
    [(row) => ({ pUp: row.pUp! + 0.00001 }), 'row'],
    [(row) => ({ status: row.status === 'WIN' ? 'LOSS' : 'WIN' }), 'row'],
    [(row) => ({ resolvesAt: row.windowOpensAt }), 'row'],
    [() => ({ resolutionUid: null }), 'row'],
    [() => ({ date: '2020-01-01' }), 'row'],
  ];

  type Change = (rows: readonly Row[]) => Row[];
  /** Rows of the service, newest first, with changes. */
  const telling = (change: Change) => (opening: Page) =>
    opening.route('**/api/svc/scorecard*', async (route) => {
      const reply = (await (await route.fetch()).json()) as ScorecardReply;
      await route.fulfill({ json: { ...reply, predictions: change(reply.predictions) } });
    });

  it('finds every value in which service and chain differ', async () => {
    expect(LIES).toHaveLength(RESOLVED);
    const lie: Change = (rows) =>
      rows
        .toReversed()
        .map((row, index) => ({ ...row, ...LIES[index]?.[0](row) }))
        .toReversed();
    const page = await open(telling(lie));
    await checkRows(page);
    expect(await page.locator('#record .finding.is-good').count()).toBe(2);
    for (const [index, [, caughtBy]] of LIES.entries()) {
      const date = index === LIES.length - 1 ? '2020-01-01' : resolved(index);
      const verdict = await findingOf(page, date).innerText();
      expect(verdict).toMatch(/^Does not match: /);
      expect(verdict).toContain(caughtBy);
    }
    expect(page.problems()).toEqual([]);
  });

  it('finds withheld outcomes and rows, and continues after a malformed row', async () => {
    const hidden: Partial<Row> = {
      ...{ status: 'PENDING', signal: 'GATED', direction: null, confidence: null, pUp: null, btcAtResolution: null, resolved: false },
      ...{ returnBps: null, resolvedAt: null, outcome: null, resolutionUid: null },
    };
    const page = await open(
      telling((rows) =>
        rows
          .filter(({ date }) => date !== resolved(2))
          .map((row) => (row.date === resolved(0) ? { ...row, ...hidden } : row))
          .map((row) => (row.date === resolved(5) ? { ...row, attestationUid: '0x12g4' } : row)),
      ),
    );
    await checkRows(page);
    expect(await findingOf(page, resolved(0)).innerText()).toMatch(/^Could not be checked: over at .* and not revealed/);
    expect(await findingOf(page, resolved(3)).innerText()).toBe('Does not match: shown');
    expect(await findingOf(page, resolved(5)).innerText()).toContain('found');
    expect(await findingOf(page, resolved(1)).innerText()).toMatch(/^Verified: /);
    await page.setViewportSize({ width: 320, height: 640 });
    const tooWide = () => [...document.querySelectorAll('#record *')].filter((one) => one.getBoundingClientRect().right > innerWidth);
    expect(await page.evaluate(tooWide)).toEqual([]);
    expect(page.problems()).toEqual([]);
  });

  const isAttestation = (result: string) => result.length > 200;
  /** `getAttestation` result for an unknown uid. */
  const NO_ATTESTATION = `0x${[0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x140, 0].map((word) => word.toString(16).padStart(64, '0')).join('')}`;
  const lastByteChanged = (result: string) => `${result.slice(0, -2)}${result.endsWith('00') ? '01' : '00'}`;

  /** Changes each result of the endpoint. */
  const answering = (page: Page, change: (result: string) => string) =>
    page.route('**/rpc', async (route: Route) => {
      const reply = (await (await route.fetch()).json()) as { result: string } | { result: string }[];
      const changed = (one: { result: string }) => ({ ...one, result: change(one.result) });
      await route.fulfill({ json: Array.isArray(reply) ? reply.map(changed) : changed(reply) });
    });

  it('distinguishes a changed attestation from an endpoint of another chain, an invalid or an unreachable one', async () => {
    const page = await open();
    const verdictWhen = async (change: (result: string) => string) => {
      await page.unroute('**/rpc');
      await answering(page, change);
      return verdictOf(page, resolved());
    };
    expect(await verdictWhen((result) => (isAttestation(result) ? lastByteChanged(result) : result))).toMatch(/^Does not match: .*uid/);
    expect(await verdictWhen((result) => (isAttestation(result) ? NO_ATTESTATION : result))).toBe('Does not match: found');
    expect(await verdictWhen((result) => (isAttestation(result) ? result : '0x1'))).toMatch(
      /^Could not be checked: .* is of chain 1, the record is on chain 84532$/,
    );
    expect(await verdictWhen((result) => (isAttestation(result) ? '0x12' : result))).toMatch(
      /^Could not be checked: Data size of 1 bytes is too small/,
    );
    expect(page.problems()).toEqual([]);
    await page.route('**/rpc', (route) => route.abort());
    expect(await verdictOf(page, resolved())).toBe('Could not be checked: it cannot be reached from this browser');
  });

  it('uses the endpoint of the reader and rejects an insecure one', async () => {
    const page = await open();
    await page.locator('#attestations summary', { hasText: 'RPC endpoint' }).click();
    const field = page.getByLabel('Read the chain from');
    expect(await field.inputValue()).toBe(`${served.url}/rpc`);
    await field.fill('http://rpc.example/');
    await page.getByRole('button', { name: 'Use' }).click();
    await page.getByText('The URL must begin with https://').waitFor();
    expect(await verdictOf(page, resolved())).toBe('Could not be checked: no usable RPC endpoint is entered');
    const asked: string[] = [];
    await page.route('https://rpc.example/', (route) => {
      asked.push(route.request().postData() ?? '');
      return route.abort();
    });
    await field.fill('https://rpc.example/');
    await page.getByRole('button', { name: 'Use' }).click();
    await page.getByText('JSON-RPC requests go to rpc.example').waitFor();
    expect(await verdictOf(page, resolved())).toMatch(/^Could not be checked: it cannot be reached/);
    // A batch, and a single call in case the endpoint takes no batches.
    expect(asked).toHaveLength(2);
    await page.reload();
    expect(await field.inputValue()).toBe('https://rpc.example/');
    await page.getByRole('button', { name: 'Default' }).click();
    expect(await verdictOf(page, resolved())).toMatch(/^Verified/);
  });
});

/** Rules of WCAG 2.2 AA and best practices that a page breaks. */
async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  });
}
