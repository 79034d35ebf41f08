import type { Hex } from 'viem';
import type { ChainAddresses } from '../chain/addresses.ts';
import type { OnChainAttestation } from '../chain/attestation-reader.ts';
import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../chain/commitment.ts';
import { SCHEMAS, type SchemaName, schemaUid } from '../chain/schemas.ts';
import { OracleError } from '../errors.ts';
import { formatDay } from '../forecast/day.ts';
import { viewSalt } from './attestation-views.ts';
import { type AttestationType, findByUid } from './attestations.ts';
import type { Caller } from './caller.ts';
import type { ForecastDoc } from './forecast.ts';
import { foreignAttestation } from './foreign-attestation.ts';
import { COMMITMENT_FORMULA } from './oracle/proof.ts';
import { checksBetween, notOnChain, type StatedCheck, stated } from './prediction-checks.ts';
import type { PredictionVerificationReply } from './schemas/prediction-verification.ts';
import { scorecardEntry } from './scorecard.ts';
import { checksOf, type VerificationParts } from './verification.ts';
import { mayRead } from './views.ts';

export interface PredictionVerificationParts extends VerificationParts {
  /** Where attestations are read from. */
  addresses: ChainAddresses;
  now(): Date;
}

/** What is to be verified: by an attestation of it, or by its id (`YYYY-MM-DD:<h>d`), which `field` says the caller's name of. */
export type AskedPrediction = { uid: Hex } | { predictionId: string; field: string };

/** One attestation of the forecast, as the chain has it. */
interface Read {
  type: AttestationType;
  uid: Hex;
  onChain: OnChainAttestation | null;
}

type Unchecked = PredictionVerificationReply['unchecked'];

/**
 * A forecast checked against the chain: its prediction, and its resolution once there is one; each field against the record, the two
 * against each other, and the commitment against the values where the caller may read them.
 * @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE
 */
export async function verifyPrediction(
  parts: PredictionVerificationParts,
  asked: AskedPrediction,
  caller: Caller,
): Promise<PredictionVerificationReply> {
  const doc = 'uid' in asked ? await findOwn(parts, asked.uid) : await findById(parts, asked);
  const attestations = await readAll(parts, doc);
  const checks = allChecks(parts, doc, { attestations, caller });
  const unchecked = uncheckedOf(parts, doc, caller);
  const verified = doc.attestation !== null && checks.every(({ ok }) => ok);
  const options = parts.viewFor(caller);
  return {
    ...resultOf(parts, { verified, verdict: verdictOf(doc, checks, unchecked), checks, unchecked }),
    attestations: attestations.map((one) => told(parts, one)),
    prediction: { ...scorecardEntry(doc, options), commitment: doc.commitment, salt: viewSalt(doc, options) },
    byHand: byHand(parts),
  };
}

/** @throws OracleError NOT_FOUND for a uid that is not on chain, or not in the record */
async function findOwn(parts: PredictionVerificationParts, uid: Hex): Promise<ForecastDoc> {
  const known = await findByUid(parts.record, uid);
  if (known !== null) return known.doc;
  const onChain = await parts.attestations.read(uid);
  if (onChain !== null) throw foreignAttestation(onChain, parts.chainId);
  throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${parts.chainId}`, {
    field: 'uid',
    suggestedAction: 'Take a uid from the track record or from the history of attestations.',
  });
}

async function findById({ record }: PredictionVerificationParts, { predictionId, field }: { predictionId: string; field: string }) {
  const [doc] = await record.byIds([predictionId]);
  if (doc !== undefined) return doc;
  const [first, last] = [await record.genesis(), await record.lastDay()];
  const range = first === null || last === null ? 'has no day yet' : `runs from ${formatDay(first)} to ${formatDay(last)}`;
  throw new OracleError('NOT_FOUND', `There is no forecast ${predictionId}`, {
    field,
    suggestedAction: `The record ${range}: name a day in it, or take an id or uid from the track record.`,
  });
}

async function readAll({ attestations }: PredictionVerificationParts, { attestation, reveal }: ForecastDoc): Promise<Read[]> {
  const known = [
    ...(attestation === null ? [] : [{ type: 'prediction' as const, uid: attestation.uid }]),
    ...(reveal === null ? [] : [{ type: 'resolution' as const, uid: reveal.uid }]),
  ];
  return Promise.all(known.map(async ({ type, uid }) => ({ type, uid, onChain: await attestations.read(uid) })));
}

function allChecks(
  parts: PredictionVerificationParts,
  doc: ForecastDoc,
  { attestations, caller }: { attestations: Read[]; caller: Caller },
): StatedCheck[] {
  const [prediction, resolution] = attestations.map(({ onChain }) => onChain);
  return [
    ...attestations.flatMap(({ type, uid, onChain }) =>
      onChain === null ? notOnChain(type, uid) : stated(type, checksOf(parts, onChain, { doc, type }, caller)),
    ),
    ...(prediction && resolution ? checksBetween(prediction, resolution) : []),
  ];
}

/** What has to wait, told by what everybody may know: the calendar, and what is on chain. */
function uncheckedOf(parts: PredictionVerificationParts, doc: ForecastDoc, caller: Caller): Unchecked {
  const { attestation, reveal, values, state, windowOpensAt, resolvesAt } = doc;
  const unchecked: Unchecked = [];
  const add = (type: AttestationType, what: string, reason: string) => unchecked.push({ attestation: type, what, reason });
  if (attestation === null) {
    add('prediction', 'the prediction on chain', `it is not on chain yet: it has to be before ${windowOpensAt.toISOString()}`);
  }
  if (values === null) add('prediction', 'that values open the commitment', 'nothing was forecast on that day: there are none');
  else if (!mayRead(doc, parts.viewFor(caller))) {
    const until = `until its outcome is on chain, not before ${resolvesAt.toISOString()}`;
    add('prediction', 'that values open the commitment', `the values are gated ${until}; callers of the Basic tier may read them at once`);
  }
  if (reveal === null) {
    const pending = `its outcome is not on chain yet: its window ends at ${resolvesAt.toISOString()}`;
    add('resolution', 'the outcome', state === 'VOID' ? 'it is void: it never counts, and is never resolved' : pending);
  }
  return unchecked;
}

function verdictOf(doc: ForecastDoc, checks: readonly StatedCheck[], unchecked: Unchecked): string {
  const wrong = checks.filter(({ ok }) => !ok).map(({ attestation, field }) => `${attestation} ${field}`);
  if (checks.length === 0) return 'nothing could be checked: the prediction is not on chain yet';
  if (wrong.length > 0) return `${wrong.length} of ${checks.length} checks FAIL (${wrong.join(', ')}): do not rely on this entry`;
  const agree = `${checks.length} of ${checks.length} checks agree`;
  const open = unchecked.length === 0 ? 'nothing is left unchecked' : `not checked: ${unchecked.map(({ what }) => what).join('; ')}`;
  return `${agree}: ${meaningOf(doc)}; ${open}`;
}

function meaningOf({ state, reveal }: ForecastDoc): string {
  if (state === 'VOID') return 'the forecast is void, as the record says, and never counts';
  const committed = 'the forecast was on chain before its outcome window opened';
  return reveal === null ? committed : `${committed}, and what was revealed is what it had committed to`;
}

type Result = Pick<PredictionVerificationReply, 'verified' | 'verdict' | 'checks' | 'unchecked'>;

function resultOf({ now }: PredictionVerificationParts, { verified, verdict, checks, unchecked }: Result) {
  const agreeing = checks.filter(({ ok }) => ok).length;
  return { asOf: now().toISOString(), verified, verdict, agreeing, checked: checks.length, checks, unchecked };
}

function told(
  { explorerUrl }: PredictionVerificationParts,
  { type, uid, onChain }: Read,
): PredictionVerificationReply['attestations'][number] {
  return {
    type,
    uid,
    onChain: onChain !== null,
    blockTime: onChain?.at.toISOString() ?? null,
    attester: onChain?.attester ?? null,
    easscanUrl: explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`,
  };
}

const schemaOf = (name: SchemaName) => ({ uid: schemaUid(name), fields: SCHEMAS[name] });

const codesOf = (codes: Record<string, number>) =>
  Object.entries(codes)
    .map(([word, code]) => `${word} ${code}`)
    .join(', ');

/** What somebody needs to check forecasts without this service. */
export function byHand({
  chainId,
  addresses,
  attesterAddress,
}: Pick<PredictionVerificationParts, 'chainId' | 'addresses' | 'attesterAddress'>): PredictionVerificationReply['byHand'] {
  return {
    chain: `eip155:${chainId}`,
    easContract: addresses.eas,
    attester: attesterAddress,
    predictionSchema: schemaOf('prediction'),
    resolutionSchema: schemaOf('resolution'),
    formula: COMMITMENT_FORMULA,
    codes: `signal: ${codesOf(SIGNAL_CODES)}; direction: ${codesOf(DIRECTION_CODES)}; outcome: ${codesOf(OUTCOME_CODES)}`,
    steps: [
      'Call getAttestation(uid) of the prediction on the EAS contract; compare attester and schema with those here.',
      'Decode its data by the fields of the schema: time has to be before windowOpensAt.',
      'Follow refUID from day to day: sequence goes down by one each time, to 1, without a gap.',
      'Once it is resolved, do the same with the resolution: its refUID is the prediction.',
      'Hash salt and values of the resolution by the formula: the result is the commitment of the prediction.',
      'Compare the two closes with public daily closes of BTC/USD (00:00 UTC): UP wins if the later one is higher.',
    ],
  };
}
