import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchWallet } from '../../../../src/page/browser/unlock.ts';
import { emptyStorage } from '../page-globals.ts';

const ACCOUNT = `0x${'ab'.repeat(20)}`;
let storage: Storage;
let page: EventTarget;

beforeEach(() => {
  vi.useFakeTimers();
  storage = emptyStorage();
  load();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Simulates a reload, which forgets announced wallets. */
function load(): void {
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('dispatchEvent', page.dispatchEvent.bind(page));
}

function providerOf() {
  const heard: ((accounts: unknown) => void)[] = [];
  const on = (_event: string, listener: (accounts: unknown) => void) => void heard.push(listener);
  return { provider: { request: async () => [], on }, turnTo: (accounts: unknown) => heard.forEach((listener) => void listener(accounts)) };
}

function announce(provider: object, rdns: string): void {
  const info = { uuid: `uuid of ${rdns}`, name: rdns, icon: null, rdns };
  page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
}

it('watches an injected wallet that announces itself after a reload', () => {
  const [{ provider, turnTo }, other] = [providerOf(), providerOf()];
  vi.stubGlobal('ethereum', provider);
  const first = watchWallet({ onAccounts: () => {}, storage });
  vi.advanceTimersByTime(500);
  first.use(first.all[0]!);
  load();
  const onAccounts = vi.fn();
  const watch = watchWallet({ onAccounts, storage });
  announce(other.provider, 'other.example');
  expect(watch.used).toBeNull();
  announce(provider, 'late.example');
  expect(watch.used?.rdns).toBe('late.example');
  turnTo([ACCOUNT.toUpperCase()]);
  expect(onAccounts).toHaveBeenCalledExactlyOnceWith([ACCOUNT]);
});

it('does not confuse another injected wallet with the one that has logged in', () => {
  const { provider } = providerOf();
  vi.stubGlobal('ethereum', provider);
  storage.setItem('oracle-wallet', 'mine.example');
  const watch = watchWallet({ onAccounts: () => {}, storage });
  announce(provider, 'other.example');
  expect(watch.used).toBeNull();
});
