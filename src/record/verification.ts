import type { Address, Hex } from 'viem';
import type { Caller } from '../auth/caller.ts';
import type { ChainAddresses } from '../chain/addresses.ts';
import type { OnChainAttestation } from '../chain/eas/schemas.ts';
import type { ForecastEvidence } from '../verify/evidence.ts';
import { createFindings, type Finding, getCheck } from '../verify/findings.ts';
import { describeFinding, formatForecastVerdict, getVerdict } from '../verify/summary.ts';
import { checkForecastEvidence } from '../verify/verify.ts';
import {
  type AttestationLookupDeps,
  type AttestationType,
  type AttestationViewOptions,
  findByAttestation,
  findForecast,
  missingAttestationError,
  type PredictionReference,
  viewAttestation,
  viewSalt,
} from './attestations.ts';
import { buildExpectedPrediction, buildExpectedResolution, buildOpening } from './commitment.ts';
import type { DistributionScores } from './distribution-scores.ts';
import { openRevealedDistributions } from './distributions.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import { describeManualVerification } from './prediction.ts';
import type { ForecastDistributions } from './schemas/forecast.ts';
import type { AttestationVerification, PredictionVerificationReply } from './schemas/verification.ts';
import { toScorecardEntry } from './scorecard.ts';
import { mayRead } from './visibility.ts';

/**
 * Verifies the forecast of an attestation, and returns what concerns this attestation.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(deps: RecordCheckDeps, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const { doc, type } = await findByAttestation(deps, uid);
  const { read, row, distributions, findings } = await checkRecordedForecast(deps, doc, caller);
  const { onChain = null, easscanUrl = null } = read.find((one) => one.type === type) ?? {};
  if (onChain === null) throw missingAttestationError(uid, deps.chainId);
  const own = findings.filter(({ subject }) => subject.attestation === type);
  const { data: _, content: __, ...data } = onChain;
  const at = onChain.at.toISOString();
  return {
    ...viewAttestation(doc, type, deps.viewFor(caller)),
    success: true,
    data: { ...data, at },
    uid,
    onChain: true,
    // A resolution whose prediction cannot be read proves nothing.
    verified: row !== null && getVerdict(own) === 'pass',
    checks: toChecks(own).map(({ attestation: _, what: __, ...check }) => check),
    distributions,
    attester: onChain.attester,
    blockTime: at,
    easscanUrl,
  };
}

export interface RecordCheckDeps extends AttestationLookupDeps {
  addresses: ChainAddresses;
  distributionScores: DistributionScores;
  attesterAddress: Address;
  saltSecret: string;
  /** Attestation explorer; null on a local chain, or when none is known. */
  explorerUrl: string | null;
  viewFor(caller: Caller): AttestationViewOptions;
  now(): Date;
}

/**
 * Reads both attestations of a forecast, with their pages in the explorer, and checks them against the record and against each other, and
 * the commitment against the values where the caller may read them.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function checkRecordedForecast(deps: RecordCheckDeps, doc: ForecastDoc, caller: Caller) {
  const { attestations, explorerUrl } = deps;
  const known = Object.entries({ prediction: doc.attestation, resolution: doc.reveal }) as [AttestationType, { uid: Hex } | null][];
  const readOne = async (type: AttestationType, uid: Hex) => {
    return { type, uid, onChain: await attestations.read(uid), easscanUrl: explorerUrl && `${explorerUrl}/attestation/view/${uid}` };
  };
  const read = await Promise.all(known.flatMap(([type, made]) => (made === null ? [] : readOne(type, made.uid))));
  const [distributions = null] = await openRevealedDistributions(deps, [doc]);
  const [now, findings] = [deps.now(), createFindings()];
  const evidence = buildForecastEvidence(deps, doc, { read, distributions }, caller);
  const row = checkForecastEvidence(evidence, { attester: deps.attesterAddress, now }, findings);
  return { now, read, row, distributions, findings: findings.list };
}

type EvidenceDeps = Pick<RecordCheckDeps, 'saltSecret' | 'viewFor'>;

/** The evidence of chain and record about a forecast, with salt and values as far as the caller may read them. */
export function buildForecastEvidence(
  deps: EvidenceDeps,
  doc: ForecastDoc,
  {
    read,
    distributions,
  }: {
    read: readonly { type: AttestationType; uid: Hex; onChain: OnChainAttestation | null }[];
    /** Null before the outcome is on chain. */
    distributions: ForecastDistributions | null;
  },
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

/**
 * Verifies a forecast on chain: prediction and resolution against the record and against each other, and the commitment against the values
 * where the caller may read them.
 * @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE
 */
export async function verifyPrediction(deps: RecordCheckDeps, reference: PredictionReference, caller: Caller) {
  const doc = await findForecast(deps, reference);
  const { now, read, row, distributions, findings } = await checkRecordedForecast(deps, doc, caller);
  const options = deps.viewFor(caller);
  const checks = toChecks(findings);
  const left = findings.filter(({ outcome }) => outcome === 'unknown');
  return {
    asOf: now.toISOString(),
    verified: getVerdict(findings) === 'pass',
    verdict: formatForecastVerdict(findings, row, checks),
    agreeing: checks.filter(({ ok }) => ok).length,
    checked: checks.length,
    checks,
    unchecked: left.map(({ check, subject: { attestation = 'prediction' }, because: reason }) => {
      return { attestation, what: getCheck(check).title.toLowerCase(), reason };
    }),
    attestations: read.map(({ onChain, ...one }) => {
      return { ...one, onChain: onChain !== null, blockTime: onChain?.at.toISOString() ?? null, attester: onChain?.attester ?? null };
    }),
    prediction: { ...toScorecardEntry(doc, options), commitment: doc.commitment, salt: viewSalt(doc, options) },
    distributions,
    byHand: describeManualVerification(deps),
  } satisfies PredictionVerificationReply;
}
