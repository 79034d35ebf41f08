import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuditReport, audit, reportText } from '../../src/audit/audit.ts';
import { claimsOf, openAuditChain } from '../../src/cli/svc/audit-options.ts';
import { HORIZONS } from '../../src/forecast/model.ts';
import type { ScorecardReply } from '../../src/record/schemas/track-record.ts';
import { describeWithBrowser } from '../support/docs/browser.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../support/service/service.ts';
import { withNearNumbers } from '../support/verify/near-numbers.ts';

const DAYS = 9;
const CHECK = 'Check everything';
const CONTINUE = 'Continue to check everything';

type Answer = { id: number; result?: unknown };

describeWithBrowser('checking the whole record in the browser', (browser) => {
  let service: TestService;
  let served: Served;

  beforeAll(async () => {
    service = await testService(DAYS);
    const end = today();
    for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    service.progress.complete();
    served = await serve(service);
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  async function open(init: (page: Page) => Promise<unknown> = async () => undefined) {
    const page = await browser.open(`${served.url}/?horizon=2`, {
      init: async (opening) => {
        // Within five minutes of an attestation, at midnight, an audit with differences is repeated for half a minute.
        opening.setDefaultTimeout(50_000);
        await init(opening);
      },
    });
    const section = page.locator('.check-record');
    return {
      page,
      section,
      click: (name: string) =>
        page
          .locator('#attestations')
          .getByRole(name === CHECK ? 'link' : 'button', { name })
          .click(),
    };
  }

  /** The report that the page offers for download. */
  async function download(page: Page): Promise<AuditReport> {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByText('Download the report').click()]);
    expect(file.suggestedFilename()).toMatch(/^audit-84532-\d{4}-\d\d-\d\d\.json$/);
    return JSON.parse(await readFile(await file.path(), 'utf8'));
  }

  /** Changes the answers of the endpoint. */
  const answering = (page: Page, change: (answer: Answer, call: { method: string; params: unknown[] }) => Answer) =>
    page.route('**/rpc', async (route: Route) => {
      const calls = route.request().postDataJSON();
      const answers = await (await route.fetch()).json();
      if (!Array.isArray(calls)) return route.fulfill({ json: change(answers, calls) });
      const changed = (answers as Answer[]).map((answer) =>
        change(
          answer,
          calls.find(({ id }) => id === answer.id),
        ),
      );
      return route.fulfill({ json: changed });
    });

  it('finds the same as an audit in Node, and offers the same report for download', async () => {
    const { page, section, click } = await open();
    await click(CHECK);
    await section.getByText(/^[\d,]+ checks agree\.$/).waitFor();
    const { auditedAt: _, throughBlock: __, ...found } = await download(page);
    const { rpcUrl } = service.infrastructure;
    const attester = service.http.wallets.attester.address;
    const options = { chain: await openAuditChain({ rpcUrl }), attester, prices: null, claims: claimsOf(served.url), now: new Date() };
    const { auditedAt: ___, throughBlock: ____, ...expected } = JSON.parse(JSON.stringify(await audit(options))) as AuditReport;
    expect(found).toEqual(withNearNumbers(expected));
    expect(found).toMatchObject({ verdict: 'agrees', prices: null, service: served.url, differences: [], incomplete: [] });
    expect(found.horizons.map(({ forecasts }) => forecasts)).toEqual(HORIZONS.map(() => DAYS));
    await section.locator('summary').click();
    expect(await section.locator('pre').innerText()).toMatch(/AGREES: [\d,]+ checks agree\./);
    expect(page.problems()).toEqual([]);
  });

  it('waits for the chain of the record, also where the page asks for it again after the click', async () => {
    const [clicked, asked, answered] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    let requests = 0;
    const { section, click } = await open(async (opening) => {
      await opening.route('**/health', async (route) => {
        await clicked!.promise;
        await route.continue();
      });
      await opening.route('**/api/svc/info', async (route) => {
        requests++;
        const isFirst = requests === 1;
        // The first is answered once the second is under way, which takes its place.
        if (!isFirst) asked!.resolve();
        await (isFirst ? asked : answered)!.promise;
        await route.fulfill({ response: await route.fetch() });
        answered!.resolve();
      });
    });
    await click(CHECK);
    clicked!.resolve();
    await section.getByText(/^[\d,]+ checks agree\.$/).waitFor();
    expect(requests).toBeGreaterThan(1);
  });

  it('stops on a second click, and continues with what was read', async () => {
    let held = true;
    const asked: string[] = [];
    const { page, section, click } = await open((opening) =>
      opening.route('**/rpc', async (route) => {
        const body = route.request().postData() ?? '';
        asked.push(body);
        // Resolutions are read after predictions.
        if (held && asked.filter((text) => text.includes('eth_getLogs')).length > 1) return;
        await route.continue();
      }),
    );
    await click(CHECK);
    await section.getByText(/^reading predictions: \d+ of \d+$/).waitFor();
    await click('Stop');
    await section.getByText(`Stopped: ${DAYS * HORIZONS.length} attestations were read`).waitFor();
    expect(await section.locator('progress').isVisible()).toBe(false);
    held = false;
    asked.length = 0;
    await click(CONTINUE);
    await section.getByText(/checks agree\.$/).waitFor();
    const report = await download(page);
    expect(report.verdict).toBe('agrees');
    const read = asked.join().match(/a3112a64/g)?.length ?? 0;
    expect(read).toBe(report.checks.find(({ check }) => check === 'found')!.passed - DAYS * HORIZONS.length);
    expect(await section.getByRole('button').count()).toBe(0);
    expect(page.problems()).toEqual([]);
  });

  it('names what differs by the id of the check, with the text of the terminal', async () => {
    const { page, section, click } = await open((opening) =>
      opening.route('**/api/svc/scorecard*', async (route) => {
        const reply = (await (await route.fetch()).json()) as ScorecardReply;
        const predictions = reply.predictions.map((row) => (row.status === 'LOSS' ? { ...row, status: 'WIN' as const } : row));
        await route.fulfill({ json: { ...reply, predictions } });
      }),
    );
    await click(CHECK);
    await section.getByText(/^\d+ of [\d,]+ checks FAIL \(row\)\.$/).waitFor();
    const report = await download(page);
    expect(await section.locator('pre').textContent()).toBe(reportText(report));
    expect(new Set(report.differences.map(({ check, field }) => `${check} ${field}`))).toEqual(new Set(['row status']));
    await page.setViewportSize({ width: 320, height: 640 });
    const tooWide = () =>
      [...document.querySelectorAll('.check-record *')].filter((one) => one.getBoundingClientRect().right > innerWidth).length;
    expect(await page.evaluate(tooWide)).toBe(0);
    expect(page.problems()).toEqual([]);
  });

  const isAttestation = ({ result }: Answer) => typeof result === 'string' && result.length > 500;
  it.each<[string, (answer: Answer, call: { method: string }) => Answer, RegExp]>([
    [
      'changes an attestation',
      (answer) =>
        isAttestation(answer)
          ? { ...answer, result: `${String(answer.result).slice(0, -66)}01${String(answer.result).slice(-64)}` }
          : answer,
      /checks FAIL \(.*uid/,
    ],
    [
      'omits events',
      (answer, { method }) => (method === 'eth_getLogs' ? { ...answer, result: [] } : answer),
      /checks could not be made, none fails/,
    ],
    [
      'answers events with text',
      (answer, { method }) => (method === 'eth_getLogs' ? { ...answer, result: 'none' } : answer),
      /^Could not be checked: /,
    ],
    [
      'cuts attestations short',
      (answer) => (isAttestation(answer) ? { ...answer, result: '0x12' } : answer),
      /^Could not be checked: Data size/,
    ],
    [
      'is of another chain',
      (answer) => ({ ...answer, result: '0x1' }),
      /^Could not be checked: .* is of chain 1, the record is on chain 84532/,
    ],
    [
      'gives every block one time',
      (answer, { method }) =>
        method === 'eth_getLogs'
          ? { ...answer, result: (answer.result as object[]).map((log) => ({ ...log, blockTimestamp: '0x1' })) }
          : answer,
      /checks FAIL \(.*blockTime/,
    ],
    [
      'names no times in its events, and gives another block than the one asked for',
      (answer, { method }) => {
        if (method === 'eth_getBlockByNumber') return { ...answer, result: { number: '0x1', timestamp: '0x1' } };
        if (method !== 'eth_getLogs') return answer;
        return { ...answer, result: (answer.result as object[]).map((log) => ({ ...log, blockTimestamp: '0x0' })) };
      },
      /^Could not be checked: .*does not return block/,
    ],
  ])('is no pass when the endpoint %s', async (_, change, expected) => {
    const { page, section, click } = await open((opening) => answering(opening, change));
    await click(CHECK);
    await section.getByText(expected).first().waitFor();
    expect(await section.getByText(/checks agree/).count()).toBe(0);
    expect(page.problems()).toEqual([]);
  });

  it('is no pass when the endpoint stalls or cannot be reached', async () => {
    const { page, section, click } = await open(async (opening) => {
      // The reads of the service have the same limit, and keep it: only a signal joined with another is of the endpoint.
      await opening.addInitScript(() => {
        const { any } = AbortSignal;
        const limits = new Map<AbortSignal, AbortController>();
        AbortSignal.timeout = () => {
          const limit = new AbortController();
          limits.set(limit.signal, limit);
          return limit.signal;
        };
        AbortSignal.any = (signals) => {
          for (const signal of signals) setTimeout(() => limits.get(signal)?.abort(), 500);
          return any.call(AbortSignal, signals);
        };
      });
      await opening.route('**/rpc', () => {});
    });
    await click(CHECK);
    await section.getByText('Could not be checked: it does not answer within 20 s. 0 attestations were read').waitFor();
    await page.unroute('**/rpc');
    await page.route('**/rpc', (route) => route.abort());
    await click(CONTINUE);
    await section.getByText('Could not be checked: it cannot be reached from this browser').waitFor();
    await page.unroute('**/rpc');
    await page.route('**/api/svc/scorecard*', (route) => route.fulfill({ json: { summary: {}, predictions: [{ date: 7 }] } }));
    await click(CONTINUE);
    await section.getByText(/^Could not be checked: .* scorecard cannot be read: predictions\.0\.date/).waitFor();
    expect(page.problems().filter((text) => !text.includes('Failed to load resource'))).toEqual([]);
  });
});
