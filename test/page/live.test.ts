import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatDay } from '../../src/forecast/day.ts';
import { allRoutes } from '../../src/http/routes.ts';
import { createApp } from '../../src/http/server.ts';
import { login } from '../support/auth/login.ts';
import { describeWithBrowser } from '../support/docs/browser.ts';
import { regimeDrafts } from '../support/events/event-drafts.ts';
import { serveApp } from '../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../support/service/service.ts';

/** Suites use all cores. */
const SLOWLY = { timeout: 15_000 };

describeWithBrowser('the live parts of the page', (browser) => {
  let service: TestService;
  /** The day whose forecast is made during the test. */
  let lastDay: number;
  let served: Awaited<ReturnType<typeof serveApp>>;
  const open = (port = 0) => serveApp(createApp(allRoutes(service.http), service.appOptions, service.adapters), { port, sockets: service });
  beforeAll(async () => {
    service = await testService(2);
    service.progress.complete();
    lastDay = today() - 1;
    await runPastDay(service, lastDay - 1, ['open-window']);
    await service.push.publish();
    served = await open();
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  /** A page with a stored session. */
  async function inside(): Promise<Page> {
    const { token, wallet, tier, expiresAt } = await login(service, 'basic');
    const session = JSON.stringify({ token, wallet, tier, expiresAt: expiresAt.toISOString() });
    const page = await browser.open(`${served.url}/#events`, {
      init: async (opening) => {
        opening.setDefaultTimeout(15_000);
        await opening.addInitScript((stored) => sessionStorage.setItem('oracle-session', stored), session);
      },
    });
    await page.locator('#events').getByText('Live.').waitFor();
    return page;
  }

  const lines = (page: Page) => page.getByRole('log', { name: 'Events, newest first' }).getByRole('listitem');
  const keys = (page: Page) => lines(page).evaluateAll((items) => items.map((item) => (item as HTMLElement).dataset.key));

  it('shows past events and each new one', async () => {
    const page = await inside();
    const last = await service.push.events.lastId();
    const shown = (await keys(page)).map((key) => Number(key!.replace('event-', '')));
    expect(shown[0]).toBe(last);
    expect(shown).toEqual([...new Set(shown)].toSorted((a, b) => b - a));
    const dayBefore = Number(formatDay(lastDay - 1).slice(8));
    await lines(page)
      .getByText(new RegExp(`Calls of ${dayBefore} .* for 1, 2, 3 and 7 days: committed on chain`))
      .waitFor();
    await runPastDay(service, lastDay, ['open-window']);
    await service.push.publish();
    const made = formatDay(lastDay);
    const call = lines(page)
      .filter({ hasText: `Calls of ${Number(made.slice(8))} ` })
      .filter({ hasText: 'New calls' });
    await call.getByText(/1-day (BUY|SELL|HOLD).*; 7-day (BUY|SELL|HOLD)/).waitFor();
    // The record sections follow without a reload.
    await page.locator('#today').locator(`time[datetime^="${made}"]`).first().waitFor({ state: 'attached' });
  });

  it('reconnects after an outage and shows missed events once, in order', async () => {
    const page = await inside();
    const before = await keys(page);
    await served.close();
    await page.locator('#events').getByText('Reconnecting').waitFor();
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText(/Offline since \d\d:\d\d UTC/).waitFor();
    await service.push.events.append(regimeDrafts(100, 2), new Date());
    served = await open(served.port);
    await page.locator('#events').getByText('Live.').waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    const last = Number(before[0]!.replace('event-', ''));
    const missed = [`event-${last + 2}`, `event-${last + 1}`];
    await expect.poll(() => keys(page), SLOWLY).toEqual([...missed, ...before].slice(0, 50));
    await service.push.events.append(regimeDrafts(200, 1), new Date());
    await expect.poll(async () => (await keys(page))[0], SLOWLY).toBe(`event-${last + 3}`);
  });

  it('shows anonymous readers the simulation banner, the latest attestations and no hidden value', async () => {
    const page = await browser.open(`${served.url}/#events`);
    const list = page.getByRole('region', { name: 'Latest attestations, newest first' });
    await list
      .getByText(/Calls of .* for 1, 2, 3 and 7 days: committed on chain/)
      .first()
      .waitFor();
    expect(await page.locator('#events').innerText()).not.toMatch(/\b(BUY|SELL|HOLD|UP|DOWN)\b/);
    const mark = page.getByText('Simulated market', { exact: true });
    await mark.click();
    await page.getByText('It shows nothing about performance on the real market').waitFor();
    await mark.click();
    expect(await page.locator('#origin').getAttribute('data-kind')).toBe('simulated');
    await page.evaluate(() => scrollTo({ top: 500, behavior: 'instant' }));
    expect(await page.evaluate(() => scrollY)).toBe(500);
    const { y } = (await mark.boundingBox())!;
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y).toBeLessThan(150);
    expect(page.problems()).toEqual([]);
  });

  it('explains HOLD, void and resolved calls by horizon, selected by keyboard', async () => {
    const shown = { direction: 'UP', confidence: 0.5123, replayed: false };
    const calls = [
      { horizon: '3d', call: { ...shown, signal: 'SELL', direction: 'DOWN', status: 'VOID' }, words: /DOWN 51\s%[\s\S]*never counts/ },
      { horizon: '2d', call: { ...shown, signal: 'BUY', status: 'WIN' }, words: /UP 51\s%[\s\S]*no edge[\s\S]*Revealed .*: Right/ },
      { horizon: '1d', call: { ...shown, signal: 'HOLD', status: 'PENDING' }, words: /HOLD, UP 51\s%/ },
      { horizon: '7d', call: { ...shown, signal: 'HOLD' }, words: /HOLD, UP 51\s%/ },
    ];
    const page = await browser.open(served.url, {
      init: async (opening) => {
        await opening.route('**/api/svc/open/signal*', async (route) => {
          const real = await (await route.fetch()).json();
          await route.fulfill({ json: { ...real, ...calls.find(({ horizon }) => horizon === real.horizon)?.call } });
        });
      },
    });
    await page.getByRole('radio', { name: '7 days' }).focus();
    // The call of the horizon that the page opens with came with it.
    for (const { horizon, words } of calls) {
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => page.locator('#today').innerText(), SLOWLY).toMatch(words);
      expect(await page.getByRole('radio', { checked: true }).getAttribute('value')).toBe(horizon.slice(0, 1));
    }
    expect(new URL(page.url()).searchParams.get('horizon')).toBe('7');
    expect(page.problems()).toEqual([]);
  });

  it('shows the progress of a first start and hides it afterwards', async () => {
    let setup: object | null = { what: 'replaying history', done: 40, total: 120 };
    const page = await browser.open(served.url, {
      init: async (opening) => {
        await opening.route('**/health', (route) => route.fulfill({ json: { status: 'ok', version: '1', uptimeSeconds: 1, setup } }));
      },
    });
    const bar = page.getByRole('progressbar', { name: 'Replaying history: 40 of 120' });
    await bar.waitFor();
    expect(await bar.evaluate((element) => (element as HTMLProgressElement).position)).toBeCloseTo(1 / 3);
    setup = null;
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(await page.locator('#setup').innerText()).toBe('');
  });
});
