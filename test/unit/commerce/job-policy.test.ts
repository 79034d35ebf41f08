import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/chain/agent-commerce.ts';
import { howToPay } from '../../../src/commerce/how-to-pay.ts';
import { type Application, MOST_OFFERS, refusalOf } from '../../../src/commerce/jobs/policy.ts';
import { withheldReason } from '../../../src/commerce/jobs/told.ts';
import { findOffering } from '../../../src/commerce/offerings.ts';
import type { Till } from '../../../src/commerce/till.ts';
import { policyOf } from '../../../src/compose/jobs.ts';
import { loadConfig } from '../../../src/config.ts';

const KNOWN = `0x${'a'.repeat(40)}` as const;
const STRANGER = `0x${'b'.repeat(40)}` as const;
const PROVIDER = `0x${'c'.repeat(40)}` as const;
const AT = new Date('2030-01-01T00:00:00Z');

describe('whose jobs are taken', () => {
  const policy = (chainMode: 'own' | 'real', environment: Record<string, string> = {}) =>
    policyOf({ ...loadConfig(environment), chainMode });

  it('of strangers on a local chain, and on a real one only where a setting says so', () => {
    expect(policy('own')).toMatchObject({ evaluators: [], maxMicros: 5_000_000n });
    expect(policy('real')).toMatchObject({ evaluators: [], maxMicros: 0n, unpaidPauseMs: 86_400_000 });
    expect(policy('real', { AGENT_COMMERCE_MAX_USD: '2' }).maxMicros).toBe(2_000_000n);
    expect(policy('own', { AGENT_COMMERCE_MAX_USD: '0' }).maxMicros).toBe(0n);
  });

  it('is told with the offerings', () => {
    const till = { chainId: 8453, asset: zeroAddress } as unknown as Till;
    const first = (evaluators: (typeof KNOWN)[], maxMicros: bigint) => {
      const jobs = { contract: zeroAddress, provider: PROVIDER, policy: { evaluators, maxMicros } };
      return howToPay({ channel: 'agent-commerce', name: 'svc_bitcoin_signal' }, { till, jobs, signatures: 'required', open: true })
        .steps[0];
    };
    expect(first([KNOWN], 0n)).toMatch(new RegExp(`${KNOWN}\\. Jobs with another one are refused`));
    expect(first([KNOWN], 5_000_000n)).toMatch(new RegExp(`${KNOWN}.*may be your own, are taken up to 5\\.00 USD`));
    expect(first([], 0n)).toContain('none is known');
    const purchase = { channel: 'purchase', name: 'svc_alpha_brief' } as const;
    expect(howToPay(purchase, { till, jobs: null, signatures: 'optional', open: true }).steps[1]).toMatch(/^Transfer/);
  });
});

describe('a job that somebody applies with', () => {
  const job: Job = {
    ...{ jobId: 1n, client: STRANGER, provider: PROVIDER, evaluator: STRANGER, description: '', budget: 0n, hook: zeroAddress },
    ...{ state: 'OPEN', expiresAt: new Date(AT.getTime() + 3_600_000) },
  };
  const application: Application = {
    ...{ job, offering: findOffering('agent-commerce', 'svc_bitcoin_signal')!, provider: PROVIDER, at: AT },
    policy: { evaluators: [KNOWN], maxMicros: 5_000_000n, unpaidPauseMs: 1_000 },
    ...{ hasUnpaid: false, offers: 0, takenUntil: null },
  };
  const until = new Date('2030-01-01T12:00:00Z');
  const known = { ...job, evaluator: KNOWN };
  const funded: Job = { ...job, state: 'FUNDED' };

  it.each<[string, Partial<Application>, string | null]>([
    ['of a stranger', {}, null],
    ['of a stranger, while another one is served', { takenUntil: until }, 'or after 2030-01-01T12:00:00.000Z'],
    ['of a stranger, funded while another one is served', { takenUntil: until, job: funded }, null],
    ['of a known evaluator, while another one is served', { takenUntil: until, job: known }, null],
    ['of a known evaluator and a client who did not pay', { hasUnpaid: true, job: known }, null],
    ['of a client with one offer too many', { offers: MOST_OFFERS }, 'are not funded'],
    ['of a client with one offer too many, known evaluator', { offers: MOST_OFFERS, job: known }, 'are not funded'],
    ['of a client with the last offer', { offers: MOST_OFFERS - 1 }, null],
    ['of a client with many offers, funded', { offers: MOST_OFFERS, job: funded }, null],
  ])('%s', (_, changes, reason) => {
    const refusal = refusalOf({ ...application, ...changes });
    if (reason === null) expect(refusal).toBeNull();
    else expect(refusal).toContain(reason);
  });
});

describe('what a job delivers is handed out', () => {
  const told = (state: Job['state'], accepted = true) =>
    withheldReason({ accepted, reason: 'No such offering.', onChain: { state } as Parameters<typeof withheldReason>[0]['onChain'] });

  it('while it is submitted and once it is completed, and not after it was rejected or has expired', () => {
    expect([told('FUNDED'), told('SUBMITTED'), told('COMPLETED')]).toEqual([null, null, null]);
    expect(told('REJECTED')).toContain('was rejected');
    expect(told('EXPIRED')).toContain('has expired');
    expect(told('FUNDED', false)).toContain('No such offering.');
  });
});
