import type { Address, Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { type CheckedRow, checkForecast } from '../../verify/checks/forecast.ts';
import { checkInTime, checkWindow } from '../../verify/checks/prediction.ts';
import { checkRecordedPrediction, checkRecordedResolution } from '../../verify/claims/recorded.ts';
import type { AttestationEvidence, Prediction, Resolution } from '../../verify/evidence.ts';
import { type Finding, type FindingSubject, type Findings, NO_SUBJECT } from '../../verify/findings.ts';
import { describeFinding } from '../../verify/summary.ts';
import type { AttestationType } from '../attestations/find-and-count.ts';
import type { AttestationViewOptions } from '../attestations/view.ts';
import { buildOpening } from '../commitment/commitment.ts';
import { buildExpectedPrediction, buildExpectedResolution } from '../commitment/expected-attestation.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { mayRead } from '../forecast-visibility.ts';

export interface RecordCheckDeps {
  attesterAddress: Address;
  saltSecret: string;
  viewFor(caller: Caller): AttestationViewOptions;
  now(): Date;
}

/** An attestation of the record, as the chain has it. */
export interface ReadAttestation {
  type: AttestationType;
  uid: Hex;
  onChain: OnChainAttestation | null;
}

/** Checks the attestations of a forecast against the record and each other. @returns null when the prediction cannot be read */
export function checkAttestations(
  deps: RecordCheckDeps,
  doc: ForecastDoc,
  { read, caller, findings }: { read: readonly ReadAttestation[]; caller: Caller; findings: Findings },
): CheckedRow | null {
  const [prediction, resolution] = (['prediction', 'resolution'] as const).map((type) => read.find((one) => one.type === type));
  const committed = prediction === undefined ? null : checkRecorded(deps, doc, { ...prediction, type: 'prediction' }, findings);
  const resolved = resolution === undefined ? null : checkRecorded(deps, doc, { ...resolution, type: 'resolution' }, findings);
  if (prediction === undefined) {
    const because = `it is not on chain yet: it has to be before ${doc.windowOpensAt.toISOString()}`;
    findings.leave('found', toSubject(doc, 'prediction'), because, false);
  }
  if (committed === null || (resolution !== undefined && resolved === null)) return null;
  return checkForecast(committed, resolved, { opening: findServedOpening(deps, doc, caller), now: deps.now(), findings });
}

type ReadOf<Type extends AttestationType> = Omit<ReadAttestation, 'type'> & { type: Type };

export function checkRecorded(deps: RecordCheckDeps, doc: ForecastDoc, read: ReadOf<'prediction'>, findings: Findings): Prediction | null;
export function checkRecorded(deps: RecordCheckDeps, doc: ForecastDoc, read: ReadOf<'resolution'>, findings: Findings): Resolution | null;
export function checkRecorded(
  { attesterAddress: attester, saltSecret, now }: RecordCheckDeps,
  doc: ForecastDoc,
  { type, uid, onChain }: ReadAttestation,
  findings: Findings,
): Prediction | Resolution | null {
  const evidence = { uid, content: onChain?.content ?? null, blockAt: null };
  const context = { attester, now: now() };
  if (type === 'prediction') {
    const prediction = checkAttestation({ ...evidence, schema: type } satisfies AttestationEvidence, context, findings);
    if (prediction === null) return null;
    checkWindow(prediction, findings);
    checkInTime(prediction, doc.state === 'VOID', findings);
    checkRecordedPrediction(prediction, buildExpectedPrediction(doc), findings);
    return prediction;
  }
  const resolution = checkAttestation({ ...evidence, schema: type } satisfies AttestationEvidence, context, findings);
  if (resolution === null) return null;
  checkRecordedResolution({ ...toSubject(doc, type), uid }, resolution, buildExpectedResolution(doc, saltSecret), findings);
  return resolution;
}

function toSubject({ horizonDays, day, sequence }: ForecastDoc, attestation: AttestationType): FindingSubject {
  return { ...NO_SUBJECT, attestation, horizonDays, day, sequence };
}

/** Salt and values where the caller may read them; otherwise why not. Undefined: nothing was forecast. */
export function findServedOpening({ saltSecret, viewFor }: RecordCheckDeps, doc: ForecastDoc, caller: Caller) {
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
    return {
      attestation: subject.attestation ?? 'prediction',
      check,
      field,
      what: describeFinding(finding),
      expected,
      actual,
      ok: outcome === 'pass',
    };
  });
}
