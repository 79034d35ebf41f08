import fc from 'fast-check';
import { type Address, zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { JOB_STATES } from '../../../../src/chain/erc8183.ts';
import { parseJobDescription } from '../../../../src/commerce/jobs/processing.ts';
import { describeNextStep } from '../../../../src/http/routes/jobs.ts';

const NAMES = ['svc_bitcoin_signal', 'svc_market_context', 'svc_crowd_vs_oracle'];

describe('parseJobDescription', () => {
  it('accepts an offering with an optional horizon and ref code', () => {
    const ref = fc.option(fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9_-]{2,31}$/), { nil: undefined });
    const horizon = fc.constantFrom(undefined, '7d', '7', 7);
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), ref, horizon, (offering, code, asked) => {
        const order = parseJobDescription(JSON.stringify({ offering, ref: code, horizon: asked }));
        expect(order).toMatchObject({ offering: { name: offering, channel: 'agent-commerce' }, ref: code?.toLowerCase() ?? null });
      }),
    );
  });

  it('rejects any other text without quoting it', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 3_000, unit: 'binary' }),
      fc.json(),
      fc.json().map((json) => `{"offering":${json}}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const order = parseJobDescription(text);
        if (!('refused' in order)) return;
        expect(order.refused.length).toBeLessThan(200);
        if (text.length > 12) expect(order.refused).not.toContain(text);
      }),
    );
  });

  it('limits the size in bytes, not in characters', () => {
    const text = `svc_bitcoin_signal${' '.repeat(400)}`;
    expect(parseJobDescription(text)).toHaveProperty('offering');
    expect(parseJobDescription(`${text}${'\u3000'.repeat(300)}`)).toHaveProperty('refused');
  });
});

describe('describeNextStep', () => {
  const expiresAt = new Date(10_000);
  type OnChain = Parameters<typeof describeNextStep>[0]['onChain'];
  const evaluator = `0x${'e'.repeat(40)}` as const;
  const nextStep = (state: (typeof JOB_STATES)[number], accepted: boolean | null, nowMs: number, by: Address = evaluator) =>
    describeNextStep({ accepted, onChain: { state, expiresAt, evaluator: by } as OnChain }, new Date(nowMs));

  it('returns a sentence for every state, decision and time', () => {
    for (const state of JOB_STATES)
      for (const accepted of [true, false, null])
        for (const at of [0, 20_000]) expect(nextStep(state, accepted, at)).toMatch(/^[A-Z].*\.$/);
  });

  it.each([
    ['OPEN', true, 0, 'calls fund'],
    ['OPEN', false, 0, 'creates another one'],
    ['OPEN', null, 20_000, 'has expired'],
    ['FUNDED', true, 0, 'composes'],
    ['FUNDED', false, 20_000, 'claimRefund'],
    ['SUBMITTED', true, 0, 'calls complete'],
    ['SUBMITTED', true, 20_000, 'claimRefund'],
    ['COMPLETED', true, 20_000, 'is paid'],
  ] as const)('%s, accepted %s, at %i: %s', (state, accepted, at, expected) => {
    expect(nextStep(state, accepted, at)).toContain(expected);
  });

  it('SUBMITTED without an evaluator: the contract has not paid', () => {
    expect(nextStep('SUBMITTED', true, 0, zeroAddress)).toContain('has not');
    expect(nextStep('SUBMITTED', true, 20_000, zeroAddress)).toContain('claimRefund');
  });
});
