import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SignedPayment } from '../../../../src/commerce/payment-signer.ts';
import { ApiProblem } from '../../../../src/page/browser/api.ts';
import { createPurchase, type PaidAnswer, SigningError } from '../../../../src/page/browser/buy.ts';
import { emptyStorage } from './page-globals.ts';

const VALID_SECONDS = 300;

afterEach(() => vi.unstubAllGlobals());

const lost = () => new ApiProblem({ code: 'UNREACHABLE', detail: 'The service does not answer' });
const rejection = (reason: string) => new ApiProblem({ code: 'PAYMENT_REQUIRED', detail: reason, reason });

type Fate = 'answered' | 'answer lost' | 'request lost' | 'overloaded' | 'poor';

/** A seller that settles each payment once, and answers it again whenever it comes back. */
function createWorld({ fates = [] as Fate[], storage = emptyStorage() } = {}) {
  const world = { nowMs: 1_000_000, signed: 0, sent: [] as string[], settled: new Set<string>(), fates, storage };

  function sign(): Promise<SignedPayment> {
    world.signed += 1;
    const validBefore = String(Math.floor(world.nowMs / 1_000) + VALID_SECONDS);
    const authorization = { from: '0x1', to: '0x2', value: '1000', validAfter: '0', validBefore, nonce: String(world.signed) };
    return Promise.resolve({
      x402Version: 2,
      resource: {},
      accepted: {} as SignedPayment['accepted'],
      payload: { signature: '0x00', authorization },
      extensions: { 'payment-identifier': { info: { id: `id-${world.signed}` } } },
    });
  }

  async function deliver({ payload: { authorization } }: SignedPayment): Promise<PaidAnswer> {
    const { nonce, validBefore } = authorization;
    world.sent.push(nonce);
    const fate = world.fates.shift() ?? 'answered';
    if (fate === 'request lost') throw lost();
    if (fate === 'overloaded') throw new ApiProblem({ code: 'OVERLOADED', detail: 'Busy', retryAfterSeconds: 2 });
    if (!world.settled.has(nonce)) {
      if (Number(validBefore) * 1_000 <= world.nowMs) throw rejection('expired');
      if (fate === 'poor') throw rejection('insufficient_funds');
      world.settled.add(nonce);
    }
    if (fate === 'answer lost') throw lost();
    return { nonce };
  }

  const open = () =>
    createPurchase({ path: 'oracle?horizon=7d', storage: world.storage, deliver, pause: async () => undefined, now: () => world.nowMs });
  return Object.assign(world, { sign, open });
}

describe('a purchase', () => {
  it('signs and pays once for a double click', async () => {
    const world = createWorld();
    const purchase = world.open();
    await Promise.all([purchase.pay('one', world.sign), purchase.pay('one', world.sign), purchase.pay('two', world.sign)]);
    expect(purchase.state).toEqual({ step: 'bought', answer: { nonce: '1' } });
    expect(world).toMatchObject({ signed: 1, sent: ['1'] });
  });

  it('gets the answer of a lost reply by the same payment', async () => {
    const world = createWorld({ fates: ['answer lost', 'overloaded', 'request lost'] });
    const purchase = world.open();
    await purchase.pay('one', world.sign);
    expect(purchase.state).toMatchObject({ step: 'bought', answer: { nonce: '1' } });
    expect(world.sent).toEqual(['1', '1', '1', '1']);
  });

  it('stays undecided when no reply comes, and continues after a reload, past the expiry too', async () => {
    const world = createWorld({ fates: ['answer lost', ...Array<Fate>(4).fill('request lost')] });
    const purchase = world.open();
    await purchase.pay('one', world.sign);
    expect(purchase.state.step).toBe('unknown');
    world.nowMs += 2 * VALID_SECONDS * 1_000;
    const reloaded = world.open();
    await reloaded.resume();
    expect(reloaded.state).toMatchObject({ step: 'bought', answer: { nonce: '1' } });
    expect(world).toMatchObject({ signed: 1 });
    expect([...world.settled]).toEqual(['1']);
  });

  it('is not paid from another wallet while undecided', async () => {
    const world = createWorld({ fates: Array<Fate>(5).fill('request lost') });
    const purchase = world.open();
    await purchase.pay('one', world.sign);
    await purchase.pay('two', world.sign);
    expect(world.signed).toBe(1);
    expect(purchase.state.step).toBe('bought');
  });

  it('sends a rejected payment again while it is valid, and signs a new one after that', async () => {
    const world = createWorld({ fates: ['poor', 'poor'] });
    const purchase = world.open();
    await purchase.pay('one', world.sign);
    expect(purchase.state).toMatchObject({ step: 'rejected', problem: { message: 'insufficient_funds' } });
    await purchase.pay('one', world.sign);
    expect(world).toMatchObject({ signed: 1, sent: ['1', '1'] });
    world.nowMs += VALID_SECONDS * 1_000;
    await purchase.pay('one', world.sign);
    expect(world).toMatchObject({ signed: 2, sent: ['1', '1', '2'] });
  });

  it('allows another wallet after a rejection', async () => {
    const world = createWorld({ fates: ['poor'] });
    const purchase = world.open();
    await purchase.pay('one', world.sign);
    await purchase.pay('two', world.sign);
    expect(purchase.state).toMatchObject({ step: 'bought', answer: { nonce: '2' } });
  });

  it('sends nothing when the reader declines', async () => {
    const world = createWorld();
    const purchase = world.open();
    await purchase.pay('one', () => Promise.reject(new SigningError('You declined in the wallet. Nothing was paid.')));
    expect(purchase.state).toEqual({ step: 'failed', message: 'You declined in the wallet. Nothing was paid.' });
    expect(world.sent).toEqual([]);
    await purchase.resume();
    expect(world.sent).toEqual([]);
  });

  it('reports a payment that was used without an answer, and signs no other until it is forgotten', async () => {
    const world = createWorld();
    const used = createPurchase({
      path: 'oracle',
      storage: world.storage,
      deliver: () => Promise.reject(rejection('authorization_nonce_used')),
      pause: async () => undefined,
      now: () => world.nowMs,
    });
    await used.pay('one', world.sign);
    await used.pay('one', world.sign);
    expect(used.state.step).toBe('used');
    expect(world.signed).toBe(1);
    used.forget();
    expect(used.state.step).toBe('idle');
  });

  it('never pays twice, whatever is lost, clicked, reloaded or waited for', async () => {
    const fate = fc.constantFrom<Fate>('answered', 'answer lost', 'request lost', 'overloaded', 'poor');
    const act = fc.constantFrom('click', 'double click', 'other wallet', 'other tab', 'reload', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 40 }), fc.array(act, { maxLength: 20 }), async (fates, acts) => {
        const world = createWorld({ fates: [...fates] });
        let purchase = world.open();
        let other = purchase;
        for (const one of acts) {
          if (one === 'click') await purchase.pay('one', world.sign);
          if (one === 'double click') await Promise.all([purchase.pay('one', world.sign), purchase.pay('one', world.sign)]);
          if (one === 'other wallet') await purchase.pay('two', world.sign);
          if (one === 'other tab') {
            other = world.open();
            await Promise.all([purchase.pay('one', world.sign), other.pay('one', world.sign)]);
          }
          if (one === 'wait') world.nowMs += 200_000;
          if (one === 'reload') {
            purchase = world.open();
            await purchase.resume();
          }
          if ([purchase, other].some(({ state }) => state.step === 'bought')) break;
        }
        expect(world.settled.size).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });
});
