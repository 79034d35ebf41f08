import fc from 'fast-check';
import { zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import { getSchemaUid } from '../../../../src/chain/eas/schemas.ts';
import type { ScorecardRow } from '../../../../src/page/browser/responses.ts';
import {
  evidence,
  evidenceOf,
  evidenceWith,
  LATE,
  METADATA,
  MISSED,
  MISSED_ROW,
  OPEN,
  OPENING,
  OPENS,
  openIn,
  PREVIOUS,
  prediction,
  RESOLVES,
  ROW,
  resolution,
  SILENT,
  VOID_ROW,
  verify,
  wrongIn,
} from './evidence.ts';

describe('a resolved row', () => {
  it('is verified without open checks when everything agrees', () => {
    expect(verify(evidence())).toMatchObject({ verdict: 'pass', summary: 'Verified: 57 checks' });
    expect(openIn(evidence())).toEqual([]);
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
    fc.assert(fc.property(change, (changed) => void expect(verify(evidence(changed)).verdict).toBe('fail')));
  });

  it.each([
    ['it was made by somebody else', prediction({ attester: `0x${'ee'.repeat(20)}` }), ['attester']],
    ['it is of another schema', prediction({ schema: getSchemaUid('resolution') }), ['schema']],
    ['it can be revoked', prediction({ revocable: true }), ['permanent']],
    ['it was on chain when the window had opened', prediction({ time: OPENS / 1_000 }), ['inTime', 'void', 'row']],
    ['it skips the day before', prediction({ refUID: zeroHash }), ['link']],
    ['it commits to something else', prediction({}, `0x${'99'.repeat(32)}`), ['opening', 'row']],
    ['its data is of no schema', prediction({ data: '0x1234' }), ['data']],
  ])('is a mismatch when %s', (_, first, caughtBy) => {
    expect(wrongIn(evidenceWith(first))).toEqual(caughtBy);
  });

  it.each([
    ['it resolves another one', { refUID: PREVIOUS.uid }, {}, ['resolves', 'row']],
    ['it came before the end of the window', { time: RESOLVES / 1_000 - 1 }, {}, ['afterWindow', 'row']],
    ['it reveals another salt', {}, { salt: zeroHash }, ['opening', 'row']],
    ['its return is not that of its closes', {}, { returnBps: 0 }, ['return']],
    ['its outcome is not that of its closes', {}, { outcome: 'WIN' }, ['outcome']],
    ['its signal says another direction', {}, { signal: 'SELL' }, ['values', 'opening', 'row']],
  ])('is a mismatch when in its resolution %s', (_, what, values, caughtBy) => {
    const first = prediction();
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid, what, values) }))).toEqual(caughtBy);
  });

  it('is a mismatch when the metadata differs', () => {
    expect(wrongIn(evidence({}, { metadata: METADATA.slice(1) }))).toEqual(['metadata']);
  });
});

describe('an unresolved row', () => {
  it('leaves hidden values open', () => {
    const unresolved = evidence(OPEN, { second: null, now: new Date(OPENS) });
    expect(verify(unresolved)).toMatchObject({ verdict: 'pass', summary: 'Verified so far: 33 checks', stage: 'open' });
    expect(openIn(unresolved)).toEqual(['opening', 'revealed', 'price']);
    expect(wrongIn(evidence({ ...OPEN, status: 'WIN' }, { second: null }))).toEqual(['row']);
  });

  it('opens its commitment with the salt, and with no other values', () => {
    const read = { ...OPEN, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889 };
    const revealed = { second: null, salt: OPENING.salt, now: new Date(OPENS) };
    expect(verify(evidence(read, revealed))).toMatchObject({ verdict: 'pass', summary: 'Verified so far: 33 checks' });
    for (const lie of [{ direction: 'DOWN' }, { pUp: 0.58891 }, { btcPrice: 104_117.13 }, { signal: 'SELL' }]) {
      expect(wrongIn(evidence({ ...read, ...lie }, revealed))).toEqual(['opening']);
    }
  });

  it('is void only when late or missed', () => {
    expect(verify(evidence(VOID_ROW, { first: LATE, second: null })).verdict).toBe('pass');
    expect(verify(evidence(MISSED_ROW, { first: MISSED, second: null })).verdict).toBe('pass');
    expect(wrongIn(evidence(VOID_ROW, { second: null }))).toEqual(['inTime', 'row']);
    expect(wrongIn(evidence(MISSED_ROW, { second: null }))).toEqual(['inTime', 'row']);
  });
});

describe('an unchecked row', () => {
  it('is neither verified nor a mismatch', () => {
    const notYet = evidence({ ...OPEN, attestationUid: null }, { prediction: null, second: null, now: new Date(OPENS - 1) });
    expect(verify(notYet)).toMatchObject({
      verdict: 'unknown',
      summary: expect.stringContaining('it is not on chain yet'),
    });
    expect(verify({ ...notYet, now: new Date(OPENS) }).summary).toContain(
      'it is not on chain, and its window opened at 2026-03-02T00:00:00.000Z',
    );
    expect(verify(evidence({}, { prediction: evidenceOf('prediction', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'unknown',
      summary: 'Could not be checked: it is silent',
    });
    expect(verify(evidence({}, { resolution: evidenceOf('resolution', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('is a mismatch when a part of it differs', () => {
    expect(verify(evidence({ sequence: 7 }, { resolution: evidenceOf('resolution', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'fail',
    });
    expect(verify(evidence({}, { prediction: evidenceOf('prediction', PREVIOUS.uid, null) }))).toMatchObject({
      summary: 'Does not match: found',
    });
  });

  it('leaves unavailable metadata open', () => {
    const given = evidence({}, { metadata: { problem: 'gone' } });
    expect(verify(given).verdict).toBe('pass');
    expect(openIn(given)).toEqual(['metadata']);
  });
});
