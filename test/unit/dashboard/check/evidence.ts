import type { Hex } from 'viem';
import { encodePrediction, encodeResolution, getSchemaUid } from '../../../../src/chain/eas/attestation-schemas.ts';
import { computeCommitment } from '../../../../src/chain/eas/commitment.ts';
import { computeSha256Hex } from '../../../../src/dashboard/chain/cid.ts';
import { computeAttestationUid, ZERO_UID } from '../../../../src/dashboard/chain/eas.ts';
import { verifyRow } from '../../../../src/dashboard/check/verify-row.ts';
import type { ScorecardRow } from '../../../../src/dashboard/state/responses.ts';

export const ATTESTER = '0x00000000000000000000000000000000000000aa';
export const OPENS = Date.parse('2026-03-02T00:00:00Z');
export const RESOLVES = Date.parse('2026-03-04T00:00:00Z');
export const METADATA = new TextEncoder().encode('{"date":"2026-03-01"}');
export const OPENING = {
  salt: `0x${'51'.repeat(32)}`,
  signal: 'BUY',
  direction: 'UP',
  confidenceBps: 5_889,
  pUpBps: 5_889,
  btcPriceCents: 10_411_712,
} as const;
export const CLOSES = { btcAtSignalCents: 10_375_737, btcAtResolutionCents: 10_256_900, returnBps: -115, outcome: 'LOSS' } as const;

/** An attestation as the contract would hold it. */
export function attested(what: object) {
  const blank = { expirationTime: 0, revocationTime: 0, recipient: `0x${'00'.repeat(20)}`, attester: ATTESTER, revocable: false };
  const content = { ...blank, refUID: ZERO_UID, data: '0x', time: 0, schema: ZERO_UID, uid: '', ...what };
  return { ...content, uid: computeAttestationUid(content) };
}

export const PLACE = {
  sequence: 60,
  day: OPENS / 86_400_000 - 1,
  horizonDays: 2,
  windowOpensAt: new Date(OPENS),
  resolvesAt: new Date(RESOLVES),
};

export const made = (place: object, commitment: Hex) =>
  encodePrediction({ ...PLACE, ...place, commitment, inputsDigest: `0x${'bb'.repeat(32)}`, metadata: computeSha256Hex(METADATA) as Hex });

/** Its predecessor, of the previous day. */
export const before = (place: object = {}, what: object = {}) =>
  attested({
    schema: getSchemaUid('prediction'),
    time: OPENS / 1_000 - 94_920,
    data: made({ sequence: 59, day: PLACE.day - 1, ...place }, `0x${'55'.repeat(32)}`),
    ...what,
  });
export const PREVIOUS = before();

export function prediction(what: object = {}, commitment: Hex = computeCommitment(OPENING)) {
  const data = made({}, commitment);
  return attested({ schema: getSchemaUid('prediction'), time: OPENS / 1_000 - 8_520, refUID: PREVIOUS.uid, data, ...what });
}

export function resolution(refUID: string, what: object = {}, values: object = {}) {
  const data = encodeResolution({ ...OPENING, ...CLOSES, ...values });
  return attested({ schema: getSchemaUid('resolution'), time: RESOLVES / 1_000, refUID, data, ...what });
}

export const ROW = {
  ...{ date: '2026-03-01', predictionId: '2026-03-01:2d', horizon: '2d', sequence: 60, status: 'LOSS', regime: 'CHOP', modelVersion: 'm0' },
  ...{ windowOpensAt: '2026-03-02T00:00:00.000Z', resolvesAt: '2026-03-04T00:00:00.000Z', timestamp: '2026-03-01T21:35:00.000Z' },
  ...{ replayed: false, late: false, missed: false, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889, btcPrice: 104_117.12 },
  ...{ btcAtSignal: 103_757.37, btcAtResolution: 102_569, resolved: true, returnBps: -115, resolvedAt: '2026-03-04T00:00:00.000Z' },
  outcome: { actualReturn: -0.0115, actualDirection: 'DOWN', correct: false },
} as unknown as ScorecardRow;

export const OPEN = {
  ...{ status: 'PENDING', signal: 'GATED', direction: null, confidence: null, pUp: null, btcAtResolution: null },
  ...{ resolved: false, returnBps: null, resolvedAt: null, outcome: null },
};

export type Evidence = Parameters<typeof verifyRow>[0];

export const NEIGHBOURS: Evidence['neighbours'] = {
  before: { ...ROW, sequence: 59, attestationUid: PREVIOUS.uid },
  ...{ alike: 1, openingClose: ROW.btcAtSignal, endingClose: ROW.btcAtResolution },
};

export function evidence(
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
    ...{ horizon: 2, neighbours: NEIGHBOURS, previous: { attestation: PREVIOUS } },
    commitments: committed(first),
    ...{ salt: null, metadata: { bytes: METADATA }, now: new Date(RESOLVES + 1) },
    ...(more as object),
  };
}

/** All predictions of the wallet in the five hours before the window, in blocks 100 to 133. */
export const committed = (...all: readonly { uid: string; time: number }[]) => ({
  ...{ from: 100, to: 133, since: OPENS / 1_000 - 18_000, newest: RESOLVES / 1_000 },
  committed: all.map(({ uid, time }) => ({ uid, time, day: PLACE.day, horizonDays: PLACE.horizonDays })),
});

export const wrongIn = (given: Evidence) =>
  verifyRow(given)
    .checks.filter(({ ok }) => !ok)
    .map(({ about, field }) => `${about} ${field}`);
