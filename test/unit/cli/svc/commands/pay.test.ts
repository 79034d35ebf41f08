import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it, onTestFinished } from 'vitest';
import { type Coin, readPendingPayment, removePendingPayment, storePendingPayment } from '../../../../../src/cli/svc/commands/pay.ts';
import { signPayment } from '../../../../../src/commerce/payment-signer.ts';
import { getPaymentExpiry, parsePaymentRequired } from '../../../../../src/payer.ts';
import { removeFolder } from '../../../../support/docs/folders.ts';

const IDENTIFIED = { extensions: { 'payment-identifier': { info: { required: false } } } };

const COIN: Coin = { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', chainId: 8453, rpcUrl: null, isLocal: false };

function header(more: object = {}, required: object = {}): string {
  const offer = {
    ...{ scheme: 'exact', network: 'eip155:8453', amount: '10000', asset: COIN.address, payTo: `0x${'12'.repeat(20)}` },
    ...{ maxTimeoutSeconds: 300, extra: { name: 'USD Coin', version: '2' } },
    ...more,
  };
  return Buffer.from(JSON.stringify({ x402Version: 2, accepts: [offer], ...required })).toString('base64');
}

it.each([1, 300, 600])('accepts an authorization valid for %d seconds', (maxTimeoutSeconds) => {
  expect(parsePaymentRequired(header({ maxTimeoutSeconds }), [COIN]).validForSeconds).toBe(maxTimeoutSeconds);
});

it.each([0, -1, 1.5, 601, 1e15, 1e300])('rejects an authorization valid for %d seconds and names the field', (maxTimeoutSeconds) => {
  expect(() => parsePaymentRequired(header({ maxTimeoutSeconds }), [COIN])).toThrow(
    `valid for ${maxTimeoutSeconds} seconds (maxTimeoutSeconds)`,
  );
});

it('rejects the address of a known coin on another chain', () => {
  expect(parsePaymentRequired(header(), [COIN]).asset).toBe(COIN.address);
  expect(() => parsePaymentRequired(header({ network: 'eip155:84532' }), [COIN])).toThrow('is not a known coin');
});

it('deletes a pending payment only for the call that stored it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'oracle-cli-kept-'));
  onTestFinished(() => removeFolder(home));
  const host = { environment: { XDG_CONFIG_HOME: home } } as never;
  const account = privateKeyToAccount(generatePrivateKey());
  const purchase = { url: 'http://127.0.0.1', path: '/oracle', wallet: account.address };
  const [mine, theirs] = await Promise.all([0, 1].map(() => signPayment(account, parsePaymentRequired(header(), [COIN]), new Date())));
  await storePendingPayment(host, purchase, { signedAt: new Date().toISOString(), payment: theirs });
  await removePendingPayment(host, purchase, mine);
  expect((await readPendingPayment(host, purchase))?.payment).toEqual(theirs);
  await removePendingPayment(host, purchase, theirs);
  expect(await readPendingPayment(host, purchase)).toBeNull();
});

it('names a payment by nothing that its settlement publishes', async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const { extensions, payload } = await signPayment(account, parsePaymentRequired(header({}, IDENTIFIED), [COIN]), new Date());
  const { id } = (extensions as typeof IDENTIFIED & { 'payment-identifier': { info: { id: string } } })['payment-identifier'].info;
  expect(id).toMatch(/^svc_[0-9a-f]{48}$/);
  expect(JSON.stringify(payload)).not.toContain(id.slice(4));
});

it('treats a stored payment with an invalid expiry as not expired', () => {
  const payment = { payload: { authorization: { validBefore: '9'.repeat(30) } } } as never;
  expect(getPaymentExpiry(payment).getTime()).toBeGreaterThan(Date.now());
});
