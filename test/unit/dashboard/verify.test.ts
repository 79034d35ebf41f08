import fc from 'fast-check';
import type { Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { commitmentOf } from '../../../src/chain/commitment.ts';
import { encodePrediction, encodeResolution, schemaUid } from '../../../src/chain/schemas.ts';
import type { ScorecardRow } from '../../../src/dashboard/lib/answers.ts';
import { digestOf } from '../../../src/dashboard/lib/cid.js';
import { uidOf, ZERO } from '../../../src/dashboard/lib/eas.js';
import { checkRow } from '../../../src/dashboard/lib/verify.js';

const ATTESTER = '0x00000000000000000000000000000000000000aa';
const OPENS = Date.parse('2026-03-02T00:00:00Z');
const RESOLVES = Date.parse('2026-03-04T00:00:00Z');
const METADATA = new TextEncoder().encode('{"date":"2026-03-01"}');
const PREVIOUS = `0x${'77'.repeat(32)}`;
const OPENING = {
  salt: `0x${'51'.repeat(32)}`,
  signal: 'BUY',
  direction: 'UP',
  confidenceBps: 5_889,
  pUpBps: 5_889,
  btcPriceCents: 10_411_712,
} as const;
const CLOSES = { btcAtSignalCents: 10_375_737, btcAtResolutionCents: 10_256_900, returnBps: -115, outcome: 'LOSS' } as const;

/** An attestation that the contract would hold. */
function attested(what: object) {
  const blank = { expirationTime: 0, revocationTime: 0, recipient: `0x${'00'.repeat(20)}`, attester: ATTESTER, revocable: false };
  const content = { ...blank, refUID: ZERO, data: '0x', time: 0, schema: ZERO, uid: '', ...what };
  return { ...content, uid: uidOf(content) };
}

function prediction(what: object = {}, commitment: Hex = commitmentOf(OPENING)) {
  const place = {
    sequence: 60,
    day: OPENS / 86_400_000 - 1,
    horizonDays: 2,
    windowOpensAt: new Date(OPENS),
    resolvesAt: new Date(RESOLVES),
  };
  const data = encodePrediction({ ...place, commitment, inputsDigest: `0x${'bb'.repeat(32)}`, metadata: digestOf(METADATA) as Hex });
  return attested({ schema: schemaUid('prediction'), time: OPENS / 1_000 - 8_520, refUID: PREVIOUS, data, ...what });
}

function resolution(refUID: string, what: object = {}, told: object = {}) {
  const data = encodeResolution({ ...OPENING, ...CLOSES, ...told });
  return attested({ schema: schemaUid('resolution'), time: RESOLVES / 1_000, refUID, data, ...what });
}

const ROW = {
  ...{ date: '2026-03-01', predictionId: '2026-03-01:2d', horizon: '2d', sequence: 60, status: 'LOSS', regime: 'CHOP', modelVersion: 'm0' },
  ...{ windowOpensAt: '2026-03-02T00:00:00.000Z', resolvesAt: '2026-03-04T00:00:00.000Z', timestamp: '2026-03-01T21:35:00.000Z' },
  ...{ replayed: false, late: false, missed: false, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889, btcPrice: 104_117.12 },
  ...{ btcAtSignal: 103_757.37, btcAtResolution: 102_569, resolved: true, returnBps: -115, resolvedAt: '2026-03-04T00:00:00.000Z' },
  outcome: { actualReturn: -0.0115, actualDirection: 'DOWN', correct: false },
} as unknown as ScorecardRow;

const OPEN = {
  ...{ status: 'PENDING', signal: 'GATED', direction: null, confidence: null, pUp: null, btcAtResolution: null },
  ...{ resolved: false, returnBps: null, resolvedAt: null, outcome: null },
};

type Evidence = Parameters<typeof checkRow>[0];

function evidence(
  row: object = {},
  {
    first = prediction(),
    second = resolution(first.uid) as ReturnType<typeof resolution> | null,
    ...more
  }: object & { first?: ReturnType<typeof prediction>; second?: ReturnType<typeof resolution> | null } & Partial<Evidence> = {},
): Evidence {
  return {
    row: { ...ROW, attestationUid: first.uid, resolutionUid: second?.uid ?? null, ...row },
    attester: ATTESTER.toUpperCase().replace('0X', '0x'),
    prediction: { attestation: first },
    resolution: second === null ? null : { attestation: second },
    ...{ previousUid: PREVIOUS, salt: null, metadata: { bytes: METADATA }, now: new Date(RESOLVES + 1), ...more },
  };
}

const wrongIn = (given: Evidence) =>
  checkRow(given)
    .checks.filter(({ ok }) => !ok)
    .map(({ about, field }) => `${about} ${field}`);

describe('a row against the chain', () => {
  it('is verified when everything agrees, and leaves nothing open', () => {
    expect(checkRow(evidence())).toMatchObject({ verdict: 'verified', words: 'Verified: 39 checks', open: [] });
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

  it('does not match when any value of it is another one', () => {
    fc.assert(fc.property(change, (changed) => void expect(checkRow(evidence(changed)).verdict).toBe('mismatch')));
  });

  it.each([
    ['it was made by somebody else', prediction({ attester: `0x${'ee'.repeat(20)}` }), 'prediction attester'],
    ['it is of another schema', prediction({ schema: schemaUid('resolution') }), 'prediction schema'],
    ['it can be revoked', prediction({ revocable: true }), 'prediction revocation'],
    ['it was on chain when the window had opened', prediction({ time: OPENS / 1_000 }), 'prediction time'],
    ['it skips the day before', prediction({ refUID: ZERO }), 'prediction link'],
    ['it commits to something else', prediction({}, `0x${'99'.repeat(32)}`), 'resolution commitment'],
    ['its data is of no schema', prediction({ data: '0x1234' }), 'prediction data'],
  ])('does not match when %s', (_, first, caughtBy) => {
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid) }))).toEqual([caughtBy]);
  });

  it.each([
    ['it resolves another one', { refUID: PREVIOUS }, {}, ['reference']],
    ['it came before the end of the window', { time: RESOLVES / 1_000 - 1 }, {}, ['time', 'resolvedAt']],
    ['it reveals another salt', {}, { salt: ZERO }, ['commitment']],
    ['its return is not that of its closes', {}, { returnBps: 0 }, ['return', 'returnBps', 'actualReturn']],
    ['its outcome is not that of its closes', {}, { outcome: 'WIN' }, ['result', 'status', 'correct']],
    ['its signal says another direction', {}, { signal: 'SELL' }, ['commitment', 'call', 'signal']],
  ])('does not match when of its resolution %s', (_, what, told, caughtBy) => {
    const first = prediction();
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid, what, told) }))).toEqual(
      caughtBy.map((field) => `resolution ${field}`),
    );
  });

  it('does not match when the metadata is another, or was changed on the way', () => {
    expect(wrongIn(evidence({}, { metadata: { bytes: METADATA.slice(1) } }))).toEqual(['prediction metadata']);
  });
});

describe('a row that is not resolved', () => {
  it('leaves open what is gated, and never claims it', () => {
    const finding = checkRow(evidence(OPEN, { second: null, now: new Date(OPENS) }));
    expect(finding).toMatchObject({ verdict: 'verified', words: 'Verified: 15 checks' });
    expect(finding.open.map(({ what }) => what)).toEqual(['signal, direction, confidence and P(up)', 'the outcome']);
    expect(wrongIn(evidence({ ...OPEN, status: 'WIN' }, { second: null }))).toEqual(['prediction status']);
  });

  it('opens with the salt of those who may read it, and with no other values', () => {
    const read = { ...OPEN, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889 };
    const told = { second: null, salt: OPENING.salt, now: new Date(OPENS) };
    expect(checkRow(evidence(read, told))).toMatchObject({ verdict: 'verified', words: 'Verified: 16 checks' });
    for (const lie of [{ direction: 'DOWN' }, { pUp: 0.58891 }, { btcPrice: 104_117.13 }, { signal: 'SELL' }]) {
      expect(wrongIn(evidence({ ...read, ...lie }, told))).toEqual(['prediction commitment']);
    }
  });

  it('is void for being late or for nothing that was forecast, and for no other reason', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const missed = prediction({}, ZERO as Hex);
    const isVoid = { ...OPEN, status: 'VOID' };
    expect(checkRow(evidence(isVoid, { first: late, second: null })).verdict).toBe('verified');
    expect(checkRow(evidence({ ...isVoid, missed: true, signal: null }, { first: missed, second: null })).verdict).toBe('verified');
    expect(wrongIn(evidence(isVoid, { second: null }))).toEqual(['prediction void']);
    expect(wrongIn(evidence({ ...isVoid, missed: true, signal: null }, { second: null }))).toEqual(['prediction void']);
  });
});

describe('a row that could not be checked', () => {
  it('is neither true nor false', () => {
    expect(checkRow(evidence({ attestationUid: null }))).toMatchObject({ verdict: 'unchecked', checks: [] });
    expect(checkRow(evidence({}, { prediction: { problem: 'it is silent' } }))).toMatchObject({
      verdict: 'unchecked',
      words: 'Could not be checked: it is silent',
    });
    expect(checkRow(evidence({}, { resolution: { problem: 'it is silent' } }))).toMatchObject({ verdict: 'unchecked' });
  });

  it('is false all the same where a part of it is', () => {
    expect(checkRow(evidence({ sequence: 7 }, { resolution: { problem: 'it is silent' } }))).toMatchObject({ verdict: 'mismatch' });
    expect(checkRow(evidence({}, { prediction: { attestation: null } }))).toMatchObject({
      words: 'Does not match: prediction attestation',
    });
  });

  it('has its metadata left open where that cannot be had', () => {
    expect(checkRow(evidence({}, { metadata: { problem: 'gone' } }))).toMatchObject({
      verdict: 'verified',
      open: [{ what: 'the published metadata', why: 'gone' }],
    });
  });
});
