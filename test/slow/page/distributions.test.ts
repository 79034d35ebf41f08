import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuditReport, audit } from '../../../src/audit/audit.ts';
import { claimsOf, openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import type { ScorecardRow } from '../../../src/page/browser/responses.ts';
import { openRevealedDistributions } from '../../../src/record/distributions.ts';
import type { ForecastDistributions } from '../../../src/record/schemas/forecast.ts';
import { bundlePageChecks } from '../../page/checks/bundle.ts';
import type { PageInfo } from '../../page/checks/entry.ts';
import { describeWithBrowser, type OpenPage } from '../../support/docs/browser.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';
import {
  type DishonestService,
  FIRST_OF_CHECK,
  HONEST,
  PLANTED_DISTRIBUTIONS,
  type PlantedDistribution,
  startDishonestService,
} from '../../support/verify/planted-distributions.ts';

const DAYS = 6;
const firstDay = today() - DAYS;
const DATE = formatDay(firstDay + 2);

const isOfRow = ({ change }: PlantedDistribution) => change !== undefined;
/** The whole record is checked by the same code for all changes of a forecast: one of each check shows that it is asked. */
const OF_WHOLE_RECORD = PLANTED_DISTRIBUTIONS.filter((planted) => !isOfRow(planted) || FIRST_OF_CHECK.has(planted));

const ORIGIN = 'the service';
/** The differences as text without the address of the service, and without the last digits, in which engines differ. */
const withoutOrigin = (differences: AuditReport['differences'], url: string) =>
  JSON.stringify(differences, null, 1)
    .replaceAll(url, ORIGIN)
    .replace(/\d+\.\d{10,}/g, (digits) => Number(digits).toFixed(9));

describeWithBrowser('distributions in the browser', (browser) => {
  let service: TestService;
  let served: Served;
  let dishonest: DishonestService;
  beforeAll(async () => {
    service = await testService(DAYS);
    for (let day = firstDay; day < today(); day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    service.progress.complete();
    served = await serve(service);
    const [other] = await openRevealedDistributions(service.http, await service.pipeline.record.listByIds([`${DATE}:3d`]));
    dishonest = await startDishonestService(service, served.url, {
      predictionId: `${DATE}:2d`,
      other: other as ForecastDistributions,
    });
  });
  afterAll(async () => {
    await dishonest?.close();
    await served?.close();
    await service?.stop();
  });

  const getJson = async (path: string) => (await fetch(new URL(path, dishonest.url))).json();

  /** The page of the service, with the claims of the dishonest one. */
  async function open(init: (page: Page) => Promise<unknown> = async () => undefined): Promise<OpenPage> {
    const answer = async (route: Route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ json: await getJson(pathname + search) });
    };
    return browser.open(`${served.url}/?horizon=2`, {
      init: async (page) => {
        // Within five minutes of an attestation, at midnight, an audit with differences is repeated for half a minute.
        page.setDefaultTimeout(50_000);
        await page.route('**/api/svc/distributions*', answer);
        await page.route('**/api/svc/challenge', answer);
        await page.route('**/api/svc/scorecard?*', answer);
        await init(page);
      },
    });
  }

  const openWithChecks = async () => {
    const script = await bundlePageChecks();
    return open((page) => page.addInitScript({ content: script }));
  };

  /** The ids of the checks that fail in a check of the whole record. */
  async function checkEverything(page: OpenPage): Promise<string[]> {
    const section = page.locator('.check-record');
    await page.locator('#attestations').getByRole('link', { name: 'Check everything' }).click();
    await section.getByText('Download the report').waitFor();
    const text = (await section.locator('pre').textContent()) ?? '';
    return [...text.matchAll(/^ +\[(\w+)\] /gm)].map(([, check]) => check!);
  }

  /** The finding about the row of the day. */
  async function checkRow(page: OpenPage): Promise<string> {
    await page
      .locator('#record')
      .getByRole('button', { name: `Check ${DATE}` })
      .click();
    const finding = page.locator('#record .finding strong').first();
    await finding.waitFor();
    return finding.innerText();
  }

  it('pass in a row and in the whole record when they are honest', async () => {
    dishonest.planted = HONEST;
    const page = await open();
    expect(await checkRow(page)).toMatch(/^Verified: 23 of 26 checks agree$/);
    expect(await checkEverything(page)).toEqual([]);
    expect(page.problems()).toEqual([]);
  });

  it('are reported on the page by the id of the check, in a row and in the whole record', async () => {
    dishonest.planted = PLANTED_DISTRIBUTIONS.find(isOfRow)!;
    const { check } = dishonest.planted;
    const page = await open();
    expect(await checkRow(page)).toBe(`Does not match: ${check}`);
    expect(await checkEverything(page)).toContain(check);
    expect(page.problems()).toEqual([]);
  });

  it('are found by the check of their row for each planted change', async () => {
    const info = (await getJson('/api/svc/info')) as PageInfo;
    const { predictions } = (await getJson('/api/svc/scorecard?horizon=2&limit=20')) as { predictions: ScorecardRow[] };
    const page = await openWithChecks();
    const request = { info, horizon: 2, rows: predictions, date: DATE };
    for (const planted of PLANTED_DISTRIBUTIONS.filter(isOfRow)) {
      dishonest.planted = planted;
      const summary = await page.evaluate((of) => globalThis.pageChecks.checkRow(of), request);
      // What is not opened does not show the size of the move either.
      expect.soft(summary, planted.what).toMatch(new RegExp(`^Does not match: (?:move, )?${planted.check}$`));
    }
    expect(page.problems()).toEqual([]);
  });

  it('make the same differences in Chromium as in Node for planted changes of each check', async () => {
    const info = (await getJson('/api/svc/info')) as PageInfo;
    const chain = await openAuditChain({ rpcUrl: service.infrastructure.rpcUrl });
    const page = await openWithChecks();
    for (const planted of OF_WHOLE_RECORD) {
      dishonest.planted = planted;
      const now = new Date();
      const inChromium = await page.evaluate((of) => globalThis.pageChecks.checkRecord(of), {
        ...{ info, nowMs: now.getTime(), withClaims: true },
      });
      const claims = claimsOf(dishonest.url);
      const inNode = await audit({ chain, attester: service.http.wallets.attester.address, prices: null, claims, now });
      expect.soft(withoutOrigin(inChromium, served.url), planted.what).toBe(withoutOrigin(inNode.differences, dishonest.url));
      expect.soft(inChromium, planted.what).toContainEqual(expect.objectContaining({ check: planted.check }));
    }
    expect(page.problems()).toEqual([]);
  });
});
