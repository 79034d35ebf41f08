import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import type { Frame, Page } from 'playwright-core';
import type { McpClient } from '../../../support/mcp/mcp.ts';

const SANDBOX = resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol/inspector/clients/web/static/sandbox_proxy.html');

export interface AppHost {
  url: string;
  /** The inspector's sandbox, on an origin of its own. */
  sandboxUrl: string;
  close(): void;
}

/** A host of MCP Apps as a web page. */
export async function serveAppHost(): Promise<AppHost> {
  const { outputFiles } = await build({
    entryPoints: [resolve(import.meta.dirname, 'host.js')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  });
  const script = outputFiles[0].text;
  const page = `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><body><script>${script.replaceAll('</script', '<\\/script')}</script>`;
  const [host, sandbox] = await Promise.all([serveHtml(page), serveHtml(await readFile(SANDBOX, 'utf8'))]);
  return {
    url: getUrl(host),
    sandboxUrl: getUrl(sandbox),
    close() {
      for (const server of [host, sandbox]) server.close();
    },
  };
}

async function serveHtml(html: string): Promise<Server> {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function getUrl(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** The policy that a host builds of the declared domains (SEP-1865, "Content Security Policy Enforcement"), first in the head. */
function withHostPolicy(html: string, csp: { connectDomains: string[]; resourceDomains: string[] }): string {
  const resources = csp.resourceDomains.join(' ');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${resources}`,
    `style-src 'self' 'unsafe-inline' ${resources}`,
    `connect-src 'self' ${csp.connectDomains.join(' ')}`,
    `img-src 'self' data: ${resources}`,
    `font-src 'self' ${resources}`,
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'",
  ].join('; ');
  return html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

interface ViewOptions {
  client: McpClient;
  call: { name: string; arguments: Record<string, unknown> };
  sandboxUrl: string;
  hostContext: object;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = any;

/** Calls a tool as a host does, and shows the view that it names with the result. */
export async function openView(page: Page, { client, call, ...options }: ViewOptions): Promise<{ view: Frame; result: Answer }> {
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }: { name: string }) => name === call.name);
  const { text, _meta } = (await client.readResource({ uri: tool._meta.ui.resourceUri })).contents[0];
  const { csp } = _meta.ui;
  const result = await client.callTool(call);
  // Calls of the view reach the client of the test.
  await page.exposeFunction('callTool', ({ name, arguments: input }: ViewOptions['call']) => client.callTool({ name, arguments: input }));
  const opened = { ...options, html: withHostPolicy(text, csp), csp, input: call.arguments, result };
  await page.evaluate((all) => (globalThis as unknown as { openApp(all: object): Promise<void> }).openApp(all), opened);
  return { view: await findView(page), result };
}

/** The frame within the frame of the sandbox. */
async function findView(page: Page): Promise<Frame> {
  const sandbox = await (await page.waitForSelector('iframe')).contentFrame();
  return (await (await sandbox!.waitForSelector('iframe')).contentFrame())!;
}
