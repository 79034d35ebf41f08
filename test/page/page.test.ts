import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createStartupProgress } from '../../src/platform/startup/startup-progress.ts';
import { getPageBundle } from '../../src/transports/http/page/page-bundle.ts';
import { allRoutes } from '../../src/transports/http/routes.ts';
import { createApp, createStartingApp } from '../../src/transports/http/server/app.ts';
import { listen } from '../../src/transports/http/server/http-server.ts';
import { describeWithBrowser, type OpenPage } from '../support/docs/browser.ts';
import { type Served, serveApp } from '../support/http/serve.ts';
import { emptyService, fullService } from '../support/service/full-service.ts';
import type { TestService } from '../support/service/service.ts';
import { layoutsOf, openEverything } from './layout.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const appOf = ({ http, appOptions: door, adapters: doors }: TestService) => createApp(allRoutes(http), door, doors);

const SECTIONS = [
  ...["Today's call", 'Track record', 'Price and forecasts', 'Market regimes', 'Calibration and skill'],
  ...['Verify in your browser', 'Crowd against oracle', 'Wagers', 'Self-tests', 'Live events'],
  'Market data',
];

it('the page is one script and one style sheet, together below 150 kB compressed', () => {
  const files = [...getPageBundle().files];
  expect(files.map(([name]) => name.slice(name.indexOf('.'))).toSorted()).toEqual(['.css', '.js']);
  expect(files.reduce((sum, [, { content }]) => sum + gzipSync(content.bytes).length, 0)).toBeLessThan(150_000);
});

describeWithBrowser('with a record', (browser) => {
  let service: TestService;
  let served: Served & { port: number };
  beforeAll(async () => {
    service = await fullService();
    served = await serveApp(appOf(service), { sockets: service });
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  it.each([
    ['a desktop, light', { width: 1_280, colorScheme: 'light' }],
    ['a phone, dark', { width: 360, height: 740, colorScheme: 'dark' }],
  ] as const)('on %s: every section has something to show, nothing is wide, nothing fails', async (_, options) => {
    const page = await browser.open(served.url, options);
    await settled(page);
    for (const name of SECTIONS) {
      const section = page.getByRole('region', { name, exact: true });
      expect((await section.innerText()).length, name).toBeGreaterThan(name.length + 40);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(page.problems()).toEqual([]);
  });

  it('opening a table neither widens the page nor redraws a chart', async () => {
    const page = await browser.open(served.url, { width: 1_280, reducedMotion: 'reduce' });
    await settled(page);
    const closed = await layoutsOf(page);
    expect(Object.keys(closed[0].chartWidths).length).toBeGreaterThanOrEqual(6);
    expect(await openEverything(page)).toBeGreaterThan(6);
    expect(closed.flatMap(({ tooWide, overlaps }) => [tooWide, ...overlaps])).toEqual([0, 0, 0]);
    expect(await layoutsOf(page)).toEqual(closed.map((one) => ({ ...one, chartWidths: expect.objectContaining(one.chartWidths) })));
  });

  it('fragment links keep the state of the page and move the focus', async () => {
    const page = await browser.open(`${served.url}/?horizon=2`);
    await settled(page);
    await page.evaluate(() => document.body.setAttribute('data-same', 'yes'));
    await page.getByRole('link', { name: /^Skip to/ }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('today');
    await page.locator('#today a[href="#attestations"]').click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('attestations');
    expect(new URL(page.url())).toMatchObject({ search: '?horizon=2', hash: '#attestations' });
    await page
      .locator('#today')
      .getByRole('link', { name: /^Verify\s+the call of \d+ \w+ \d{4}$/ })
      .click();
    expect(await page.evaluate(() => document.activeElement?.id)).toMatch(/^row-\d{4}-\d\d-\d\d$/);
    expect(await page.locator('#today .today-last').innerText()).toMatch(
      /(BUY|SELL|HOLD, leaning) (UP|DOWN) at [\d.]+\s%, of .*(Right|Wrong|Hold)/s,
    );
    expect(await page.locator('body').getAttribute('data-same')).toBe('yes');
  });

  it('shows selection and progress in forced colours, too', async () => {
    const page = await browser.open(served.url);
    await settled(page);
    const { timestamp, windowOpensAt, resolvesAt } = (await (await fetch(`${served.url}/api/svc/open/signal`)).json()) as never;
    const [made, opens, ends] = [timestamp, windowOpensAt, resolvesAt].map((time) => Date.parse(time)) as [number, number, number];
    const share = (from: number, to: number) => Math.min(1, Math.max(0, (Date.now() - from) / (to - from)));
    const bar = page.locator('.window progress');
    expect(await bar.evaluate((one) => (one as HTMLProgressElement).position)).toBeCloseTo(
      (share(made, opens) + share(opens, ends)) / 2,
      2,
    );
    await page.emulateMedia({ forcedColors: 'active' });
    const background = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => getComputedStyle(one).backgroundColor);
    expect(await background('.horizon input:checked + span')).not.toBe(await background('.horizon input:not(:checked) + span'));
    expect(await background('.horizon input:checked + span')).not.toBe(await background('body'));
    for (const drawn of ['.seal', '.mark', 'progress'])
      expect(
        await page
          .locator(drawn)
          .first()
          .evaluate((one) => getComputedStyle(one).forcedColorAdjust),
        drawn,
      ).toBe('none');
  });

  it('replaces a section with an invalid response and renders the others', async () => {
    const page = await browser.open(served.url, {
      init: async (opened) => {
        await opened.route('**/api/svc/open/signal*', async (route) => {
          const call = await (await route.fetch()).json();
          await route.fulfill({ json: { ...call, signal: 'STRONG_BUY', direction: 'UP', confidence: 0.6, resolvesAt: 0 } });
        });
      },
    });
    await settled(page);
    await page.locator('#today').getByText('This part cannot be shown').first().waitFor();
    await page.locator('#today').getByText('Bitcoin now').waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(await page.locator('#record .body').innerText()).not.toBe('');
  });

  it('rejects HTML and scripts from text', async () => {
    const page = await browser.open(served.url);
    const assigned = await page.evaluate(() => {
      try {
        document.body.innerHTML = '<p></p>';
        return 'accepted';
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(assigned).toBe('TypeError');
    const policy = (await fetch(served.url, { headers: { accept: 'text/html' } })).headers.get('Content-Security-Policy');
    expect(policy).toContain("script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
  });

  it('sends requests to its own host only, within the anonymous rate limit', async () => {
    const asked: URL[] = [];
    const page = await browser.open(served.url, {
      init: async (opened) => void opened.on('request', (request) => asked.push(new URL(request.url()))),
    });
    await settled(page);
    expect(asked.filter(({ origin, protocol }) => origin !== served.url && protocol !== 'data:')).toEqual([]);
    expect(asked.filter(({ pathname }) => pathname.startsWith('/page/'))).toHaveLength(2);
    const counted = asked.filter(({ pathname }) => pathname.startsWith('/api/'));
    expect(counted.length).toBeLessThanOrEqual(15);
  });

  it('keeps its data while the service is offline and recovers', async () => {
    const page = await browser.open(served.url);
    await settled(page);
    const shown = await page.locator('#record .body').innerText();
    expect(await page.locator('#feeds').innerText()).toMatch(/As of \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    await served.close();
    await lookNow(page);
    const connection = page.getByRole('status').filter({ hasText: /offline|not answer|reach/i });
    await connection.first().waitFor({ timeout: 25_000 });
    expect(await page.locator('#record .body').innerText()).toBe(shown);
    served = await serveApp(appOf(service), { port: served.port, sockets: service });
    await lookNow(page);
    await connection.first().waitFor({ state: 'detached', timeout: 25_000 });
    const refused = page
      .problems()
      .filter((problem) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|WebSocket/.test(problem));
    expect(refused).toEqual([]);
  });
});

describeWithBrowser('before the first forecast', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    service = await emptyService();
  });
  afterAll(() => service?.stop());

  it('every section shows an empty state without invalid figures', async () => {
    const served = await serveApp(appOf(service), { sockets: service });
    try {
      const page = await browser.open(served.url);
      await settled(page);
      for (const name of SECTIONS)
        expect((await page.getByRole('region', { name, exact: true }).innerText()).length, name).toBeGreaterThan(name.length + 10);
      const text = await page.locator('body').innerText();
      expect(text).not.toMatch(/NaN|undefined|\[object|Infinity/);
      expect(await seriousFindings(page)).toEqual([]);
      expect(page.problems()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it('loads while the service starts, shows the progress and fills', async () => {
    const setup = createStartupProgress('starting the database');
    const log = createLog({ level: 'silent', secrets: [] });
    const server = await listen(createStartingApp({ log, publicUrl: 'http://127.0.0.1', setup }), 0, '127.0.0.1');
    try {
      const page = await browser.open(`http://127.0.0.1:${server.port}`);
      await page.getByText('starting the database').first().waitFor();
      setup.startStep('replaying days of history', { done: 3, total: 12 });
      const bar = page.getByRole('progressbar');
      await expect
        .poll(() => bar.evaluate((element) => (element as HTMLProgressElement).position), { timeout: 10_000 })
        .toBeCloseTo(3 / 12);
      setup.complete();
      server.serve(appOf(service));
      await bar.waitFor({ state: 'detached', timeout: 10_000 });
      await settled(page);
      expect(page.problems()).toEqual([]);
    } finally {
      await server.close();
    }
  });
});

/** As on a return to the page, it polls at once. */
async function lookNow(page: OpenPage): Promise<void> {
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
}

/** Waits until every initial request is done. */
async function settled(page: OpenPage): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}

/** Rules of WCAG 2.2 AA and best practices. */
async function seriousFindings(page: OpenPage): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    return axe.run();
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
