import fc from 'fast-check';
import type { Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { getSchemaUid } from '../../../../src/chain/eas/attestation-schemas.ts';
import { ZERO_UID } from '../../../../src/dashboard/chain/eas.ts';
import { verifyRow } from '../../../../src/dashboard/check/verify-row.ts';
import type { ScorecardRow } from '../../../../src/dashboard/state/responses.ts';
import { evidence, METADATA, OPEN, OPENING, OPENS, PREVIOUS, prediction, RESOLVES, ROW, resolution, wrongIn } from './evidence.ts';

describe('a resolved row', () => {
  it('is verified without open checks when everything agrees', () => {
    expect(verifyRow(evidence())).toMatchObject({ verdict: 'verified', summary: 'Verified: 48 checks', open: [] });
  });

  const changes: Record<string, fc.Arbitrary<unknown>> = {
    ...{
      date: fc.constant('2026-03-03'),
      horizon: fc.constant('3d'),
      sequence: fc.nat().filter((n) => n > 1),
      status: fc.constantFrom('WIN', 'HOLD', 'PENDING', 'VOID'),
    },
    ...{
      windowOpensAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(2 ** 42) }).map((at) => at.toISOString()),
      resolvesAt: fc.constant('2026-03-05T00:00:00.000Z'),
    },
    ...{
      signal: fc.constantFrom('SELL', 'HOLD', 'GATED', null),
      direction: fc.constantFrom('DOWN', null),
      confidence: fc.double(),
      pUp: fc.double(),
    },
    ...{
      btcPrice: fc.double(),
      btcAtSignal: fc.double(),
      btcAtResolution: fc.double(),
      returnBps: fc.integer(),
      resolvedAt: fc.constantFrom(null, '2026-03-04T00:00:01.000Z'),
    },
    outcome: fc.constantFrom(
      null,
      { actualReturn: 0.0115, actualDirection: 'DOWN', correct: false },
      { actualReturn: -0.0115, actualDirection: 'DOWN', correct: true },
    ),
  };
  const change = fc.oneof(
    ...Object.entries(changes).map(([field, value]) =>
      value.filter((one) => !Object.is(one, ROW[field as keyof ScorecardRow])).map((one) => ({ [field]: one })),
    ),
  );

  it('is a mismatch when any value differs', () => {
    fc.assert(fc.property(change, (changed) => void expect(verifyRow(evidence(changed)).verdict).toBe('mismatch')));
  });

  it.each([
    ['it was made by somebody else', prediction({ attester: `0x${'ee'.repeat(20)}` }), 'prediction attester'],
    ['it is of another schema', prediction({ schema: getSchemaUid('resolution') }), 'prediction schema'],
    ['it can be revoked', prediction({ revocable: true }), 'prediction revocation'],
    ['it was on chain when the window had opened', prediction({ time: OPENS / 1_000 }), 'prediction time'],
    ['it skips the day before', prediction({ refUID: ZERO_UID }), 'prediction link'],
    ['it commits to something else', prediction({}, `0x${'99'.repeat(32)}`), 'resolution commitment'],
    ['its data is of no schema', prediction({ data: '0x1234' }), 'prediction data'],
  ])('is a mismatch when %s', (_, first, caughtBy) => {
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid) }))).toEqual([caughtBy]);
  });

  it.each([
    ['it resolves another one', { refUID: PREVIOUS.uid }, {}, ['reference']],
    ['it came before the end of the window', { time: RESOLVES / 1_000 - 1 }, {}, ['time', 'resolvedAt']],
    ['it reveals another salt', {}, { salt: ZERO_UID }, ['commitment']],
    ['its return is not that of its closes', {}, { returnBps: 0 }, ['return', 'returnBps', 'actualReturn']],
    ['its outcome is not that of its closes', {}, { outcome: 'WIN' }, ['result', 'status', 'correct']],
    ['its signal says another direction', {}, { signal: 'SELL' }, ['commitment', 'call', 'signal']],
  ])('is a mismatch when in its resolution %s', (_, what, values, caughtBy) => {
    const first = prediction();
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid, what, values) }))).toEqual(
      caughtBy.map((field) => `resolution ${field}`),
    );
  });

  it('is a mismatch when the metadata differs', () => {
    expect(wrongIn(evidence({}, { metadata: { bytes: METADATA.slice(1) } }))).toEqual(['prediction metadata']);
  });
});

describe('an unresolved row', () => {
  it('leaves hidden values open', () => {
    const finding = verifyRow(evidence(OPEN, { second: null, now: new Date(OPENS) }));
    expect(finding).toMatchObject({ verdict: 'verified', summary: 'Verified so far: 24 checks', stage: 'open' });
    expect(finding.open.map(({ what }) => what)).toEqual([
      'signal, direction, confidence, P(up) and price at signal time',
      'the close at window open',
      'the outcome',
    ]);
    expect(wrongIn(evidence({ ...OPEN, status: 'WIN' }, { second: null }))).toEqual(['prediction status']);
  });

  it('opens its commitment with the salt, and with no other values', () => {
    const read = { ...OPEN, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889 };
    const revealed = { second: null, salt: OPENING.salt, now: new Date(OPENS) };
    expect(verifyRow(evidence(read, revealed))).toMatchObject({ verdict: 'verified', summary: 'Verified so far: 24 checks' });
    for (const lie of [{ direction: 'DOWN' }, { pUp: 0.58891 }, { btcPrice: 104_117.13 }, { signal: 'SELL' }]) {
      expect(wrongIn(evidence({ ...read, ...lie }, revealed))).toEqual(['prediction commitment']);
    }
  });

  it('is void only when late or missed', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const missed = prediction({}, ZERO_UID as Hex);
    const isVoid = { ...OPEN, status: 'VOID' };
    expect(verifyRow(evidence(isVoid, { first: late, second: null })).verdict).toBe('verified');
    expect(verifyRow(evidence({ ...isVoid, missed: true, signal: null }, { first: missed, second: null })).verdict).toBe('verified');
    expect(wrongIn(evidence(isVoid, { second: null }))).toEqual(['prediction void']);
    expect(wrongIn(evidence({ ...isVoid, missed: true, signal: null }, { second: null }))).toEqual(['prediction missed']);
  });
});

describe('an unchecked row', () => {
  it('is neither verified nor a mismatch', () => {
    const notYet = evidence({ ...OPEN, attestationUid: null }, { second: null, now: new Date(OPENS - 1) });
    expect(verifyRow(notYet)).toMatchObject({
      verdict: 'unchecked',
      checks: [],
      summary: expect.stringContaining('it is not on chain yet'),
    });
    expect(verifyRow({ ...notYet, now: new Date(OPENS) }).summary).toContain(
      'it is not on chain, and its window opened at 2026-03-02T00:00 UTC',
    );
    expect(verifyRow(evidence({}, { prediction: { problem: 'it is silent' } }))).toMatchObject({
      verdict: 'unchecked',
      summary: 'Could not be checked: it is silent',
    });
    expect(verifyRow(evidence({}, { resolution: { problem: 'it is silent' } }))).toMatchObject({ verdict: 'unchecked' });
  });

  it('is a mismatch when a part of it differs', () => {
    expect(verifyRow(evidence({ sequence: 7 }, { resolution: { problem: 'it is silent' } }))).toMatchObject({ verdict: 'mismatch' });
    expect(verifyRow(evidence({}, { prediction: { attestation: null } }))).toMatchObject({
      summary: 'Does not match: prediction attestation',
    });
  });

  it('leaves unavailable metadata open', () => {
    expect(verifyRow(evidence({}, { metadata: { problem: 'gone' } }))).toMatchObject({
      verdict: 'verified',
      open: [{ what: 'the published metadata', why: 'gone', isDue: false }],
    });
  });
});
