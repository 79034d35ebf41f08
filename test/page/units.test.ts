import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeAppOptions } from '../../src/app/transports.ts';
import { loadConfig } from '../../src/config.ts';
import { allRoutes } from '../../src/http/routes.ts';
import { createListener } from '../../src/http/server.ts';
import { createLog } from '../../src/platform/log.ts';
import { describeWithBrowser } from '../support/docs/browser.ts';
import { type Served, serveApp } from '../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../support/service/service.ts';

const DAYS = 9;

describeWithBrowser('what a reader does within a minute', (browser) => {
  let service: TestService;
  const served: Served[] = [];

  beforeAll(async () => {
    service = await testService(DAYS);
    const end = today();
    for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    service.progress.complete();
  });
  afterAll(async () => {
    for (const { close } of served) await close();
    await service?.stop();
  });

  /** A process with a limit of its own, in a window that ends when the test says so. */
  async function open(limit: number) {
    const { database, http } = service;
    let ms = Math.floor(Date.now() / 60_000) * 60_000 + 57_000;
    const db = database.client.db(`units-${served.length}`);
    const config = loadConfig({ RATE_LIMIT_PUBLIC: String(limit), RATE_LIMIT_RPC: '100' });
    const context = { ...http, config, db, log: createLog({ level: 'silent', secrets: [] }), now: () => new Date(ms) };
    const options = composeAppOptions(context, { identify: (authorization) => http.access.identify(authorization) });
    served.push(await serveApp(createListener(allRoutes(http), { ...options, reusesAnswers: true })));
    return {
      url: served.at(-1)!.url,
      endWindow: () => {
        ms += 60_000;
      },
    };
  }

  async function useAll(page: Page, url: string) {
    await page.goto(`${url}/`, { waitUntil: 'networkidle' });
    for (const tab of await page.locator('.tabs a[href^="#"]').all()) {
      await tab.click();
      await page.waitForLoadState('networkidle');
    }
    await page.locator('#attestations').getByRole('link', { name: 'Check everything' }).click();
  }

  it('takes a part of the limit that leaves room for a record of 120 days', async () => {
    const { url } = await open(60);
    const page = await browser.open(`${url}/`);
    let left = 60;
    const refused: string[] = [];
    page.on('response', (response) => {
      left = Math.min(left, Number(/"public";r=(\d+)/.exec(response.headers().ratelimit ?? '')?.[1] ?? left));
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    await useAll(page, url);
    await page
      .locator('.check-record')
      .getByText(/checks agree\.$/)
      .waitFor({ timeout: 60_000 });
    for (let reload = 0; reload < 2; reload++) await page.reload({ waitUntil: 'networkidle' });
    // Each day more adds 8 attestations of 0.005 units and 4 openings of 0.008: 8 units for 111 of them.
    expect(60 - left).toBeLessThanOrEqual(15);
    expect(refused).toEqual([]);
  });

  it('waits for the end of the limit, says so, and goes on', async () => {
    const { url, endWindow } = await open(8);
    const page = await browser.open('about:blank');
    await useAll(page, url);
    const section = page.locator('.check-record');
    await section.getByText(/^The limit of requests is reached: goes on in \d s$/).waitFor({ timeout: 60_000 });
    for (let window = 0; window < 8 && (await section.getByText(/checks agree\.$/).count()) === 0; window++) {
      endWindow();
      await Promise.race([
        section.getByText(/checks agree\.$/).waitFor({ timeout: 60_000 }),
        page.waitForResponse((response) => response.status() === 429),
      ]);
    }
    await section.getByText(/checks agree\.$/).waitFor({ timeout: 60_000 });
    expect(await page.getByText('Could not be checked').count()).toBe(0);
  });
});
