import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DOCUMENT_PAGES, MAIN_DOCUMENTS } from '../../src/http/routes/documents.ts';
import { getPageBundle } from '../../src/http/routes/home.ts';
import { allRoutes } from '../../src/http/routes.ts';
import { createApp, createStartingApp, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/platform/log.ts';
import { createStartupProgress } from '../../src/platform/progress.ts';
import { describeWithBrowser, type OpenPage } from '../support/docs/browser.ts';
import { fetchOpenApi, operationsOf } from '../support/http/openapi.ts';
import { type Served, serveApp } from '../support/http/serve.ts';
import { emptyService, fullService } from '../support/service/full-service.ts';
import type { TestService } from '../support/service/service.ts';
import { findings, seriousFindings } from './axe.ts';
import { layoutsOf, openAllTabs, openEverything, openTab } from './layout.ts';

const appOf = ({ http, appOptions: door, adapters: doors }: TestService) => createApp(allRoutes(http), door, doors);

const SECTIONS = ["Today's forecast", 'Size of the move', 'Skill', 'Record', 'Check'];
const TABS = [
  ...['Price and forecasts', 'Market regimes', 'Accuracy by horizon and regime', 'Calibration and skill'],
  ...['Crowd against oracle', 'Wagers', 'Live events', 'Market data'],
];

it('the page is one script and one style sheet, together below 150 kB compressed', () => {
  const { files, names } = getPageBundle();
  const sizes = [names.script, names.style].map((name) => gzipSync(files.get(name)!.content.bytes).length);
  expect(sizes[0]! + sizes[1]!).toBeLessThan(150_000);
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
    ['a desktop, light', { width: 1_440, height: 900, colorScheme: 'light' }, 4],
    ['a phone, dark', { width: 390, height: 844, colorScheme: 'dark' }, 9],
  ] as const)(
    'on %s: few words on few screens, every section and tab has something to show, nothing is wide',
    async (_, options, screens) => {
      const page = await browser.open(served.url, options);
      await settled(page);
      expect((await page.locator('body').innerText()).split(/\s+/).length).toBeLessThan(900);
      expect(await page.evaluate(() => document.documentElement.scrollHeight / innerHeight)).toBeLessThan(screens);
      expect(await seriousFindings(page)).toEqual([]);
      const sheets = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g);
      expect(sheets?.length).toBeLessThanOrEqual(3);
      await openAllTabs(page);
      for (const name of [...SECTIONS, ...TABS]) {
        const section = page.getByRole('region', { name, exact: true });
        expect((await section.innerText()).length, name).toBeGreaterThan(name.length + 40);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      expect(page.problems()).toEqual([]);
    },
  );

  it('opening a table neither widens the page nor redraws a chart', async () => {
    const page = await browser.open(served.url, { width: 1_280, reducedMotion: 'reduce' });
    await openAllTabs(page);
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
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.locator('#today').getByText('Details', { exact: true }).click();
    await page.locator('#today-details a[href="#attestations"]').first().click();
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
    await page.goBack();
    expect(new URL(page.url()).hash).toBe('#attestations');
    expect(await page.locator('body').getAttribute('data-same')).toBe('yes');
  });

  it('an address opens its tab, or shows its row, and the place stays in view', async () => {
    const page = await browser.open(`${served.url}/?horizon=2#calibration`);
    await settled(page);
    const section = page.getByRole('region', { name: 'Calibration and skill', exact: true });
    const tab = page.getByRole('link', { name: 'Calibration', exact: true });
    expect(await tab.getAttribute('aria-expanded')).toBe('true');
    await expect.poll(async () => (await section.boundingBox())!.y).toBeLessThan(450);
    await tab.click();
    expect(await page.locator('#calibration').getAttribute('hidden')).toBe('until-found');
    const { predictions } = (await (await fetch(`${served.url}/api/svc/scorecard?horizon=2&limit=20`)).json()) as {
      predictions: { date: string }[];
    };
    const { date } = predictions[14]!;
    await page.goto(`${served.url}/?horizon=2&again#row-${date}`);
    const row = page.locator(`#row-${date}`);
    await row.waitFor();
    await expect.poll(async () => (await row.boundingBox())!.y).toBeLessThan(450);
    expect((await row.boundingBox())!.y).toBeGreaterThan(80);
  });

  it('says without its script that it has not run', async () => {
    const page = await browser.open(served.url, {
      init: async (opened) => void (await opened.route('**/page/*.js', (route) => route.abort())),
    });
    const note = page.getByText('The script of this page has not run');
    expect(await note.isVisible()).toBe(false);
    await page.evaluate(() => {
      for (const animation of document.getAnimations()) animation.finish();
    });
    await note.waitFor();
  });

  it.each([
    ['a desktop', { width: 1_440, height: 900 }],
    ['a phone', { width: 390, height: 844, colorScheme: 'dark' }],
  ] as const)('on %s the first screen is short, and the script keeps the nodes of the server and moves none', async (_, options) => {
    const page = await browser.open(served.url, {
      ...options,
      init: async (opened) => {
        await opened.addInitScript(() => {
          const seen = Object.assign(globalThis, { moved: 0 });
          document.addEventListener('readystatechange', () => {
            if (document.readyState !== 'interactive') return;
            for (const one of document.querySelectorAll('.first *')) one.classList.add('served');
          });
          new PerformanceObserver((list) => {
            const shifts = list.getEntries() as unknown as { value: number; sources: { node: Node | null }[] }[];
            for (const { value, sources } of shifts) {
              if (sources.some(({ node }) => node instanceof Element && node.closest('.first') !== null)) seen.moved += value;
            }
          }).observe({ type: 'layout-shift', buffered: true });
        });
      },
    });
    await settled(page);
    const first = page.locator('.first');
    expect((await first.innerText()).split(/\s+/).length).toBeLessThanOrEqual(110);
    expect(await first.locator('*:not(.served)').count()).toBe(0);
    expect((await first.boundingBox())!.height).toBeLessThanOrEqual(620);
    await page.getByRole('radio', { name: '2 days' }).check();
    await settled(page);
    expect(await page.evaluate(() => (globalThis as unknown as { moved: number }).moved)).toBeLessThanOrEqual(0.05);
    await first.getByRole('link', { name: 'Check everything' }).click();
    await page.locator('.check-record .finding').waitFor({ timeout: 60_000 });
  });

  it('sizes a position by the newest forecast, and says what it cannot use', async () => {
    const page = await browser.open(served.url);
    await settled(page);
    await page.locator('#size summary', { hasText: 'Position size' }).click();
    const result = page.locator('#size [role=status]');
    await page.getByLabel('Risk, % of the account').fill('1');
    const account = page.getByLabel('Account, USD');
    await account.fill('50');
    await result.getByText(/^Loses \$0\.50 at its stop; 7d forecast/).waitFor();
    const table = await result.getByRole('table').elementHandle();
    // The same result stays in place, as it would be read aloud again.
    await account.dispatchEvent('input');
    expect(await table!.evaluate((one) => one.isConnected)).toBe(true);
    for (const unusable of ['', '0', '1e13']) {
      await account.fill(unusable);
      await result.getByText(/above 0, the risk at most 100\s%, the account at most \$1,000,000,000,000\.$/).waitFor();
      expect(await result.getByRole('table').count()).toBe(0);
    }
    expect(page.problems()).toEqual([]);
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
    expect(await background('.fan-axis input:checked + span')).not.toBe(await background('.fan-axis input:not(:checked) + span'));
    expect(await background('.fan-axis input:checked + span')).not.toBe(await background('body'));
    for (const drawn of ['.seal', '.mark', 'progress'])
      expect(
        await page
          .locator(drawn)
          .first()
          .evaluate((one) => getComputedStyle(one).forcedColorAdjust),
        drawn,
      ).toBe('none');
  });

  it('names invalid and failing responses in their section and in the header, and renders the others', async () => {
    const page = await browser.open(served.url, {
      init: async (opened) => {
        await opened.route('**/api/svc/open/signal*', async (route) => {
          const call = await (await route.fetch()).json();
          await route.fulfill({ json: { ...call, signal: 'STRONG_BUY', direction: 'UP', confidence: 0.6, resolvesAt: 0 } });
        });
        await opened.route('**/api/svc/scorecard/series*', (route) => route.fulfill({ status: 500, body: '' }));
      },
    });
    await settled(page);
    await page.getByRole('radio', { name: '2 days' }).check();
    await page.locator('#today').getByText('This part cannot be shown').first().waitFor();
    expect(await page.locator('#today [data-part=fan] polygon').count()).toBe(3);
    await page.locator('#scores').getByText('The service answers with status 500.').waitFor();
    await page.getByText(/^Service has errors: 1 of \d requests fail$/).waitFor();
    expect(await page.locator('#record .body').innerText()).not.toBe('');
  });

  it('documents have no accessibility finding, and no width beyond that of a small phone', async () => {
    const page = await browser.open(served.url, { width: 320 });
    for (const [index, { path }] of DOCUMENT_PAGES.entries()) {
      await page.emulateMedia({ colorScheme: index % 2 === 0 ? 'light' : 'dark' });
      await page.goto(`${served.url}/${path}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBeLessThanOrEqual(0);
      if (MAIN_DOCUMENTS.some((main) => main.path === path)) expect(await findings(page), path).toEqual([]);
    }
    expect(page.problems()).toEqual([]);
  });

  it('the API reference filters operations, and draws a padlock where a token or a payment counts', async () => {
    const page = await browser.open(`${served.url}/docs`, { width: 390, colorScheme: 'dark' });
    const operations = page.locator('.opblock');
    const locked = operations.filter({ has: page.locator('.authorization__btn') });
    await page.locator('.opblock-tag').first().waitFor({ timeout: 90_000 });
    expect(await operations.count()).toBe(0);
    const published = operationsOf(await fetchOpenApi(served.url)).length;
    await page.getByRole('status').getByText(`${published} operations`, { exact: true }).waitFor();
    await page.locator('#reference-filter [name=tag]').selectOption('service');
    await page.locator('#reference-filter [name=text]').fill('openapi');
    await page.locator('#operations-service-getOpenApi').waitFor();
    expect(await operations.count()).toBe(await page.locator('.opblock[id^="operations-service-"]').count());
    expect(await locked.count()).toBe(0);
    await page.locator('#reference-filter [name=text]').fill('');
    await page.locator('#reference-filter [name=tag]').selectOption('');
    await page.locator('#reference-filter [name=access]').selectOption('premium');
    await page.locator('#operations-signal-getPremiumSignal').waitFor();
    expect(await locked.count()).toBe(await operations.count());
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.responses-table').waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs');
    // The whole row is a button around a link, and the list is a main landmark of its own: markup of Swagger UI.
    const own = (await findings(page)).filter((finding) => !/^(nested-interactive|aria-allowed-role): /.test(finding));
    expect(own).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(page.problems()).toEqual([]);
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
    expect(policy).toMatch(/script-src 'self' 'sha256-[^']+'; style-src 'self'/);
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
    expect(counted.length).toBeLessThanOrEqual(8);
    const count = counted.length;
    await openTab(page, 'wagers');
    await page.locator('#wagers').getByText('Published up to').waitFor();
    const added = asked.filter(({ pathname }) => pathname.startsWith('/api/')).slice(count);
    expect(added.map(({ pathname }) => pathname)).toEqual(['/api/svc/wagers']);
  });

  it('shows its card in a frame of another origin, whose link opens the dashboard with its scripts', async () => {
    const frame =
      `<iframe src="${served.url}/api/svc/widget?format=html&horizon=3d&size=large" width="480" height="360" ` +
      'sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>';
    const other = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${frame}`));
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    try {
      const page = await browser.open(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      await page
        .context()
        .route(`${service.http.publicUrl}/**`, (route) =>
          route.fulfill({ contentType: 'text/html', body: '<script>document.title = "script ran"</script>' }),
        );
      const card = page.frameLocator('iframe');
      await card.getByRole('heading', { name: 'Bitcoin, 3d' }).waitFor();
      await card.getByRole('table').waitFor();
      const [opened] = await Promise.all([page.waitForEvent('popup'), card.getByRole('link', { name: 'Full record' }).click()]);
      await expect.poll(() => opened.title()).toBe('script ran');
      expect(page.problems()).toEqual([]);
    } finally {
      other.close();
    }
  });

  it.each([
    ['small', 300, 64],
    ['medium', 360, 220],
    ['large', 480, 360],
  ] as const)('shows a %s card whole in %d x %d pixels', async (size, width, height) => {
    const page = await browser.open(`${served.url}/api/svc/widget?format=html&horizon=3d&size=${size}`, { width, height });
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(page.problems()).toEqual([]);
  });

  it('keeps its data while the service is offline and recovers', async () => {
    const page = await browser.open(`${served.url}/#feeds`);
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
      await openAllTabs(page);
      // What has no content yet is not shown, nor a button that does nothing.
      const first = [SECTIONS[0]!, SECTIONS.at(-1)!];
      expect(await page.locator('main > section:visible h2').allInnerTexts()).toEqual([...first, ...TABS]);
      expect(await page.locator('#today :is(button, input):visible').count()).toBe(0);
      for (const name of [...first, ...TABS])
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
