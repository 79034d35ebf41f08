import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DocumentServer, serveDocuments } from '../../support/auth/client-document.ts';
import { demoWallets } from '../../support/auth/login.ts';
import { type OAuthService, serveOAuthService } from '../../support/auth/oauth-service.ts';
import { describeWithBrowser } from '../../support/docs/browser.ts';
import { AssistantStore, AUTHORIZING_CLIENTS } from '../../support/mcp/authorizing-client.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';
import { installWallets, type PageWallet } from '../wallet.ts';

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const GATED = { name: 'predict_btc_direction', arguments: { horizon: '7d' } };

describeWithBrowser('an assistant that is given the address of the account', (browser) => {
  let oauth: OAuthService;
  let documents: DocumentServer;
  /** Where the assistants listen, at a port that their documents do not name (RFC 8252, section 7.3). */
  let receiver: Receiver;
  beforeAll(async () => {
    oauth = await serveOAuthService(1, { PUSH_LOCAL_TARGETS: 'allow' });
    receiver = await startReceiver(200);
    documents = await serveDocuments((_, url) => ({
      body: JSON.stringify({ client_id: url, client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1/callback'] }),
    }));
  });
  afterAll(async () => {
    await documents?.close();
    await receiver?.close();
    await oauth?.close();
  });

  const account = () => `${oauth.url}/mcp/account`;
  const callback = () => `${receiver.url}/callback`;

  /** The browser that the assistant opens. */
  async function openConsent(url: URL, wallets: PageWallet[] = [], colorScheme: 'light' | 'dark' = 'light') {
    const page = await browser.open(url.href, {
      colorScheme,
      init: async (opening) => {
        opening.setDefaultTimeout(15_000);
        await installWallets(opening, wallets);
      },
    });
    return page;
  }

  async function goBack(page: Page): Promise<URL> {
    await page.waitForURL(`${callback()}*`);
    return new URL(page.url());
  }

  /** The consent page of an assistant that has begun to connect. */
  async function begin(name: keyof typeof AUTHORIZING_CLIENTS, documentUrl?: string) {
    const library = AUTHORIZING_CLIENTS[name];
    const store = new AssistantStore(callback());
    const provider = store.toProvider(documentUrl);
    await expect(library.connect(account(), provider)).rejects.toThrow(/Unauthorized/);
    return { library, store, provider, url: store.opened.at(-1)! };
  }

  describe.each([
    ['client 2', 'a metadata document', (): string | undefined => `${documents.url}/client.json`],
    ['client 2', 'a registration', (): string | undefined => undefined],
    ['SDK 1', 'a registration', (): string | undefined => undefined],
  ] as const)('with the library %s and %s', (name, _, getDocumentUrl) => {
    it('gets the gated answer after one signature, refreshes, and asks again after a revocation', async () => {
      const { library, store, provider, url } = await begin(name, getDocumentUrl());
      expect(url.searchParams.get('resource')).toBe(account());
      const wallet = demoWallets(oauth.service).premium;
      const page = await openConsent(url, [{ name: 'Test wallet', account: wallet }]);
      await page.getByRole('button', { name: 'Sign with Test wallet and allow' }).click();
      await library.finish(account(), provider, await goBack(page));
      expect(page.problems()).toEqual([]);

      const client = await library.connect(account(), provider);
      const answer = await client.callTool(GATED);
      expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true);
      expect(answer.structuredContent.direction).toMatch(/UP|DOWN|HOLD/);

      const refreshToken = store.tokens.refresh_token;
      store.tokens = { ...store.tokens, access_token: 'x'.repeat(43) };
      expect((await client.callTool(GATED)).isError).not.toBe(true);
      expect(store.tokens.refresh_token).not.toBe(refreshToken);

      const [entry] = await oauth.service.applications!.list(wallet.address);
      expect(await oauth.service.applications!.revoke(wallet.address, entry!.id)).toBe(true);
      await expect(client.callTool(GATED)).rejects.toThrow();
      expect(store.opened).toHaveLength(2);
      await client.close();
    });
  });

  it('is named by its host, signs by a demo wallet, and is refused what the wallet declines', async () => {
    const { store, provider, library, url } = await begin('client 2', `${documents.url}/client.json`);
    const { poor, premium } = demoWallets(oauth.service);
    const page = await openConsent(url, [
      { name: 'Poor', account: poor },
      { name: 'Declining', account: premium, declines: true },
    ]);
    await page.getByRole('heading', { name: `Allow ${new URL(documents.url).host} to read forecasts?` }).waitFor();
    expect(await page.locator('main').innerText()).toMatch(
      /It calls itself “Test assistant”, which is not verified[\s\S]*Afterwards you go to\s*this computer/i,
    );
    await page.getByRole('button', { name: 'Sign with Poor and allow' }).click();
    await page.getByText('500,000,000 are missing').waitFor();
    await page.getByRole('button', { name: 'Sign with Declining and allow' }).click();
    await page.getByText('You declined in the wallet').waitFor();
    await page.getByRole('button', { name: 'Sign as Basic and allow' }).click();
    await library.finish(account(), provider, await goBack(page));
    expect(store.tokens.scope).toBe('forecast:basic');
  });

  it('gets access_denied when its user cancels', async () => {
    const { url } = await begin('client 2');
    const page = await openConsent(url);
    await page.getByText('No wallet was found in this browser').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(Object.fromEntries((await goBack(page)).searchParams)).toMatchObject({ error: 'access_denied', iss: oauth.url });
  });

  it.each(['light', 'dark'] as const)('shows a page without accessibility findings in %s', async (scheme) => {
    const { url } = await begin('client 2');
    const page = await openConsent(url, [{ name: 'Test wallet', account: demoWallets(oauth.service).basic }], scheme);
    await page.getByRole('button', { name: 'Sign with Test wallet and allow' }).waitFor();
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
      const { violations: found } = await axe.run();
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
    });
    expect(violations).toEqual([]);
    expect(page.problems()).toEqual([]);
  });
});
