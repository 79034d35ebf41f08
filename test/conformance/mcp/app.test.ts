import { readFileSync } from 'node:fs';
import type { Frame } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asTier } from '../../support/auth/login.ts';
import { describeWithBrowser, type OpenPage } from '../../support/docs/browser.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { MCP_CLIENTS, type McpClient } from '../../support/mcp/mcp.ts';
import { fullService } from '../../support/service/full-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { type AppHost, openView, serveAppHost } from './app-host/app-host.ts';

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const RUN_AXE = 'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))';

const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';

/** Names all the colours that the views use. */
const DARK_HOST = {
  theme: 'dark',
  styles: {
    variables: {
      '--color-background-primary': 'rgb(10, 20, 30)',
      '--color-text-primary': 'rgb(240, 240, 250)',
      '--color-text-secondary': 'rgb(180, 180, 190)',
      '--color-border-primary': 'rgb(90, 90, 100)',
    },
  },
};

/** Names one colour, which alone could be illegible. */
const PARTIAL_HOST = { theme: 'light', styles: { variables: { '--color-text-primary': 'rgb(255, 255, 255)' } } };

let service: TestService;
let served: Served;
let host: AppHost;
let client: McpClient;

beforeAll(async () => {
  service = await fullService();
  [served, host] = await Promise.all([serve(service), serveAppHost()]);
  client = await MCP_CLIENTS['2026-07-28'](served.url, await asTier(service, 'basic'));
});
afterAll(async () => {
  await client?.close();
  host?.close();
  await served?.close();
  await service?.stop();
});

const SCHEMES = [
  ['light', { theme: 'light' }, 720, 'rgb(255, 255, 255)'],
  ['dark, with the colours of the host, at 320 px', DARK_HOST, 320, 'rgb(10, 20, 30)'],
  ['light, with one colour of the host', PARTIAL_HOST, 480, 'rgb(255, 255, 255)'],
] as const;

describeWithBrowser('in a host of MCP Apps', (browser) => {
  /** A view with the answer to a call, and the addresses that its page has asked for. */
  async function open(
    tool: string,
    { input = {}, hostContext = {}, width = 720 }: { input?: object; hostContext?: object; width?: number },
  ) {
    const requested: string[] = [];
    const page = await browser.open(host.url, {
      width,
      init: async (opened) => {
        opened.on('request', (request) => requested.push(request.url()));
      },
    });
    const call = { name: tool, arguments: input as Record<string, unknown> };
    return { page, requested, ...(await openView(page, { client, call, sandboxUrl: host.sandboxUrl, hostContext })) };
  }

  it.each(SCHEMES)('draws the forecast: %s', async (_, hostContext, width, background) => {
    const { view, result, ...opened } = await open('predict_btc_direction', { hostContext, width });
    const { signal, pUp, skill, range } = result.structuredContent;
    const text = await textOf(view);
    for (const part of [signal, `${(100 * pUp).toFixed(1)} %`, Math.round(range.low).toLocaleString('en-US'), 'Committed', 'Window ends'])
      expect(text).toContain(part);
    expect(text.toLowerCase()).toContain(skill.verdict.toLowerCase());
    expect(await view.locator('svg .range').count()).toBe(1);
    expect(await view.evaluate(BACKGROUND)).toBe(background);
    await expectSound(view, opened);
  });

  it.each(SCHEMES)('draws the record and the checks of a forecast: %s', async (_, hostContext, width) => {
    const { view, result, ...opened } = await open('get_track_record', { hostContext, width });
    expect(await textOf(view)).toContain(`${result.structuredContent.statistics.wins} of ${result.structuredContent.statistics.resolved}`);
    expect(await view.locator('svg .interval').count()).toBeGreaterThan(4);
    await expectSound(view, opened);
    await view
      .getByRole('button', { name: /^Check/ })
      .first()
      .click();
    await view.waitForSelector('strong.status-win');
    expect(await textOf(view)).toContain('Verified');
    // A short answer lists the checks that fail.
    const all = view.getByRole('button', { name: 'All checks' });
    if ((await all.count()) > 0) await all.click();
    await view.locator('summary').click();
    await expectSound(view, opened);
    for (const back = view.getByRole('button', { name: 'Back' }); (await back.count()) > 0; ) await back.click();
    expect(await textOf(view)).toContain('Newest forecasts');
  });

  it('follows the theme of the host', async () => {
    const { page, view } = await open('predict_btc_direction', { hostContext: { theme: 'light' } });
    await textOf(view);
    await page.evaluate('bridge.setHostContext({ theme: "dark" })');
    await expect.poll(() => view.evaluate(BACKGROUND)).toBe('rgb(20, 22, 26)');
  });

  it('shows the rejection of a call without a token, and asks for nothing by itself', async () => {
    const anonymous = await MCP_CLIENTS['2026-07-28'](served.url, {});
    const page = await browser.open(host.url);
    const call = { name: 'predict_btc_direction', arguments: {} };
    const { view } = await openView(page, { client: anonymous, call, sandboxUrl: host.sandboxUrl, hostContext: {} });
    const text = await textOf(view);
    expect(text).not.toMatch(/\b(BUY|SELL|HOLD|DOWN)\b/);
    expect(text).toContain('token');
    await anonymous.close();
  });

  it('answers the teardown of the host', async () => {
    const { page } = await open('verify_prediction', { input: { predictionId: await findAttested() } });
    expect(await page.evaluate('bridge.teardownResource({})')).toEqual({});
  });
});

async function findAttested(): Promise<string> {
  const { structuredContent } = await client.callTool({ name: 'get_track_record', arguments: {} });
  return structuredContent.entries[0].predictionId;
}

/** Of the answer, once it is drawn. */
async function textOf(view: Frame): Promise<string> {
  await view.waitForSelector('main .lead');
  return (await view.locator('main').textContent()) ?? '';
}

/** The frame has the height of its content and no width beyond it, is accessible, and has asked for nothing. */
async function expectSound(view: Frame, { page, requested }: { page: OpenPage; requested: readonly string[] }): Promise<void> {
  // The policy of the view forbids the evaluation of text, by which the browser's driver would wait.
  await expect.poll(() => view.evaluate('Math.abs(document.body.offsetHeight - innerHeight)')).toBeLessThanOrEqual(1);
  expect(await view.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  await view.evaluate(AXE);
  expect(await view.evaluate(RUN_AXE)).toEqual([]);
  expect(requested.filter((url) => !url.startsWith('data:'))).toEqual([host.url, host.sandboxUrl]);
  expect(page.problems()).toEqual([]);
}
