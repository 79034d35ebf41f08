import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, expect, it, vi } from 'vitest';
import { createOfferSigner, SignedOffers, type SignOffer, toOfferTypedData } from '../../../src/commerce/receipt-signer.ts';
import type { SignedOffer } from '../../../src/commerce/receipts.ts';
import { createLog } from '../../../src/platform/log.ts';

const account = privateKeyToAccount(generatePrivateKey());
const log = createLog({ level: 'silent', secrets: [] });
const asset = '0x00000000000000000000000000000000000000cc';
const requirements = { scheme: 'exact', network: 'eip155:84532', asset, payTo: asset, amount: '1000' };
const terms = { resourceUrl: 'https://oracle.test/oracle?horizon=7d', requirements };
const WINDOW_MS = 300_000;

afterEach(() => void vi.useRealTimers());

function bench(sign: SignOffer = createOfferSigner(account)) {
  const clock = { ms: 4_000 * WINDOW_MS + 1 };
  const signer = vi.fn(sign);
  return { clock, signer, offers: new SignedOffers({ sign: signer, log, now: () => new Date(clock.ms) }) };
}

it('signs once for a thousand quotes of a resource in a window, and again in the next window', async () => {
  const { clock, signer, offers } = bench();
  expect(offers.find(terms)).toBeNull();
  const [first, ...others] = await Promise.all(Array.from({ length: 1_000 }, () => offers.get(terms)));
  expect(new Set(others)).toEqual(new Set([first]));
  expect(offers.find(terms)).toBe(first);
  expect(signer).toHaveBeenCalledTimes(1);
  clock.ms += WINDOW_MS;
  const next = (await offers.get(terms)) as SignedOffer;
  expect([signer.mock.calls.length, next.payload.validUntil - first!.payload.validUntil]).toEqual([2, 300]);
});

it('offers the terms for at least as long as an authorization is valid, and names its signer', async () => {
  const { clock, offers } = bench();
  clock.ms += WINDOW_MS - 2;
  const { payload, signature, acceptIndex } = (await offers.get(terms)) as SignedOffer;
  expect([payload, acceptIndex]).toEqual([{ version: 1, resourceUrl: terms.resourceUrl, ...requirements, validUntil: 4_002 * 300 }, 0]);
  expect(payload.validUntil - clock.ms / 1_000).toBeGreaterThanOrEqual(300);
  expect(await recoverTypedDataAddress({ ...toOfferTypedData(payload), signature })).toBe(account.address);
});

it('returns no offer while the signer fails, and asks it again after ten seconds at the earliest', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let isDown = true;
  const { signer, offers } = bench(async (offered) => {
    if (isDown) throw new Error('down');
    return createOfferSigner(account)(offered);
  });
  expect([await offers.get(terms), await offers.get(terms)]).toEqual([null, null]);
  isDown = false;
  vi.advanceTimersByTime(9_999);
  expect([await offers.get(terms), signer.mock.calls.length]).toEqual([null, 1]);
  vi.advanceTimersByTime(1);
  expect(await offers.get(terms)).toMatchObject({ format: 'eip712' });
});

it('waits a quarter of a second for a slow signer once, and has its offer later', async () => {
  let finish: (offer: SignedOffer) => void = () => undefined;
  const { offers } = bench(() => new Promise((resolve) => (finish = resolve)));
  const startedAt = performance.now();
  expect(await offers.get(terms)).toBeNull();
  const first = performance.now() - startedAt;
  expect(await offers.get(terms)).toBeNull();
  const second = performance.now() - startedAt - first;
  expect(first).toBeGreaterThanOrEqual(240);
  expect(second).toBeLessThan(100);
  const offer = await createOfferSigner(account)({ ...terms, validUntil: 0 });
  finish(offer);
  await expect.poll(() => offers.get(terms)).toBe(offer);
});
