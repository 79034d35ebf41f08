import type { Address, Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { checkForecastEvidence } from '../../verify/check-forecast-evidence.ts';
import type { ForecastEvidence } from '../../verify/evidence.ts';
import { createFindings, type Finding } from '../../verify/findings.ts';
import { describeFinding } from '../../verify/summary.ts';
import type { AttestationType } from '../attestations/find-attestation.ts';
import type { AttestationLookupDeps } from '../attestations/find-forecast.ts';
import type { AttestationViewOptions } from '../attestations/view.ts';
import { buildOpening } from '../commitment/commitment.ts';
import { buildExpectedPrediction, buildExpectedResolution } from '../commitment/expected-attestation.ts';
import type { DistributionScores } from '../distributions/distribution-scores.ts';
import { openRevealedDistributions } from '../distributions/revealed-distributions.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { mayRead } from '../forecast-visibility.ts';
import type { ForecastDistributions } from '../schemas/distributions.ts';
import { toServedTimestamp } from '../timestamps/day-timestamp.ts';
import type { TimestampDoc } from '../timestamps/timestamp-doc.ts';
import type { TimestampStore } from '../timestamps/timestamp-store.ts';

export interface RecordCheckDeps extends AttestationLookupDeps {
  addresses: ChainAddresses;
  distributionScores: DistributionScores;
  timestamps: Pick<TimestampStore, 'find'>;
  attesterAddress: Address;
  saltSecret: string;
  /** Attestation explorer; null on a local chain, or when none is known. */
  explorerUrl: string | null;
  viewFor(caller: Caller): AttestationViewOptions;
  now(): Date;
}

/** An attestation of the record, as the chain has it. */
export interface ReadAttestation {
  type: AttestationType;
  uid: Hex;
  onChain: OnChainAttestation | null;
}

/**
 * Reads both attestations of a forecast, with their pages in the explorer, and checks them against the record and against each other, and
 * the commitment against the values where the caller may read them.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function checkRecordedForecast(deps: RecordCheckDeps, doc: ForecastDoc, caller: Caller) {
  const { attestations } = deps;
  const known = Object.entries({ prediction: doc.attestation, resolution: doc.reveal }) as [AttestationType, { uid: Hex } | null][];
  const toPage = (uid: Hex) => deps.explorerUrl && `${deps.explorerUrl}/attestation/view/${uid}`;
  const readOne = async (type: AttestationType, uid: Hex) => ({
    type,
    uid,
    onChain: await attestations.read(uid),
    easscanUrl: toPage(uid),
  });
  const read = await Promise.all(known.flatMap(([type, made]) => (made === null ? [] : readOne(type, made.uid))));
  const [distributions = null] = await openRevealedDistributions(deps, [doc]);
  const timestamp = await deps.timestamps.find(doc.day);
  const [now, findings] = [deps.now(), createFindings()];
  const evidence = buildForecastEvidence(deps, doc, { read, distributions, timestamp }, caller);
  const row = checkForecastEvidence(evidence, { attester: deps.attesterAddress, now }, findings);
  return { now, read, row, distributions, findings: findings.list };
}

export interface ReadEvidence {
  read: readonly ReadAttestation[];
  /** Null before the outcome is on chain. */
  distributions: ForecastDistributions | null;
  /** Null: its day is not stamped. */
  timestamp: TimestampDoc | null;
}

type EvidenceDeps = Pick<RecordCheckDeps, 'saltSecret' | 'viewFor'>;

/** The evidence of chain and record about a forecast, with salt and values as far as the caller may read them. */
export function buildForecastEvidence(
  deps: EvidenceDeps,
  doc: ForecastDoc,
  { read, distributions, timestamp }: ReadEvidence,
  caller: Caller,
): ForecastEvidence {
  const { sequence, day, horizonDays, windowOpensAt, state } = doc;
  const find = <Type extends AttestationType>(schema: Type) =>
    read
      .filter(({ type }) => type === schema)
      .map(({ uid, onChain }) => ({ uid, schema, content: onChain?.content ?? null, blockAt: null }));
  const resolutions = find('resolution');
  return {
    prediction: find('prediction')[0] ?? { sequence, day, horizonDays, windowOpensAt },
    resolutions,
    opening: findServedOpening(deps, doc, caller),
    ...(distributions !== null && { distributions }),
    ...(timestamp !== null && { timestamp: toServedTimestamp(timestamp) }),
    recorded: {
      prediction: buildExpectedPrediction(doc),
      resolution: resolutions.length === 0 ? null : buildExpectedResolution(doc, deps.saltSecret),
      isVoid: state === 'VOID',
    },
  };
}

/** Salt and values where the caller may read them; otherwise why not. Undefined: nothing was forecast. */
function findServedOpening({ saltSecret, viewFor }: EvidenceDeps, doc: ForecastDoc, caller: Caller): ForecastEvidence['opening'] {
  if (doc.values === null) return undefined;
  if (mayRead(doc, viewFor(caller))) return buildOpening(saltSecret, doc._id, doc.values);
  const until = `until its outcome is on chain, not before ${doc.resolvesAt.toISOString()}`;
  return { problem: `the values are gated ${until}; callers of the Basic tier may read them at once` };
}

/** Passed and failed checks as a client receives them. */
export function toChecks(findings: readonly Finding[]) {
  const made = findings.filter(({ outcome }) => outcome !== 'unknown');
  return made.map(({ subject, ...finding }) => {
    const { check, field, expected, actual, outcome } = finding;
    const attestation = subject.attestation ?? 'prediction';
    return { attestation, check, field, what: describeFinding(finding), expected, actual, ok: outcome === 'pass' };
  });
}
