import { readFileSync } from 'node:fs';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asTier } from '../../support/auth/login.ts';
import { describeWithBrowser, type OpenPage } from '../../support/docs/browser.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { MCP_CLIENTS, type McpClient } from '../../support/mcp/mcp.ts';
import { fullService } from '../../support/service/full-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { type AppHost, serveAppHost, withHostPolicy } from './app-host/serve-host.ts';

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Of a host that names all the colours that the views use. */
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

let service: TestService;
let served: Served;
let host: AppHost;
const clients: Record<string, McpClient> = {};

beforeAll(async () => {
  service = await fullService();
  [served, host] = await Promise.all([serve(service), serveAppHost()]);
  for (const tier of ['public', 'basic'] as const) clients[tier] = await MCP_CLIENTS['2026-07-28'](served.url, await asTier(service, tier));
});
afterAll(async () => {
  for (const client of Object.values(clients)) await client.close();
  host?.close();
  await served?.close();
  await service?.stop();
});

/** The frame within the frame of the sandbox. */
async function findView(page: Page): Promise<Frame> {
  const sandbox = await (await page.waitForSelector('iframe')).contentFrame();
  return (await (await sandbox!.waitForSelector('iframe')).contentFrame())!;
}

interface Opened {
  page: OpenPage;
  view: Frame;
  /** Addresses that the page and its frames have asked for. */
  requested: string[];
  // biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
  result: any;
}

describeWithBrowser('a host of MCP Apps', (browser) => {
  /** Calls a tool as a host does, and shows its view with the answer. */
  async function open(call: { tool: string; input?: object; tier?: string; context?: object; width?: number }): Promise<Opened> {
    const { tool, input = {}, tier = 'basic', context = { theme: 'light' }, width = 720 } = call;
    const client = clients[tier];
    const { tools } = await client.listTools();
    const uri = tools.find(({ name }: { name: string }) => name === tool)._meta.ui.resourceUri;
    const [{ text, mimeType, _meta }] = (await client.readResource({ uri })).contents;
    expect(mimeType).toBe('text/html;profile=mcp-app');
    const result = await client.callTool({ name: tool, arguments: input as Record<string, unknown> });
    const requested: string[] = [];
    const page = await browser.open(host.url, {
      width,
      init: async (opened: Page) => {
        opened.on('request', (request) => requested.push(request.url()));
        await opened.exposeFunction('callTool', ({ name, arguments: args }: { name: string; arguments: Record<string, unknown> }) =>
          client.callTool({ name, arguments: args }),
        );
      },
    });
    const html = withHostPolicy(text, _meta.ui.csp);
    await page.evaluate((options) => (globalThis as unknown as { openApp(of: object): Promise<unknown> }).openApp(options), {
      sandbox: host.sandboxUrl,
      html,
      csp: _meta.ui.csp,
      hostContext: context,
      input,
      result,
    });
    const view = await findView(page);
    return { page, view, requested, result };
  }

  async function expectSound({ page, view, requested }: Opened): Promise<void> {
    const origins = new Set(requested.filter((url) => !url.startsWith('data:') && url !== 'about:srcdoc').map((url) => new URL(url).href));
    expect([...origins].toSorted()).toEqual([host.url, host.sandboxUrl].toSorted());
    await view.evaluate(AXE);
    const findings = await view.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<{ violations: object[] }> } }).axe.run());
    expect(findings.violations).toEqual([]);
    const [width, visible, height, frame] = (await view.evaluate(
      '[document.documentElement.scrollWidth, innerWidth, document.body.offsetHeight, innerHeight]',
    )) as number[];
    expect(width).toBeLessThanOrEqual(visible);
    expect(Math.abs(height - frame)).toBeLessThanOrEqual(1);
    expect(page.problems()).toEqual([]);
  }

  it.each([
    ['light', { theme: 'light' }, 720, 'rgb(255, 255, 255)'],
    ['dark with colours of the host, on a phone', DARK_HOST, 320, 'rgb(10, 20, 30)'],
  ])('draws the forecast: %s', async (_, context, width, background) => {
    const opened = await open({ tool: 'predict_btc_direction', context, width });
    const { view, result } = opened;
    const { signal, skill } = result.structuredContent;
    await view.waitForSelector('.lead');
    const text = await view.locator('main').innerText();
    for (const part of [signal, 'P(up)', 'Committed', 'Window opens', 'Window ends', 'No advice to trade']) expect(text).toContain(part);
    expect(text.toLowerCase()).toContain(skill.verdict.slice(0, 60).toLowerCase());
    expect(await view.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
    await view.page().screenshot({ path: `/tmp/app-pkg/forecast-${width}.png`, fullPage: true });
    await expectSound(opened);
  });

  it.each(['get_track_record', 'verify_prediction'])('shots %s', async (tool) => {
    for (const width of [720, 320]) {
      const input = tool === 'get_track_record' ? {} : { predictionId: '2026-11-26:1d' };
      const opened = await open({ tool, input, width, context: width === 320 ? { theme: 'dark' } : { theme: 'light' } });
      await opened.view.waitForSelector('.lead');
      await opened.page.screenshot({ path: `/tmp/app-pkg/${tool}-${width}.png`, fullPage: true });
      await expectSound(opened);
    }
  });
});
