import { expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { emptyStorage } from './page-globals.ts';

const WALLET = `0x${'aB'.repeat(20)}`;
const inAs = (token: string, what: object = {}) => ({
  ...{ token, wallet: WALLET, tier: 'basic', expiresAt: new Date(Date.now() + 60_000).toISOString(), ...what },
});

function watched() {
  const session = createSession(emptyStorage());
  const [changed, renewed] = [vi.fn(), vi.fn()];
  session.onChange(changed);
  session.onRenewal(renewed);
  return { session, countCalls: () => [changed.mock.calls.length, renewed.mock.calls.length] };
}

it('treats a new token of the same reader as a renewal', () => {
  const { session, countCalls } = watched();
  session.set(inAs('one'));
  expect(countCalls()).toEqual([1, 0]);
  session.set(inAs('two', { wallet: WALLET.toLowerCase() }));
  expect(countCalls()).toEqual([1, 1]);
  expect(session.current?.token).toBe('two');
});

it.each([
  ['another wallet', inAs('one'), { wallet: `0x${'00'.repeat(20)}` }],
  ['another tier', inAs('one'), { tier: 'premium' }],
  ['the same after his session has run out', inAs('one', { expiresAt: new Date(Date.now() - 1).toISOString() }), {}],
])('notifies of a change for %s', (_, before, next) => {
  const { session, countCalls } = watched();
  session.set(before);
  session.set(inAs('two', next));
  expect(countCalls()).toEqual([2, 0]);
});

it('distinguishes an expired session from a logout until the next login', () => {
  const { session, countCalls } = watched();
  session.set(inAs('one'));
  session.set(null);
  expect(session.hasEnded).toBe(false);
  session.set(inAs('two'));
  session.end();
  expect([session.hasEnded, session.current]).toEqual([true, null]);
  expect(countCalls()).toEqual([4, 0]);
  session.set(inAs('three'));
  expect(session.hasEnded).toBe(false);
});
