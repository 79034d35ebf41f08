import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { discoverWallets } from '../../../../src/page/browser/unlock.ts';

const injected = { request: async () => [] };
let page: EventTarget;

beforeEach(() => {
  vi.useFakeTimers();
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('dispatchEvent', page.dispatchEvent.bind(page));
  vi.stubGlobal('ethereum', injected);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function announce(name: string): void {
  const info = { uuid: `uuid of ${name}`, name, icon: null, rdns: `${name}.example` };
  page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request: async () => [] } } }));
}

it('offers the injected wallet when none has announced itself in time', () => {
  const onChange = vi.fn();
  const found = discoverWallets(onChange);
  vi.advanceTimersByTime(499);
  expect(found.all).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(found.all).toEqual([{ id: 'injected', rdns: 'injected', name: 'Browser wallet', icon: null, provider: injected }]);
  expect(onChange).toHaveBeenCalledOnce();
});

it('replaces the injected wallet by an announced one at any time', () => {
  const early = discoverWallets(() => {});
  announce('early');
  vi.advanceTimersByTime(1_000);
  expect(early.all.map(({ name }) => name)).toEqual(['early']);
  const late = discoverWallets(() => {});
  vi.advanceTimersByTime(1_000);
  announce('late');
  expect(late.all.map(({ name }) => name)).toEqual(['late']);
});

it.each([
  ['that it is there', () => page.dispatchEvent(new Event('ethereum#initialized'))],
  ['nothing, and is found when the reader looks for wallets', (ask: () => void) => ask()],
])('offers a wallet that is injected late and dispatches %s', (_, come) => {
  vi.stubGlobal('ethereum', undefined);
  const onChange = vi.fn();
  const found = discoverWallets(onChange);
  vi.advanceTimersByTime(1_000);
  come(found.ask);
  expect(found.all).toEqual([]);
  vi.stubGlobal('ethereum', injected);
  come(found.ask);
  come(found.ask);
  expect(found.all.map(({ id }) => id)).toEqual(['injected']);
  expect(onChange).toHaveBeenCalledOnce();
});

it('waits for announcements before offering the injected wallet', () => {
  const found = discoverWallets(() => {});
  found.ask();
  page.dispatchEvent(new Event('ethereum#initialized'));
  expect(found.all).toEqual([]);
});

it.each([undefined, null, 'a text', {}, { request: 'no function' }])('does not offer %j as a wallet', (ethereum) => {
  vi.stubGlobal('ethereum', ethereum);
  const found = discoverWallets(() => {});
  vi.advanceTimersByTime(1_000);
  expect(found.all).toEqual([]);
});
