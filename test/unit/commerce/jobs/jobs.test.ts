import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { buildJobPolicy } from '../../../../src/app/commerce.ts';
import type { OnChainJob } from '../../../../src/chain/erc8183.ts';
import { findJobRejection, type JobApplication, type JobPolicy, MAX_OPEN_OFFERS } from '../../../../src/commerce/jobs/jobs.ts';
import { findOffering, type MerchantConfig } from '../../../../src/commerce/offerings.ts';
import { loadConfig } from '../../../../src/config.ts';
import { getWithheldReason } from '../../../../src/http/routes/jobs.ts';
import { getPaymentInstructions } from '../../../../src/http/routes/offerings.ts';

const KNOWN = `0x${'a'.repeat(40)}` as const;
const STRANGER = `0x${'b'.repeat(40)}` as const;
const PROVIDER = `0x${'c'.repeat(40)}` as const;
const DIRECT = { codeHashes: [`0x${'d'.repeat(64)}`], maxMicros: 1_000_000n, maxOpen: 2 } as const;
const AT = new Date('2030-01-01T00:00:00Z');

describe('job policy', () => {
  const policy = (chainMode: 'own' | 'real', environment: Record<string, string> = {}) =>
    buildJobPolicy({ ...loadConfig(environment), chainMode });

  it('accepts unknown evaluators on a local chain, and on a real chain only by a setting', () => {
    expect(policy('own')).toMatchObject({ evaluators: [], maxMicros: 5_000_000n });
    expect(policy('real')).toMatchObject({ evaluators: [], maxMicros: 0n, unpaidPauseMs: 86_400_000 });
    expect(policy('real', { AGENT_COMMERCE_MAX_USD: '2' }).maxMicros).toBe(2_000_000n);
    expect(policy('own', { AGENT_COMMERCE_MAX_USD: '0' }).maxMicros).toBe(0n);
    expect([policy('own').direct, policy('real').direct]).toEqual([null, null]);
    const direct = { AGENT_COMMERCE_CODE_HASHES: DIRECT.codeHashes[0].replace('d', 'D'), AGENT_COMMERCE_DIRECT_MAX_OPEN: '2' };
    expect(policy('real', direct).direct).toEqual({ ...DIRECT, maxMicros: 5_000_000n });
  });

  it('is described with the offerings', () => {
    const merchant = { chainId: 8453, asset: zeroAddress } as unknown as MerchantConfig;
    const first = (evaluators: (typeof KNOWN)[], maxMicros: bigint, direct: JobPolicy['direct'] = null) => {
      const jobs = { contract: zeroAddress, provider: PROVIDER, policy: { evaluators, maxMicros, direct } };
      return getPaymentInstructions(
        { channel: 'agent-commerce', name: 'svc_bitcoin_signal' },
        { merchant, jobs, signatures: 'required', open: true },
      ).steps[0];
    };
    expect(first([KNOWN], 0n)).toMatch(new RegExp(`${KNOWN}\\. Jobs with another one are refused`));
    expect(first([KNOWN], 5_000_000n)).toMatch(new RegExp(`${KNOWN}.*may be your own, are taken up to 5\\.00 USD`));
    expect(first([], 0n)).toContain('none is known');
    expect(first([], 0n)).not.toContain('zero address');
    expect(first([], 0n, DIRECT)).toMatch(/without an evaluator \(the zero address\).*up to 1\.00 USD/);
    const purchase = { channel: 'purchase', name: 'svc_alpha_brief' } as const;
    expect(getPaymentInstructions(purchase, { merchant, jobs: null, signatures: 'optional', open: true }).steps[1]).toMatch(/^Transfer/);
  });
});

describe('findJobRejection', () => {
  const job: OnChainJob = {
    ...{ jobId: 1n, client: STRANGER, provider: PROVIDER, evaluator: STRANGER, description: '', budget: 0n, hook: zeroAddress },
    ...{ state: 'OPEN', expiresAt: new Date(AT.getTime() + 3_600_000) },
  };
  const application: JobApplication = {
    ...{ job, offering: findOffering('agent-commerce', 'svc_bitcoin_signal')!, provider: PROVIDER, at: AT },
    policy: { evaluators: [KNOWN], maxMicros: 5_000_000n, unpaidPauseMs: 1_000, direct: null },
    ...{ hasUnpaid: false, offers: 0, takenUntil: null, direct: null },
  };
  const until = new Date('2030-01-01T12:00:00Z');
  const known = { ...job, evaluator: KNOWN };
  const funded: OnChainJob = { ...job, state: 'FUNDED' };

  it.each<[string, Partial<JobApplication>, string | null]>([
    ['of a stranger', {}, null],
    ['of a stranger, while another one is served', { takenUntil: until }, 'or after 2030-01-01T12:00:00.000Z'],
    ['of a stranger, funded while another one is served', { takenUntil: until, job: funded }, null],
    ['of a known evaluator, while another one is served', { takenUntil: until, job: known }, null],
    ['of a known evaluator and a client who did not pay', { hasUnpaid: true, job: known }, null],
    ['of a client with one offer too many', { offers: MAX_OPEN_OFFERS }, 'are not funded'],
    ['of a client with one offer too many, known evaluator', { offers: MAX_OPEN_OFFERS, job: known }, 'are not funded'],
    ['of a client with the last offer', { offers: MAX_OPEN_OFFERS - 1 }, null],
    ['of a client with many offers, funded', { offers: MAX_OPEN_OFFERS, job: funded }, null],
  ])('%s', (_, changes, reason) => {
    const refusal = findJobRejection({ ...application, ...changes });
    if (reason === null) expect(refusal).toBeNull();
    else expect(refusal).toContain(reason);
  });
});

describe('findJobRejection of a job without an evaluator', () => {
  const job: OnChainJob = {
    ...{ jobId: 1n, client: STRANGER, provider: PROVIDER, evaluator: zeroAddress, description: '', budget: 0n, hook: zeroAddress },
    ...{ state: 'OPEN', expiresAt: new Date(AT.getTime() + 3_600_000) },
  };
  const facts = { isKnownCode: true, isKnownClient: false, openJobs: 0 };
  const application: JobApplication = {
    ...{ job, offering: findOffering('agent-commerce', 'svc_bitcoin_signal')!, provider: PROVIDER, at: AT },
    policy: { evaluators: [], maxMicros: 0n, unpaidPauseMs: 1_000, direct: DIRECT },
    ...{ hasUnpaid: false, offers: 0, takenUntil: null, direct: facts },
  };
  const funded: OnChainJob = { ...job, state: 'FUNDED' };
  const takenUntil = new Date('2030-01-01T12:00:00Z');
  const returning = { ...facts, isKnownClient: true, openJobs: 9 };

  it.each<[string, Partial<JobApplication>, string | null]>([
    ['accepts a new client', {}, null],
    ['rejects every such job by default', { policy: { ...application.policy, direct: null } }, 'has no evaluator'],
    ['rejects unknown code', { direct: { ...facts, isKnownCode: false } }, 'none that is known'],
    [
      'rejects unknown code where the zero address is listed as an evaluator',
      { policy: { ...application.policy, evaluators: [zeroAddress] }, direct: { ...facts, isKnownCode: false } },
      'none that is known',
    ],
    ['rejects unknown code for a returning client', { direct: { ...returning, isKnownCode: false } }, 'none that is known'],
    [
      'rejects a price above the limit',
      { policy: { ...application.policy, direct: { ...DIRECT, maxMicros: 999_999n } } },
      'up to 0.999999',
    ],
    ['rejects after an unpaid one', { hasUnpaid: true, direct: returning }, 'not paid'],
    ['rejects one too many of new clients', { direct: { ...facts, openJobs: 2 } }, '2 jobs without an evaluator'],
    ['accepts one too many once it is funded', { direct: { ...facts, openJobs: 2 }, job: funded }, null],
    ['accepts any number of a returning client', { direct: returning, takenUntil }, null],
    ['rejects a new client while another is served', { takenUntil }, 'one at a time'],
    ['rejects a hook', { job: { ...job, hook: KNOWN } }, 'has a hook'],
  ])('%s', (_, changes, reason) => {
    const rejection = findJobRejection({ ...application, ...changes });
    if (reason === null) expect(rejection).toBeNull();
    else expect(rejection).toContain(reason);
  });
});

describe('getWithheldReason', () => {
  const nextStep = (state: OnChainJob['state'], accepted = true) =>
    getWithheldReason({ accepted, reason: 'No such offering.', onChain: { state } as Parameters<typeof getWithheldReason>[0]['onChain'] });

  it('withholds the deliverable only after rejection or expiry', () => {
    expect([nextStep('FUNDED'), nextStep('SUBMITTED'), nextStep('COMPLETED')]).toEqual([null, null, null]);
    expect(nextStep('REJECTED')).toContain('was rejected');
    expect(nextStep('EXPIRED')).toContain('has expired');
    expect(nextStep('FUNDED', false)).toContain('No such offering.');
  });
});
