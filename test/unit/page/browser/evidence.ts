import { type Hex, sha256, zeroAddress, zeroHash } from 'viem';
import {
  computeCommitment,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type RawAttestation,
  type SchemaName,
} from '../../../../src/chain/eas/schemas.ts';
import { type RowEvidence, verifyRow } from '../../../../src/page/browser/check.ts';
import type { ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { type AttestationEvidence, checkAttestation, deriveAttestationUid, type ListedClaim } from '../../../../src/verify/evidence.ts';
import { createFindings } from '../../../../src/verify/findings.ts';
import { getShownOpening } from '../../../../src/verify/verify.ts';

export const ATTESTER = '0x00000000000000000000000000000000000000aa' as const;
export const OPENS = Date.parse('2026-03-02T00:00:00Z');
export const RESOLVES = Date.parse('2026-03-04T00:00:00Z');
export const METADATA = new TextEncoder().encode('{"date":"2026-03-01"}');
export const OPENING = {
  salt: `0x${'51'.repeat(32)}` as Hex,
  signal: 'BUY',
  direction: 'UP',
  confidenceBps: 5_889,
  pUpBps: 5_889,
  btcPriceCents: 10_411_712,
} as const;
export const CLOSES = { btcAtSignalCents: 10_375_737, btcAtResolutionCents: 10_256_900, returnBps: -115, outcome: 'LOSS' } as const;

type Change = Partial<Omit<RawAttestation, 'time'>> & { time?: number };

/** An attestation as the contract would hold it; time in seconds since 1970. */
export function attested({ time = 0, ...what }: Change): RawAttestation {
  const blank = { expirationTime: 0n, revocationTime: 0n, recipient: zeroAddress, attester: ATTESTER, revocable: false };
  const content = { ...blank, refUID: zeroHash, data: '0x' as const, time: BigInt(time), schema: zeroHash, ...what };
  return { ...content, uid: deriveAttestationUid(content) };
}

export function evidenceOf<Schema extends SchemaName>(
  schema: Schema,
  uid: string,
  content: AttestationEvidence['content'],
): AttestationEvidence<Schema> {
  return { uid: uid as Hex, schema, content, blockAt: null };
}

export const PLACE = {
  sequence: 60,
  day: OPENS / 86_400_000 - 1,
  horizonDays: 2,
  windowOpensAt: new Date(OPENS),
  resolvesAt: new Date(RESOLVES),
};

export const made = (place: object, commitment: Hex) =>
  encodePrediction({ ...PLACE, ...place, commitment, inputsDigest: `0x${'bb'.repeat(32)}`, metadata: sha256(METADATA) });

/** Its predecessor, of the previous day. */
export const before = (place: object = {}, what: Change = {}) =>
  attested({
    schema: getSchemaUid('prediction'),
    time: OPENS / 1_000 - 94_920,
    data: made({ sequence: 59, day: PLACE.day - 1, ...place }, `0x${'55'.repeat(32)}`),
    ...what,
  });
export const PREVIOUS = before();

export function prediction(what: Change = {}, commitment: Hex = computeCommitment(OPENING)) {
  const data = made({}, commitment);
  return attested({ schema: getSchemaUid('prediction'), time: OPENS / 1_000 - 8_520, refUID: PREVIOUS.uid, data, ...what });
}

export function resolution(refUID: Hex, what: Change = {}, values: object = {}) {
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

/** Predictions that are void, and the rows of a service that shows them so. */
export const LATE = prediction({ time: OPENS / 1_000 + 60 });
export const MISSED = prediction({}, zeroHash);
export const VOID_ROW = { ...OPEN, status: 'VOID' };
export const MISSED_ROW = { ...VOID_ROW, missed: true, signal: null };

/** Of an endpoint that does not answer. */
export const SILENT = { problem: 'it is silent' };

export const NEIGHBOURS: ListedClaim['neighbours'] = {
  before: { sequence: 59, attestationUid: PREVIOUS.uid },
  ...{ alike: 1, openingClose: ROW.btcAtSignal, endingClose: ROW.btcAtResolution },
};

interface EvidenceOptions extends Partial<Pick<RowEvidence, 'previous' | 'rivals' | 'metadata'>> {
  first?: RawAttestation;
  second?: RawAttestation | null;
  prediction?: AttestationEvidence<'prediction'> | null;
  resolution?: AttestationEvidence<'resolution'>;
  horizon?: number;
  neighbours?: ListedClaim['neighbours'];
  salt?: string | null;
  now?: Date;
}

export type Evidence = RowEvidence & { now: Date };

export function evidence(change: object = {}, options: EvidenceOptions = {}): Evidence {
  const { first = prediction(), second = resolution(first.uid), salt = null, horizon = 2, neighbours = NEIGHBOURS, ...more } = options;
  const row = { ...ROW, attestationUid: first.uid, resolutionUid: second?.uid ?? null, ...change };
  const { prediction: made = evidenceOf<'prediction'>('prediction', first.uid, first), resolution: over, ...others } = more;
  const revealed = over ?? (second === null ? null : evidenceOf<'resolution'>('resolution', second.uid, second));
  return {
    prediction: made ?? { sequence: row.sequence, day: null, horizonDays: null, windowOpensAt: new Date(row.windowOpensAt) },
    resolutions: revealed === null ? [] : [revealed],
    opening: second === null ? getShownOpening(row, salt) : undefined,
    claimed: { row, horizon, neighbours },
    ...{ previous: evidenceOf('prediction', PREVIOUS.uid, PREVIOUS), rivals: committed(first), metadata: METADATA },
    now: new Date(RESOLVES + 1),
    ...others,
  };
}

/** Evidence of the row with another prediction, which its resolution refers to. */
export const evidenceWith = (first: RawAttestation, options: EvidenceOptions = {}) =>
  evidence({}, { first, second: resolution(first.uid), ...options });

/** All predictions of the wallet in the five hours before the window. */
export const committed = (...all: readonly RawAttestation[]) => ({
  ...{ since: new Date(OPENS - 18_000_000), newest: new Date(RESOLVES) },
  committed: all.flatMap((raw) => {
    const context = { attester: ATTESTER, now: new Date(RESOLVES) };
    return checkAttestation(evidenceOf('prediction', raw.uid, raw), context, createFindings()) ?? [];
  }),
});

export const verify = ({ now, ...given }: Evidence) => verifyRow(given, { attester: ATTESTER, now });

/** Ids of the checks that fail. */
export const wrongIn = (given: Evidence) => [
  ...new Set(verify(given).findings.flatMap(({ check, outcome }) => (outcome === 'fail' ? [check] : []))),
];

/** Ids of the checks that are left open. */
export const openIn = (given: Evidence) => verify(given).findings.flatMap(({ check, outcome }) => (outcome === 'unknown' ? [check] : []));
