import type { Hash } from 'viem';
import { readRegime } from '../../../skills/get-market-context.ts';
import { getTrackRecord } from '../../../skills/get-track-record.ts';
import { type Prediction, predict, splitPrediction } from '../../../skills/predict-btc-direction.ts';
import { PAYING_CALLER } from '../../auth/caller.ts';
import { DIRECTION_CODES, EAS_SCHEMAS, encodeOpening, encodePrediction, getSchemaUid, SIGNAL_CODES } from '../../chain/eas/schemas.ts';
import type { Context } from '../../context.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import type { FeedKind } from '../../market/feed.ts';
import { type BriefOutcome, toBriefOutcome } from '../../record/briefs.ts';
import type { DayDoc, InputSource } from '../../record/forecast-doc.ts';
import { buildExpectedPrediction, buildOpening } from '../../record/forecast-doc.ts';
import { COMMITMENT_FORMULA } from '../../record/prediction.ts';
import type { MadeForecast } from '../../record/public-signal.ts';
import { buildBetFromWager, getNextIntent, type TradeIntent, viewWager } from '../../record/trade-intent.ts';

/** The newest 7-day forecast with its proof. @throws OracleError STEP_WAITING before the first forecast */
export async function composeSignalWithProof(context: Context): Promise<DocumentBody> {
  return toSignalWithProof(context, await readSoldForecast(context));
}

function toSignalWithProof(context: Context, sold: SoldForecast): DocumentBody {
  const { forecastId, attestationUid, signal, made } = sold;
  return {
    forecastId,
    attestationUid,
    sentences: [...describeForecast(signal), `The record of this horizon: ${signal.skill.verdict}.`, NO_ADVICE_NOTE],
    ...toForecastSection(sold),
    proof: buildFullProof(context, made),
  };
}

/** `composeSignalWithProof` with methodology and record. @throws OracleError STEP_WAITING before the first forecast */
export async function composeBitcoinSignal(context: Context): Promise<DocumentBody> {
  const sold = await readSoldForecast(context);
  const { model, thresholds } = sold.evidence;
  return {
    ...toSignalWithProof(context, sold),
    methodology: {
      description: METHOD_DESCRIPTION,
      url: `${context.publicUrl}/methodology.md`,
      model,
      thresholds,
    },
    record: await readStatistics(context),
  };
}

const METHOD_DESCRIPTION =
  'A logistic regression on five scores (trend, momentum, flow, value, volatility), shrunk towards the base rate and calibrated on days that it had not seen; BUY and SELL begin where P(up) is far enough from one half for the market regime, and HOLD lies between.';

export const SOLD_HORIZON_DAYS = 7;

interface DocumentHead {
  /** Name of the offering without `svc_`. */
  kind: string;
  title: string;
  generatedAt: string;
  /** The included 7-day forecast, or null. */
  forecastId: string | null;
  /** Attestation of that forecast; null without one, or before it is on chain. */
  attestationUid: Hash | null;
  source: string;
  marketKind: FeedKind;
  sentences: string[];
}

export type DocumentBody = Pick<DocumentHead, 'forecastId' | 'attestationUid' | 'sentences'> & Record<string, unknown>;

export function buildDocument(
  { market }: Context,
  { name, title }: { name: string; title: string },
  { now, body: { forecastId, attestationUid, sentences, ...body } }: { now: Date; body: DocumentBody },
): DocumentHead & Record<string, unknown> {
  return {
    kind: name.replace(/^svc_/, ''),
    title,
    generatedAt: now.toISOString(),
    forecastId,
    attestationUid,
    source: market.source,
    marketKind: market.kind,
    sentences,
    ...body,
  };
}

const NO_ADVICE_NOTE = 'This is not trading advice, and a probability is not a promise: do not stake what you cannot afford to lose.';

/** E.g. `53.2 %`. */
export function probabilityToPercent(p: number): string {
  return `${(p * 100).toFixed(1)} %`;
}

/** A forecast in prose: its values, outcome window and attestation. */
function describeForecast({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, ...rest }: Prediction): string[] {
  const { windowOpensAt, resolvesAt, attestationUid, attestedAt, stale, missedSince } = rest;
  const call = signal === 'HOLD' ? 'HOLD: no call, since the odds are too even for the regime' : signal;
  return [
    `${call}. The ${horizon} forecast of ${date} leans ${direction} with ${probabilityToPercent(confidence)} confidence: P(up) is ${probabilityToPercent(pUp)}, from ${btcPrice} USD, in the regime ${regime}.`,
    `It is about the closes at ${windowOpensAt} and ${resolvesAt}.`,
    attestationUid === null
      ? 'It is not on chain yet: it has to be before its window opens.'
      : `Its commitment has been on chain since ${attestedAt} as ${attestationUid}.`,
    ...(stale ? [`A newer forecast is overdue${missedSince === null ? '' : `; days from ${missedSince} on were missed`}.`] : []),
  ];
}

const NO_MERKLE_NOTE =
  'There is no Merkle tree: each forecast has one commitment and one attestation of its own, so that no path has to be shown.';

/** Reveals the opening of a commitment, the preimage of its hash, for payers only. */
function buildFullProof(context: Context, doc: MadeForecast) {
  const opening = buildOpening(context.saltSecret, doc._id, doc.values);
  return {
    commitment: doc.commitment,
    encodedOpening: encodeOpening(opening),
    formula: COMMITMENT_FORMULA,
    codes: { signal: SIGNAL_CODES, direction: DIRECTION_CODES },
    chain: `eip155:${context.chain.chainId}`,
    easContract: context.chain.addresses.eas,
    attester: context.wallets.attester.address,
    prediction: toPredictionWords(doc),
    attestation: toAttestationReference(context, doc),
    metadata: { cid: doc.cid, digest: doc.metadataDigest, url: `${context.publicUrl}/ipfs/${doc.cid}` },
    merkle: { root: null, note: NO_MERKLE_NOTE },
    steps: STEPS,
  };
}

const STEPS = [
  'Hash `encodedOpening` with keccak256: the result is `commitment`.',
  'Encode the numbers of `forecast.opening` by `formula`: the result is `encodedOpening`.',
  'Call getAttestation(uid) of the EAS contract on the chain: its attester is `attester`, its schema `prediction.schemaUid`, its data `prediction.data`.',
  'Its time is before `prediction.words.windowOpensAt`: the forecast was there before its outcome window opened.',
  'Fetch `metadata.url`: the sha2-256 of its bytes is the last word, `metadata.digest`, and `cid` follows from it.',
];

/** Fields of the prediction attestation as encoded numbers. */
function toPredictionWords(doc: MadeForecast) {
  const { refUid, ...fields } = buildExpectedPrediction(doc);
  const { sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadata } = fields;
  return {
    schemaUid: getSchemaUid('prediction'),
    schema: EAS_SCHEMAS.prediction,
    words: {
      sequence,
      day,
      horizonDays,
      windowOpensAt: windowOpensAt.getTime() / 1_000,
      resolvesAt: resolvesAt.getTime() / 1_000,
      commitment,
      inputsDigest,
      metadata,
    },
    data: encodePrediction(fields),
    refUid,
  };
}

/** Null until it is on chain. */
function toAttestationReference({ publicUrl, explorerUrl }: Context, { attestation }: MadeForecast) {
  if (attestation === null) return null;
  const { uid, txHash, blockNumber, at } = attestation;
  return {
    uid,
    txHash,
    blockNumber,
    blockTime: at.toISOString(),
    easscanUrl: explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`,
    verifyUrl: `${publicUrl}/api/svc/onchain-oracle/verify/${uid}`,
  };
}

/** The newest forecast of a horizon as visible to payers, with its record. */
type SoldForecast = Awaited<ReturnType<typeof readSoldForecast>>;

/** @throws OracleError STEP_WAITING before the first forecast */
async function readSoldForecast(context: Context, horizonDays: number = SOLD_HORIZON_DAYS) {
  const answer = await predict('premium', horizonDays, context, PAYING_CALLER);
  const made = context.record.known.findForecast(answer.predictionId) as MadeForecast;
  const { signal, evidence } = splitPrediction(answer);
  return { signal, evidence, made, forecastId: answer.predictionId, attestationUid: made.attestation?.uid ?? null };
}

function toForecastSection({ signal, evidence }: SoldForecast) {
  return { forecast: signal, quantiles: evidence.quantiles };
}

/** The published statistics of a horizon. */
async function readStatistics(context: Context, horizonDays = SOLD_HORIZON_DAYS) {
  const input = { horizon: formatHorizonName(horizonDays), page: 1, pageSize: 1 };
  return (await getTrackRecord.run(input, context, PAYING_CALLER)).statistics;
}

type Stake = Pick<TradeIntent, 'contractSide' | 'market' | 'sizing' | 'marketReason' | 'wager'> & {
  entry: TradeIntent['entry'] | null;
  actionable: boolean;
  notActionableBecause: string | null;
};

/** The day on one page. @throws OracleError STEP_WAITING before the first forecast */
export async function composeAlphaBrief(context: Context): Promise<DocumentBody> {
  const sold = await readSoldForecast(context);
  const { forecastId, attestationUid, signal, made } = sold;
  const since = new Date(context.now().getTime() - DAY_MS);
  const [regime, stake] = await Promise.all([readRegime(context), readStake(context, made.day)]);
  const revealed = context.record.known.listAll().filter(({ reveal }) => reveal !== null && reveal.at > since);
  const resolved = revealed.map(toBriefOutcome);
  return {
    forecastId,
    attestationUid,
    sentences: [...describeForecast(signal), formatStake(stake), formatResolved(resolved), ...RISKS, NO_ADVICE_NOTE],
    ...toForecastSection(sold),
    proof: buildFullProof(context, made),
    regime,
    stake,
    resolvedSince: { since: since.toISOString(), forecasts: resolved },
    risks: [`The record of this horizon: ${signal.skill.verdict}.`, ...RISKS],
  };
}

const RISKS = [
  'A contract pays 1 or nothing: the whole stake is lost when its side loses, also when the probability was right.',
  'A size by Kelly is right only for a probability that is right; a fraction of it is staked, and nothing where the model has not earned belief against the market.',
  'Prices move after they were quoted: enter below the highest cost or not at all.',
];

/** The trade intent of a BUY or SELL; for a HOLD the wager of the day, which is sized on the model's probability, too. */
async function readStake(context: Context, day: number): Promise<Stake> {
  const intent = await getNextIntent(context, SOLD_HORIZON_DAYS, PAYING_CALLER);
  if (intent !== null) {
    const { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause } = intent;
    return { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause };
  }
  const wager = context.record.known.findWager(day);
  const bet = buildBetFromWager(wager);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    contractSide: sizing?.side ?? null,
    market,
    sizing,
    marketReason: 'reason' in bet ? bet.reason : null,
    wager: wager && viewWager(wager),
    entry: null,
    actionable: false,
    notActionableBecause: 'The forecast is HOLD: it calls for no trade.',
  };
}

function formatStake({ market, sizing, marketReason, contractSide, actionable, notActionableBecause }: Stake): string {
  if (market === null || sizing === null) return marketReason ?? 'There is no market to stake on.';
  const quoted = `The market asks ${probabilityToPercent((market.bid + market.ask) / 2)} for a price above ${market.strike} USD at ${market.expiresAt}, the model says ${probabilityToPercent(sizing.pModel)}`;
  const side = contractSide === null ? 'no side has an edge after costs' : `the side with an edge is ${contractSide}`;
  return `${quoted}: ${side}. ${sizing.note}${actionable ? '' : ` ${notActionableBecause ?? ''}`}`.trim();
}

function formatResolved(resolved: readonly BriefOutcome[]): string {
  if (resolved.length === 0) return 'No outcome has come on chain within the last 24 hours.';
  const outcomes = resolved.map(({ predictionId, signal, outcome }) => `${predictionId} ${signal} ${outcome}`);
  return `Outcomes of the last 24 hours: ${outcomes.join(', ')}.`;
}

/** The forecasts of all horizons with their inputs, models and records. @throws OracleError STEP_WAITING before the first forecast */
export async function composeAnalysisReport(context: Context): Promise<DocumentBody> {
  const sold = await Promise.all(HORIZONS.map((horizonDays) => readSoldForecast(context, horizonDays)));
  const main = sold.find(({ made }) => made.horizonDays === SOLD_HORIZON_DAYS) as SoldForecast;
  const [day, regime, records] = await Promise.all([
    context.record.findDay(main.made.day) as Promise<DayDoc>,
    readRegime(context),
    Promise.all(HORIZONS.map((horizonDays) => readStatistics(context, horizonDays))),
  ]);
  return {
    forecastId: main.forecastId,
    attestationUid: main.attestationUid,
    sentences: formatSentences(main, sold),
    regime,
    categories: main.evidence.categories,
    inputs: (JSON.parse(day.metadata.json) as { inputs: InputSource[] }).inputs,
    horizons: sold.map((one, index) => ({
      ...toForecastSection(one),
      thresholds: one.evidence.thresholds,
      model: one.evidence.model,
      record: records[index],
    })),
  };
}

function formatSentences(main: SoldForecast, sold: readonly SoldForecast[]): string[] {
  return [
    ...describeForecast(main.signal),
    ...sold.map(({ signal: { horizon, signal, direction, pUp, skill } }) => {
      const call = signal === 'HOLD' ? `HOLD, leaning ${direction}` : `${signal} (${direction})`;
      return `${horizon}: ${call}, P(up) ${probabilityToPercent(pUp)}. Its record: ${skill.verdict}.`;
    }),
    'Whether bitcoin rises within days is close to a coin toss: where a record cannot be distinguished from always saying UP, its confidence is no edge.',
    NO_ADVICE_NOTE,
  ];
}
