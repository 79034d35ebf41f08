import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiKeyStore } from '../../../src/auth/api-keys.ts';
import { demoWallets, loginToken } from '../../support/auth/login.ts';
import { stablecoins, withSignal } from '../../support/commerce/payments.ts';
import { describeWithBrowser, type OpenPage } from '../../support/docs/browser.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../support/service/service.ts';
import { findings } from '../axe.ts';
import { openTab } from '../layout.ts';
import { installWallets, type PageWallet } from '../wallet.ts';

const CALL = /usual \d|BUY|SELL|HOLD/;
const HIDDEN = /, revealed on \d/;

describeWithBrowser('unlocking the page', (browser) => {
  let service: TestService;
  let served: Served;
  beforeAll(async () => {
    service = await unresolvedService(1);
    service.progress.complete();
    served = await serve(service);
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  const today = (page: Page) => page.locator('#today');
  const dialog = (page: Page) => page.getByRole('dialog');
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);
  const openWith = (wallets: PageWallet[], prepare?: (page: Page) => Promise<void>) =>
    browser.open(served.url, {
      init: async (page) => {
        page.setDefaultTimeout(15_000);
        await prepare?.(page);
        await installWallets(page, wallets);
      },
    });

  async function unlock(page: Page, name: string): Promise<void> {
    await today(page).getByText(HIDDEN).waitFor();
    await today(page).getByRole('button', { name: 'Unlock' }).click();
    await dialog(page).getByRole('button', { name }).click();
  }

  async function unlocked(): Promise<OpenPage> {
    const page = await openWith([{ name: 'Test wallet', account: demoWallets(service).premium }]);
    await unlock(page, 'Test wallet');
    await today(page).getByText(CALL).first().waitFor();
    return page;
  }

  it('shows the call to a wallet with enough tokens and hides it after logout', async () => {
    const urls: string[] = [];
    const page = await openWith([{ name: 'Test wallet', account: demoWallets(service).premium }], async (opening) => {
      opening.on('request', (request) => urls.push(request.url()));
      opening.on('websocket', (socket) => urls.push(socket.url()));
    });
    await today(page).getByText(HIDDEN).waitFor();
    expect(await today(page).innerText()).not.toMatch(CALL);
    await unlock(page, 'Test wallet');
    const { direction, confidence } = (await (
      await fetch(`${served.url}/api/svc/open/signal`, { headers: { Authorization: `Bearer ${await loginToken(service, 'premium')}` } })
    ).json()) as Record<string, never>;
    await today(page).getByText(CALL).first().waitFor();
    await today(page).getByText('Details', { exact: true }).click();
    const words = await today(page).innerText();
    expect(words).toContain(`${direction} ${Math.round(100 * confidence)}\u00a0%`);
    expect(words).toMatch(direction === 'UP' ? /higher on/ : /lower on/);
    expect(words).toMatch(/80\s% band of this forecast: \$[\d,]+ to \$[\d,]+/);
    await openTab(page, 'events');
    await page.locator('#events').getByText('Live.').waitFor();

    const { token } = await page.evaluate(() => JSON.parse(sessionStorage.getItem('oracle-session')!));
    expect(await page.content()).not.toContain(token);
    expect(urls.filter((url) => url.includes(token))).toEqual([]);
    expect(urls.some((url) => url.startsWith('ws:') && url.includes('ticket='))).toBe(true);

    // The page hides everything at once, and the service ends the session when it gets the request.
    const sessionEnded = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Log out' }).click();
    await today(page).getByText(HIDDEN).waitFor();
    expect(await today(page).innerText()).not.toMatch(CALL);
    expect(await page.locator('#events .events').innerText()).not.toMatch(/New call/);
    await sessionEnded;
    const again = await fetch(`${served.url}/api/svc/oracle`, { headers: { Authorization: `Bearer ${token}` } });
    expect(again.status).toBe(401);
    expect(page.problems()).toEqual([]);
  });

  it('reports missing tokens, a declined signature and a wrong clock', async () => {
    const { poor, premium } = demoWallets(service);
    const page = await openWith(
      [
        { name: 'Poor', account: poor },
        { name: 'Declining', account: premium, declines: true },
        { name: 'Late', account: premium },
      ],
      (opening) => opening.clock.install(),
    );
    await unlock(page, 'Poor');
    await dialog(page).getByText('500,000,000 are missing').waitFor();
    await dialog(page).getByRole('button', { name: 'Declining' }).click();
    await dialog(page).getByText('You declined in the wallet').waitFor();
    await page.clock.setSystemTime(Date.now() - 600_000);
    await dialog(page).getByRole('button', { name: 'Late' }).click();
    await dialog(page)
      .getByText(/is 10 minutes behind that of the service/)
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await today(page).getByText(HIDDEN).waitFor();
    // Messages that the browser logs for error statuses.
    expect(page.problems().map((problem) => /status of (\d+)/.exec(problem)?.[1])).toEqual(['403', '401']);
  });

  it('bounds the name of a wallet and shows only data URL icons', async () => {
    const account = demoWallets(service).basic;
    const long = 'W'.repeat(500);
    const { promise: maySign, resolve: sign } = Promise.withResolvers<void>();
    const page = await openWith([
      { name: long, account, maySign, icon: 'https://elsewhere.example/icon.png' },
      { name: 'Pictured', account },
    ]);
    await page.getByRole('banner').getByRole('button', { name: 'Unlock' }).click();
    const buttons = dialog(page).getByRole('list', { name: 'Wallets of this browser' }).getByRole('button');
    await buttons.nth(1).waitFor();
    expect((await buttons.first().innerText()).length).toBeLessThan(60);
    expect(await dialog(page).locator('img').count()).toBe(1);
    // Closing the dialog ends the session at the service, too.
    await buttons.first().click();
    await dialog(page).getByText('Sign the message').waitFor();
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
    sign();
    expect((await ended).ok()).toBe(true);
    expect(await page.evaluate(() => sessionStorage.getItem('oracle-session'))).toBeNull();
    expect(page.problems()).toEqual([]);
  });

  it('accepts an access token without a wallet and rejects an invalid one', async () => {
    const page = await openWith([]);
    await today(page).getByRole('button', { name: 'Unlock' }).click();
    await dialog(page).getByRole('button', { name: 'As the demo wallet Premium' }).waitFor();
    await dialog(page).getByText('Use a token instead').click();
    const field = dialog(page).getByLabel('Access token');
    await field.fill('not a token');
    await field.press('Enter');
    await dialog(page).getByText('This is not an access token').waitFor();
    await field.fill(await loginToken(service, 'basic'));
    await field.press('Enter');
    await today(page).getByText(CALL).first().waitFor();
    expect(await page.locator('#account').innerText()).toMatch(/Basic[\s\S]*expires in \d+ minutes/);
    await page.reload();
    await today(page).getByText(CALL).first().waitFor();
    expect(page.problems()).toEqual([]);
  });

  it('says nothing about tokens until the call of the session is loaded', async () => {
    let busy = true;
    const page = await openWith([{ name: 'Test wallet', account: demoWallets(service).premium }], async (opening) => {
      await opening.route('**/api/svc/open/signal*', (route) => {
        if (!busy || route.request().headers().authorization === undefined) return route.continue();
        return route.fulfill({ status: 429, json: { code: 'RATE_LIMITED', detail: 'Too many requests' } });
      });
    });
    await unlock(page, 'Test wallet');
    await today(page).getByText('Too many requests.').waitFor();
    expect(await today(page).innerText()).not.toMatch(/no longer holds|revealed/);
    busy = false;
    await page.getByRole('radio', { name: '2 days' }).check();
    await today(page).getByText(CALL).first().waitFor();
  });

  it('drops a call that arrives after logout', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isOut = false;
    const page = await openWith([{ name: 'Test wallet', account: demoWallets(service).premium }], async (opening) => {
      await opening.route('**/api/svc/open/signal*', async (route) => {
        const response = await route.fetch();
        if (route.request().headers().authorization !== undefined) await released;
        await route.fulfill({ response });
      });
      // The anonymous response is withheld, so that the late call would be shown alone.
      await opening.route('**/api/svc/scorecard*', (route) => (isOut ? undefined : route.continue()));
    });
    const isOwn = (request: Request) => request.url().includes('open/signal') && request.headers().authorization !== undefined;
    const [own] = await Promise.all([page.waitForEvent('request', isOwn), unlock(page, 'Test wallet')]);
    isOut = true;
    await page.getByRole('button', { name: 'Log out' }).click();
    release();
    await (await own.response())?.finished();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await today(page).innerText()).not.toMatch(CALL);
  });

  it('logs out when the wallet switches accounts, after a reload too', async () => {
    const page = await unlocked();
    await page.reload();
    await today(page).getByText(CALL).first().waitFor();
    const own = demoWallets(service).premium.address.toLowerCase();
    // biome-ignore lint/suspicious/noExplicitAny: what the wallet's script has put there
    const turnTo = (accounts: string[]) => page.evaluate((to) => (window as any).turnTo('Test wallet', to), accounts);
    await turnTo([own]);
    expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(1);
    // Hidden values disappear at once, even when the service does not answer.
    await page.context().setOffline(true);
    await turnTo([demoWallets(service).basic.address]);
    await page.getByText(/The wallet switched accounts.*The service could not be reached/).waitFor();
    expect(await today(page).innerText()).not.toMatch(CALL);
    await page.context().setOffline(false);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Connected', { exact: true }).waitFor();
  });

  it('renews an expiring session on request and keeps open elements', async () => {
    const { premium, basic } = demoWallets(service);
    const first = JSON.stringify({
      ...{ token: await loginToken(service, 'premium'), wallet: premium.address, tier: 'premium' },
      expiresAt: new Date(Date.now() + 240_000).toISOString(),
    });
    const page = await openWith([{ name: 'Test wallet', account: premium, before: basic }], async (opening) => {
      const keep = (session: string) => {
        sessionStorage.setItem('oracle-session', session);
        sessionStorage.setItem('oracle-wallet', 'wallet0.example');
      };
      await opening.addInitScript(keep, first);
    });
    await today(page).getByText(CALL).first().waitFor();
    await openTab(page, 'events');
    await page.locator('#events').getByText('Live.').waitFor();
    const heard = page.locator('#events .events li');
    const before = await heard.count();
    await page
      .locator('#today [data-part=call] strong, #events .events li')
      .evaluateAll((all) => all.map((one) => one.classList.add('kept')));
    const reconnected = page.waitForEvent('websocket');
    await page.getByRole('banner').getByRole('button', { name: 'Renew' }).press('Enter');
    await page
      .getByRole('banner')
      .getByText(/expires in (29|30) minutes/)
      .waitFor();
    expect(await page.getByRole('button', { name: 'Renew' }).count()).toBe(0);
    expect(await focused(page)).toBe('Renewed.');
    await reconnected;
    await page.locator('#events').getByText('Live.').waitFor();
    expect(await page.locator('.kept').count()).toBe(before + 1);
    expect(await heard.count()).toBe(before);
    expect(await page.evaluate(() => sessionStorage.getItem('oracle-session'))).not.toContain(JSON.parse(first).token);
    expect(page.problems()).toEqual([]);
  });

  it('views the page as a demo wallet, and as the public again', async () => {
    const page = await openWith([]);
    const viewAs = (name: string) => page.getByRole('group', { name: /View as/ }).getByRole('button', { name });
    await viewAs('Premium').click();
    await today(page).getByText(CALL).first().waitFor();
    expect(await viewAs('Premium').getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('#account').innerText()).toMatch(/Premium[\s\S]*expires in/);
    await viewAs('Public').click();
    await today(page).getByText(HIDDEN).waitFor();
    expect(await viewAs('Public').getAttribute('aria-pressed')).toBe('true');
    expect(page.problems()).toEqual([]);
  });

  it('buys the call as the demo buyer once, although clicks repeat and the reply is lost', async () => {
    const paid: string[] = [];
    const page = await openWith([], async (opening) => {
      await opening.route('**/oracle?horizon=*', async (route) => {
        const payment = route.request().headers()['payment-signature'];
        if (payment === undefined) return route.continue();
        paid.push(payment);
        if (paid.length > 1) return route.continue();
        await route.fetch();
        await route.abort();
      });
    });
    const wallet = demoWallets(service).buyer.address;
    const { asset } = service.http.commerce.merchant;
    const before = await stablecoins(service)(wallet);
    await withSignal(service, 'BUY', async () => {
      await page
        .getByRole('group', { name: /View as/ })
        .getByRole('button', { name: 'Buyer' })
        .click();
      await dialog(page).getByText('0.001 USD', { exact: true }).waitFor();
      expect(await dialog(page).getByTitle(asset, { exact: false }).count()).toBe(1);
      await dialog(page).getByRole('button', { name: 'as the demo buyer' }).dblclick();
      await dialog(page).locator('.call-word', { hasText: 'BUY' }).waitFor();
    });
    expect(new Set(paid).size).toBe(1);
    expect(paid).toHaveLength(2);
    expect(before - (await stablecoins(service)(wallet))).toBe(1_000n);
    await dialog(page).getByRole('button', { name: 'Check receipt and transaction' }).click();
    await dialog(page).locator('.purchase-checks li').first().waitFor();
    expect(await dialog(page).locator('.purchase-checks li').allInnerTexts()).toEqual(Array(4).fill(expect.stringMatching(/^✓/)));
    // It is still there after a reload, and nothing is paid for it again.
    await page.reload();
    await today(page)
      .getByText(/Bought; the newest until/)
      .waitFor();
    await today(page).getByText('Receipt', { exact: true }).click();
    await dialog(page).locator('.call-word', { hasText: 'BUY' }).waitFor();
    expect(paid).toHaveLength(2);
  });

  it('buys the call from a wallet of the browser, which may decline', async () => {
    const page = await openWith([
      { name: 'Declining', account: demoWallets(service).buyer, declines: true },
      { name: 'Poor', account: demoWallets(service).poor },
      { name: 'Paying', account: demoWallets(service).buyer },
    ]);
    const pay = (name: string) =>
      dialog(page)
        .getByRole('button', { name: `with ${name}` })
        .click();
    await withSignal(service, 'BUY', async () => {
      await today(page).getByText('Buy', { exact: true }).click();
      await pay('Declining');
      await dialog(page).getByText('You declined in the wallet. Nothing was signed or sent.').waitFor();
      await pay('Poor');
      await dialog(page)
        .getByText(/Nothing was paid.*holds less than 0.001 USD/)
        .waitFor();
      await pay('Paying');
      await dialog(page).locator('.call-word', { hasText: 'BUY' }).waitFor();
    });
    expect(await dialog(page).innerText()).toContain('0.001 USD');
  });

  it('offers an injected wallet', async () => {
    const page = await openWith([{ name: 'Silent', account: demoWallets(service).basic, isSilent: true }]);
    await unlock(page, 'Browser wallet');
    await today(page).getByText(CALL).first().waitFor();
  });

  it('hides the call when the token has expired', async () => {
    const page = await openWith([{ name: 'Test wallet', account: demoWallets(service).basic }], (opening) => opening.clock.install());
    await unlock(page, 'Test wallet');
    await today(page).getByText(CALL).first().waitFor();
    expect(await focused(page)).toBe('Logged in.');
    // A repeated key press must not trigger another action.
    const out = page.getByRole('button', { name: 'Log out' });
    await out.focus();
    await page.clock.fastForward('26:00');
    await page.getByRole('button', { name: 'Renew' }).waitFor();
    expect(await focused(page)).toBe('Log out');
    await page.clock.fastForward('05:00');
    await page.getByText('The session has ended').waitFor();
    expect(await focused(page)).toMatch(/^The session has ended/);
    await today(page).getByText(HIDDEN).waitFor();
    await today(page).getByRole('button', { name: 'Unlock again' }).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('oracle-session'))).toBeNull();
  });

  const ended = (page: Page, name: string) => page.getByText(new RegExp(`^${name}, made .*: revoked\\.$`));

  it('the page of access makes a key for a wallet, shows it once, and ends it', async () => {
    const wallet = { name: 'Test wallet', account: demoWallets(service).premium };
    const page = await browser.open(`${served.url}/access`, { init: (opening) => installWallets(opening, [wallet]) });
    await page.getByRole('button', { name: 'Test wallet' }).click();
    await page.getByText('This wallet has granted no access.').waitFor();
    await page.getByLabel('Name').fill('Trading bot');
    await page.getByLabel('Tier').selectOption('premium');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const key = await page.getByLabel('Your key').inputValue();
    const example = await page.locator('.made-key pre').innerText();
    expect(example).toContain(`export ORACLE_TOKEN=${key}`);
    const [url] = /https?:\S+/.exec(example)!;
    expect((await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
    const row = page.getByRole('row', { name: 'Trading bot' });
    expect(await row.innerText()).toMatch(/API key\s+Premium\s+20\d\d-.* UTC\s+never\s+20\d\d-/);
    const asBot = () => fetch(`${served.url}/api/svc/webhooks`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await asBot()).status).toBe(200);
    expect(await findings(page)).toEqual([]);

    // A reload knows the session, and shows no key.
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 800 });
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await findings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.getByRole('button', { name: 'Revoke Trading bot' }).click();
    await dialog(page).getByRole('button', { name: 'Keep it' }).click();
    expect((await asBot()).status).toBe(200);
    await page.getByRole('button', { name: 'Revoke Trading bot' }).click();
    expect(await findings(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Revoke access' }).click();
    await ended(page, 'Trading bot').waitFor();
    expect((await asBot()).status).toBe(401);

    // The session lists and ends; a key is signed for by the wallet, which the page finds.
    await page.getByLabel('Name').fill('Second bot');
    await page.getByRole('button', { name: 'Make a key' }).click();
    expect(await page.getByLabel('Your key').inputValue()).toMatch(/^bso_/);
    await page.getByRole('row', { name: 'Second bot' }).waitFor();
    expect(page.problems()).toEqual([]);
  });

  it('the page of access lets a wallet without tokens see and end what it has granted', async () => {
    const { poor } = demoWallets(service);
    const now = service.http.now();
    const gate = { tier: 'basic' as const, balance: '500000000', blockNumber: 1 };
    const key = { _id: 'key_1', hash: 'h', wallet: poor.address, label: 'Old bot', tier: 'basic' as const, gate, gateReadAt: now };
    await new ApiKeyStore(service.database.db).add({ ...key, createdAt: now, expiresAt: null, lastUsedAt: null });
    const page = await browser.open(`${served.url}/access`, {
      init: (opening) => installWallets(opening, [{ name: 'Poor', account: poor }]),
    });
    await page.getByRole('button', { name: 'Poor' }).click();
    await page.getByText('This wallet has no tier for a login').waitFor();
    await page.getByRole('button', { name: 'Revoke Old bot' }).click();
    await dialog(page).getByRole('button', { name: 'Revoke access' }).click();
    await ended(page, 'Old bot').waitFor();
    await page.getByText('This wallet has granted no access.').waitFor();
  });
});
