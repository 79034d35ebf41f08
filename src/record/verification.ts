import { type Hex, stringToBytes, zeroHash } from 'viem';
import type { Caller } from '../auth/caller.ts';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import type { OnChainAttestation } from '../chain/eas/schemas.ts';
import type { Context } from '../context.ts';
import { OracleError, orElse } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import {
  type AttestationEvidence,
  type CheckContext,
  checkAttestation,
  type ForecastEvidence,
  isUnread,
  type RivalEvidence,
  type Unread,
} from '../verify/evidence.ts';
import { createFindings } from '../verify/findings.ts';
import { formatForecastVerdict, getVerdict, listForecastChecks } from '../verify/summary.ts';
import { checkForecastEvidence } from '../verify/verify.ts';
import {
  type AttestationMatch,
  type AttestationType,
  FIELD_BY_TYPE,
  findAttestation,
  type PredictionReference,
  viewAttestation,
  viewSalt,
} from './attestations.ts';
import { openRevealedDistributions } from './distributions.ts';
import { buildExpectedPrediction, buildExpectedResolution, buildOpening, type ForecastDoc, formatForecastId } from './forecast-doc.ts';
import { describeManualVerification } from './prediction.ts';
import type { AttestationVerification, PredictionVerificationReply } from './schemas/verification.ts';
import { toScorecardEntry } from './scorecard.ts';
import { mayRead, toMove } from './visibility.ts';

/**
 * Verifies a forecast: its attestations on chain against the record, against each other and against those around them, and the commitment
 * against the values where the caller may read them.
 * @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE
 */
export async function verifyPrediction(context: Context, reference: PredictionReference, caller: Caller) {
  return (await verifyForecastDoc(context, await findForecast(context, reference), caller)).reply;
}

/** @throws OracleError NOT_FOUND */
async function findForecast(context: Context, reference: PredictionReference): Promise<ForecastDoc> {
  if ('uid' in reference) return (await findByAttestation(context, reference.uid)).doc;
  const { predictionId, field } = reference;
  const { known } = context.record;
  const doc = known.findForecast(predictionId);
  if (doc !== null) return doc;
  const [first, last] = [known.listDays()[0], known.listDays().at(-1)];
  const range = first === undefined || last === undefined ? 'has no day yet' : `runs from ${first._id} to ${last._id}`;
  const suggestedAction = `The record ${range}: name a day in it, or take an id or uid from the track record.`;
  throw new OracleError('NOT_FOUND', `There is no forecast ${predictionId}`, { field, suggestedAction });
}

/**
 * The forecast of an attestation. Of a foreign one, the error names attester and schema, but does not repeat its data: a client must not
 * take it for an attestation of this service.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record
 */
async function findByAttestation({ record, attestations, chain: { chainId } }: Context, uid: Hex): Promise<AttestationMatch> {
  const known = findAttestation(record, uid);
  if (known !== null) return known;
  const onChain = await attestations.read(uid);
  if (onChain === null) throw missingAttestationError(uid, chainId);
  const { attester, schemaUid, schemaName } = onChain;
  const message = `The attestation ${uid} on chain ${chainId} is not of this service: attester ${attester}, schema ${schemaUid}`;
  const suggestedAction = 'Take a uid from the history of attestations, or read this one in an EAS explorer of that chain.';
  const details = { ofThisService: false, attester, schemaUid, schemaName };
  throw new OracleError('NOT_FOUND', message, { field: 'uid', details, suggestedAction });
}

/**
 * The same for the forecast of an attestation, with that attestation.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(context: Context, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const { doc, type } = await findByAttestation(context, uid);
  const { reply, read } = await verifyForecastDoc(context, doc, caller);
  const onChain = read.find((one) => one.type === type)?.onChain ?? null;
  if (onChain === null) throw missingAttestationError(uid, context.chain.chainId);
  const { data: _, content: __, ...data } = onChain;
  const at = onChain.at.toISOString();
  const { verified, verdict, agreeing, total, checks, unchecked, distributions, attestations } = reply;
  return {
    ...viewAttestation(doc, type, context.viewFor(caller)),
    success: true,
    data: { ...data, at },
    uid,
    onChain: true,
    ...{ verified, verdict, agreeing, total, checks, unchecked, distributions },
    attester: onChain.attester,
    blockTime: at,
    easscanUrl: attestations.find((one) => one.type === type)!.easscanUrl,
  };
}

function missingAttestationError(uid: Hex, chainId: number): OracleError {
  const suggestedAction = 'Take a uid from the track record or from the history of attestations.';
  return new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${chainId}`, { field: 'uid', suggestedAction });
}

async function verifyForecastDoc(context: Context, doc: ForecastDoc, caller: Caller) {
  const { read, evidence, distributions } = await readForecastEvidence(context, doc, caller);
  const getUrl = (uid: Hex) => context.explorerUrl && `${context.explorerUrl}/attestation/view/${uid}`;
  const [now, options, findings] = [context.now(), context.viewFor(caller), createFindings()];
  const row = checkForecastEvidence(evidence, { attester: context.wallets.attester.address, now }, findings);
  const list = listForecastChecks(findings.list, row);
  const reply = {
    asOf: now.toISOString(),
    // A resolution whose prediction cannot be read proves nothing.
    verified: row !== null && getVerdict(findings.list) === 'pass',
    verdict: formatForecastVerdict(findings.list, row, list),
    ...list,
    attestations: read.map(({ type, uid, onChain }) => {
      const seen = { onChain: onChain !== null, blockTime: onChain?.at.toISOString() ?? null, attester: onChain?.attester ?? null };
      return { type, uid, ...seen, easscanUrl: getUrl(uid) };
    }),
    prediction: { ...toScorecardEntry(doc, options), commitment: doc.commitment, salt: viewSalt(doc, options) },
    distributions,
    byHand: describeManualVerification(context),
  } satisfies PredictionVerificationReply;
  return { reply, read };
}

/** The evidence about a forecast, with salt and values as far as the caller may read them. @throws OracleError CHAIN_UNREACHABLE */
export async function readForecastEvidence(context: Context, doc: ForecastDoc, caller: Caller) {
  const chain = await readChainEvidence(context, doc);
  const [[distributions = null], day] = await Promise.all([openRevealedDistributions(context, [doc]), context.record.findDay(doc.day)]);
  const evidence: ForecastEvidence = {
    ...buildForecastEvidence(context, doc, chain, caller),
    ...(day !== null && { metadata: stringToBytes(day.metadata.json) }),
    ...(distributions !== null && { distributions }),
  };
  return { read: chain.read, distributions, evidence };
}

/** The evidence of the chain with what the record has of it. */
export function buildForecastEvidence(
  context: Context,
  doc: ForecastDoc,
  { read, prediction, ...chain }: Awaited<ReturnType<typeof readChainEvidence>>,
  caller: Caller,
): ForecastEvidence {
  const { sequence, day, horizonDays, windowOpensAt, state } = doc;
  return {
    ...chain,
    prediction: prediction ?? { sequence, day, horizonDays, windowOpensAt },
    opening: findServedOpening(context, doc, caller),
    recorded: {
      prediction: buildExpectedPrediction(doc),
      resolution: doc.reveal === null ? null : buildExpectedResolution(doc, context.saltSecret),
      isVoid: state === 'VOID',
      move: toMove(doc),
    },
  };
}

/** Salt and values where the caller may read them; otherwise why not. Undefined: nothing was forecast. */
function findServedOpening({ saltSecret, viewFor }: Context, doc: ForecastDoc, caller: Caller): ForecastEvidence['opening'] {
  if (doc.values === null) return undefined;
  if (mayRead(doc, viewFor(caller))) return buildOpening(saltSecret, doc._id, doc.values);
  const until = `until its outcome is on chain, not before ${doc.resolvesAt.toISOString()}`;
  return { problem: `the values are gated ${until}; callers of the Basic tier may read them at once` };
}

/**
 * What the chain has of a forecast: its attestations, the prediction that it refers to, and others of the wallet in the blocks around them.
 * The record names the blocks, so that a check takes about ten calls; `svc verify` searches longer.
 * @throws OracleError CHAIN_UNREACHABLE when the attestations cannot be read
 */
export async function readChainEvidence(context: Context, doc: ForecastDoc) {
  const { attestations, wallets } = context;
  const attester = wallets.attester.address;
  const readOne = async <Type extends AttestationType>(type: Type, made: ConfirmedAttestation | null) =>
    made && { type, uid: made.uid, onChain: await attestations.read(made.uid) };
  const [made, revealed] = await Promise.all([readOne('prediction', doc.attestation), readOne('resolution', doc.reveal)]);
  const refUid = made?.onChain?.refUid ?? zeroHash;
  const [previous, around, after] = await Promise.all([
    refUid === zeroHash ? null : attestations.read(refUid).catch(orElse('CHAIN_UNREACHABLE', UNANSWERED)),
    made && searchAround(context, doc, 'prediction').catch(orElse('CHAIN_UNREACHABLE', UNANSWERED)),
    revealed && searchAround(context, doc, 'resolution').catch(orElse('CHAIN_UNREACHABLE', UNANSWERED)),
  ]);
  const prediction = made && toEvidence('prediction', made, around);
  const resolution = revealed && toEvidence('resolution', revealed, after);
  const isSearched = after !== null && !isUnread(after) && after.others !== null;
  const others = isSearched ? after.others!.filter(({ onChain }) => onChain?.refUid === made?.uid) : [];
  return {
    read: [made, revealed].filter((one) => one !== null),
    prediction,
    previous: refUid === zeroHash ? null : toEvidence('prediction', { uid: refUid, onChain: previous }, null),
    resolutions: resolution === null ? [] : [resolution, ...others.map((one) => toEvidence('resolution', one, null))],
    ...(isSearched && { search: 'complete' as const }),
    ...(around !== null && { rivals: isUnread(around) ? around : toRivals(around, prediction!, { attester, now: context.now() }) }),
  };
}

const UNANSWERED: Unread = { problem: 'the endpoint of the chain did not answer' };

type ReadAttestation = { uid: Hex; onChain: OnChainAttestation | Unread | null };

/** @param around null: the block of its event is not looked for */
function toEvidence<Type extends AttestationType>(
  schema: Type,
  { uid, onChain }: ReadAttestation,
  around: Awaited<ReturnType<typeof searchAround>> | Unread | null,
): AttestationEvidence<Type> {
  const content = isUnread(onChain) ? onChain : (onChain?.content ?? null);
  return { uid, schema, content, blockAt: around === null || isUnread(around) ? null : around.blockAt };
}

/** Blocks on either side of an attestation, which most endpoints search in one request: with 2-second blocks, nearly three hours. */
const SEARCHED_BLOCKS = 4_999;
/** A record knows nearly all attestations of its wallet. */
const MAX_UNKNOWN = 200;

/** The attestations of the wallet around one of a forecast, no further than those of the days before and after, which the record does not know. */
async function searchAround({ record, attestations, wallets }: Context, doc: ForecastDoc, type: AttestationType) {
  const { uid, blockNumber } = doc[FIELD_BY_TYPE[type]]!;
  const attester = wallets.attester.address;
  const newest = await attestations.readBlockNumber();
  const { known } = record;
  const blockOf = (day: Day) => known.findForecast(formatForecastId(day, doc.horizonDays))?.[FIELD_BY_TYPE[type]]?.blockNumber;
  const fromBlock = Math.min(blockNumber, Math.max(blockNumber - SEARCHED_BLOCKS, blockOf(doc.day - 1) ?? 0));
  const toBlock = Math.max(blockNumber, Math.min(blockNumber + SEARCHED_BLOCKS, blockOf(doc.day + 1) ?? newest));
  const logs = await attestations.find({ schema: type, attester, fromBlock, toBlock });
  const own = logs.find((log) => log.uid === uid);
  const isKnown = (one: Hex) => one === uid || known.findByUid(one)?.[FIELD_BY_TYPE[type]]?.uid === one;
  const unknown = [...new Set(logs.map((log) => log.uid))].filter((one) => !isKnown(one));
  const [others, endsAt, blockAt] = await Promise.all([
    unknown.length > MAX_UNKNOWN ? null : Promise.all(unknown.map(async (one) => ({ uid: one, onChain: await attestations.read(one) }))),
    attestations.readBlockTime(toBlock),
    own && (own.blockAt ?? attestations.readBlockTime(own.blockNumber)),
  ]);
  return { others, endsAt, blockAt: blockAt ?? { problem: 'the endpoint of the chain lists no event of it in its block' } };
}

/** Other predictions of the wallet, which may be for the day and horizon of this one. */
function toRivals(
  { others, endsAt, blockAt }: Awaited<ReturnType<typeof searchAround>>,
  own: AttestationEvidence<'prediction'>,
  context: CheckContext,
): RivalEvidence {
  const range = { since: new Date(0), newest: endsAt };
  if (others === null) return { ...range, committed: [], tooMany: MAX_UNKNOWN };
  const listed = [...(isUnread(blockAt) ? [] : [own]), ...others.map((one) => toEvidence('prediction', one, null))];
  return { ...range, committed: listed.flatMap((one) => checkAttestation(one, context, createFindings()) ?? []) };
}
