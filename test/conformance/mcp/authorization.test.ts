import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoWallets } from '../../support/auth/login.ts';
import { OAuthTestClient } from '../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../support/auth/oauth-service.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { findFreePort } from '../../support/http/serve.ts';

const COMMAND = resolve(import.meta.dirname, '../node_modules/conformance-next/dist/index.js');

let oauth: OAuthService;
let folder: string;
beforeAll(async () => {
  oauth = await serveOAuthService();
  folder = await mkdtemp(join(tmpdir(), 'oracle-conformance-'));
});
afterAll(async () => {
  await oauth?.close();
  await removeFolder(folder);
});

/** Runs the suite for authorization servers, whose 2 scenarios depend on each other. @param decide what the user does at the URL that the suite prints */
async function runAuthorizationSuite(
  words: string[],
  decide: (url: URL) => Promise<void>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [COMMAND, 'authorization', '--url', oauth.url, ...words], { cwd: folder });
  const { promise, resolve: end } = Promise.withResolvers<number | null>();
  let output = '';
  let isDecided = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [printed] = /http:\/\/\S+\/oauth\/authorize\?\S+/.exec(output) ?? [];
      if (printed === undefined || isDecided) return;
      isDecided = true;
      decide(new URL(printed)).catch((error) => {
        output += String(error);
        child.kill();
      });
    });
  }
  child.once('close', end);
  return { code: await promise, output };
}

it('passes the official suite for authorization servers, with a wallet that allows its client', async () => {
  const port = await findFreePort();
  const client = new OAuthTestClient(oauth.url);
  await client.register({ redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const words = ['--client-id', client.clientId, '--resource', `${oauth.url}/mcp`, '--port', String(port)];
  const { code, output } = await runAuthorizationSuite(words, async (url) => {
    const { location: consent } = await client.send('GET', `${url.pathname}${url.search}`);
    const { location } = await client.decide(consent!, demoWallets(oauth.service).basic);
    await (await fetch(location!)).text();
  });
  expect(code, output).toBe(0);
  expect(output).toMatch(/authorization-code-grant[\s\S]*0 failed/);
});
