import type { Hex } from 'viem';
import { getMarketContext, readRegime } from '../../../skills/get-market-context.ts';
import { PAYING_CALLER, PUBLIC_CALLER } from '../../auth/caller.ts';
import { type ConfirmedAttestation, deriveSalt } from '../../chain/eas/eas.ts';
import type { Context } from '../../context.ts';
import { OracleError } from '../../errors.ts';
import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import { QUORUM_RULES } from '../../market/quorum.ts';
import { derivativesSummaryReport } from '../../market/reports/derivatives.ts';
import { type HorizonFigures, toFullStatistics } from '../../record/figures.ts';
import type { ForecastDoc } from '../../record/forecast-doc.ts';
import { describeManualVerification } from '../../record/prediction.ts';
import { loadOrNoteMissing, type MissingPart, notYetMadeError } from '../../record/public-signal.ts';
import { CONTEXT_SECTIONS } from '../../record/schemas/market-context.ts';
import { mayRead, toVisibleStatus, type ViewOptions } from '../../record/visibility.ts';
import { type Channel, type ComposedDocument, findOffering, getOfferingId } from '../offerings.ts';
import {
  buildDocument,
  composeAlphaBrief,
  composeAnalysisReport,
  composeBitcoinSignal,
  composeSignalWithProof,
  type DocumentBody,
} from './documents.ts';
import { composeCrowdVsOracle, composeMacroReview } from './market.ts';

interface HorizonDocs {
  horizonDays: number;
  docs: readonly ForecastDoc[];
  figures: HorizonFigures;
}

/** Unresolved forecasts have public visibility only: the record is sold, not the forecast. @throws OracleError STEP_WAITING */
export async function composeTrackRecord(context: Context): Promise<DocumentBody> {
  const horizons = await Promise.all(
    HORIZONS.map(async (horizonDays) => ({
      horizonDays,
      docs: context.record.known.listByHorizon(horizonDays),
      figures: await context.figures.getHorizon(horizonDays),
    })),
  );
  if (horizons.every(({ docs }) => docs.length === 0)) throw notYetMadeError('forecast');
  const transactions = new TransactionTable();
  const options = { view: context.viewFor(PUBLIC_CALLER), saltSecret: context.saltSecret, transactions };
  const horizonTables = horizons.map(({ horizonDays, docs, figures }) => ({
    horizon: formatHorizonName(horizonDays),
    statistics: toFullStatistics(figures),
    rows: docs.map((doc) => toForecastRow(doc, options)),
  }));
  return {
    forecastId: null,
    attestationUid: null,
    sentences: formatHorizonSummaries(horizons),
    audit: buildAudit(context, horizons),
    columns: toHeader(FORECAST_COLUMNS),
    horizons: horizonTables,
    days: { columns: toHeader(DAY_COLUMNS), rows: (horizons.at(-1) as HorizonDocs).docs.map(toDayRow) },
    transactions: { columns: toHeader(TRANSACTION_COLUMNS), rows: transactions.rows },
  };
}

function formatHorizonSummaries(horizons: readonly HorizonDocs[]): string[] {
  return [
    ...horizons.map(({ horizonDays, figures }) => {
      const { totalPredictions, wins, losses, holds, voids, pending, verdict } = figures.summary;
      return `${formatHorizonName(horizonDays)}: ${totalPredictions} forecasts, ${wins} right, ${losses} wrong, ${holds} held, ${voids} void, ${pending} pending; ${verdict}.`;
    }),
    'Forecasts of following days share most of their outcome: intervals count as many calls as all are worth.',
    'Nothing is left out: the sequence of each horizon goes from 1 without a gap, and each attestation refers to that of the day before.',
  ];
}

function buildAudit(context: Context, horizons: readonly HorizonDocs[]) {
  const docs = horizons.flatMap((horizon) => horizon.docs);
  const blocks = docs.flatMap(({ attestation }) => (attestation === null ? [] : [attestation.blockNumber]));
  const venues = new Set(docs.flatMap(({ reveal, resolution }) => (reveal === null ? [] : (resolution?.venues ?? []))));
  const { minVenues, maxDeviationBps } = QUORUM_RULES[context.market.kind];
  return {
    ...describeManualVerification(context),
    schemaRegistry: context.chain.addresses.schemaRegistry,
    firstBlock: blocks.length === 0 ? null : blocks.reduce((least, block) => Math.min(least, block)),
    firstDate: formatDay(docs.reduce((least, { day }) => Math.min(least, day), Number.POSITIVE_INFINITY)),
    resolutionRule: RESOLUTION_RULE,
    priceRule: `Median of the daily closes (00:00 UTC) of at least ${minVenues} venues, none farther than ${maxDeviationBps} basis points from it; without them nothing is resolved.`,
    priceVenues: [...venues].toSorted(),
  };
}

const RESOLUTION_RULE =
  'A forecast of day D over H days is measured from the daily close at 00:00 UTC that ends day D to the one H days later. UP wins if the later close is strictly higher, DOWN otherwise; HOLD is resolved and never scored; what was missed, or attested after its window opened, is VOID and never counts.';

const FORECAST_COLUMNS = {
  sequence: 'Position in the record of this horizon, from 1, one a day, without gaps',
  date: 'Day of the forecast, UTC; `days` has the common fields of its forecasts',
  status: 'PENDING, WIN, LOSS, HOLD (abstained, not scored) or VOID (missed or committed too late, never counts)',
  signal: 'BUY, SELL or HOLD; null while unresolved, or when nothing was forecast',
  direction: 'UP or DOWN; null as `signal`',
  confidenceBps: 'Probability of the direction as committed, basis points; null as `signal`',
  pUpBps: 'Probability of UP as committed, basis points; null as `signal`',
  btcPriceCents: 'BTC/USD at signal time, US cents; null as `signal`',
  climatology: 'Base rate of UP known at the time, 0 to 1: the benchmark of the probabilities; null as `signal`',
  salt: 'Opens the commitment together with the values; null as `signal`',
  predictionUid: 'Attestation of the commitment; null until it is on chain',
  predictionTx: 'Its transaction, as an index into `transactions`; null until it is on chain',
  resolutionUid: 'Attestation of the outcome; null until it is on chain',
  resolutionTx: 'Its transaction, as an index into `transactions`; null until it is on chain',
  btcAtSignalCents: 'Daily close at window open, US cents; null before',
  btcAtResolutionCents: 'Daily close at resolution, US cents; null until the outcome is on chain',
  returnBps: 'Return over the window, basis points; null until the outcome is on chain',
} as const;

const DAY_COLUMNS = {
  date: 'The day, UTC',
  signalAt: 'When its forecasts were made, ISO 8601',
  modelVersion: 'Version of the model; null when nothing was forecast',
  regime: 'Market regime; null when nothing was forecast',
  inputsDigest: 'Digest of the inputs, as attested; zero when nothing was forecast',
  cid: 'CIDv1 of the public metadata, whose sha2-256 is attested',
  flags: '`m` missed, `l` late, `r` replayed by the demonstration; otherwise empty',
} as const;

const TRANSACTION_COLUMNS = {
  txHash: 'Hash of the transaction',
  blockNumber: 'Its block',
  blockTime: 'Time of that block, ISO 8601',
} as const;

type TrackRecordCell = string | number | null;

/** Cells in the order of the columns, all required. */
function toRow<Columns extends Record<string, string>>(columns: Columns, cells: Record<keyof Columns, TrackRecordCell>): TrackRecordCell[] {
  return Object.keys(columns).map((name) => cells[name]);
}

function toHeader(columns: Record<string, string>): { name: string; description: string }[] {
  return Object.entries(columns).map(([name, description]) => ({ name, description }));
}

/** Deduplicated transactions: one carries several attestations. */
class TransactionTable {
  readonly rows: TrackRecordCell[][] = [];
  readonly #indexes = new Map<Hex, number>();

  /** Row index of an attestation's transaction; null without an attestation. */
  indexOf(attested: ConfirmedAttestation | null): number | null {
    if (attested === null) return null;
    const { txHash, blockNumber, at } = attested;
    const known = this.#indexes.get(txHash);
    if (known !== undefined) return known;
    this.#indexes.set(txHash, this.rows.length);
    return this.rows.push(toRow(TRANSACTION_COLUMNS, { txHash, blockNumber, blockTime: at.toISOString() })) - 1;
  }
}

function toForecastRow(
  doc: ForecastDoc,
  { view, saltSecret, transactions }: { view: ViewOptions; saltSecret: string; transactions: TransactionTable },
): TrackRecordCell[] {
  const { _id, day, sequence, attestation, reveal } = doc;
  const values = mayRead(doc, view) ? doc.values : null;
  const resolution = reveal === null ? null : doc.resolution;
  return toRow(FORECAST_COLUMNS, {
    sequence,
    date: formatDay(day),
    status: toVisibleStatus(doc, values !== null),
    signal: values?.signal ?? null,
    direction: values?.direction ?? null,
    confidenceBps: values?.confidenceBps ?? null,
    pUpBps: values?.pUpBps ?? null,
    btcPriceCents: values?.btcPriceCents ?? null,
    climatology: values?.climatology ?? null,
    salt: values === null ? null : deriveSalt(saltSecret, _id),
    predictionUid: attestation?.uid ?? null,
    predictionTx: transactions.indexOf(attestation),
    resolutionUid: reveal?.uid ?? null,
    resolutionTx: transactions.indexOf(reveal),
    btcAtSignalCents: resolution?.btcAtSignalCents ?? doc.btcAtSignalCents,
    btcAtResolutionCents: resolution?.btcAtResolutionCents ?? null,
    returnBps: resolution?.returnBps ?? null,
  });
}

function toDayRow(doc: ForecastDoc): TrackRecordCell[] {
  const { day, signalAt, modelVersion, regime, inputsDigest, cid, missed, late, replayed } = doc;
  const flags = `${missed ? 'm' : ''}${late ? 'l' : ''}${replayed ? 'r' : ''}`;
  return toRow(DAY_COLUMNS, { date: formatDay(day), signalAt: signalAt.toISOString(), modelVersion, regime, inputsDigest, cid, flags });
}

const COMPOSERS: Record<string, (context: Context) => Promise<DocumentBody>> = {
  'purchase:svc_signal_with_proof': composeSignalWithProof,
  'purchase:svc_verified_track_record': composeTrackRecord,
  'purchase:svc_analysis_report': composeAnalysisReport,
  'purchase:svc_crowd_vs_oracle': composeCrowdVsOracle,
  'purchase:svc_daily_macro_review': composeMacroReview,
  'purchase:svc_alpha_brief': composeAlphaBrief,
  'agent-commerce:svc_bitcoin_signal': composeBitcoinSignal,
  'agent-commerce:svc_market_context': composeMarketContext,
  'agent-commerce:svc_crowd_vs_oracle': composeCrowdVsOracle,
};

async function composeMarketContext(context: Context): Promise<DocumentBody> {
  const now = context.now();
  const missing: MissingPart[] = [];
  const [answer, derivatives, regimeDetail] = await Promise.all([
    getMarketContext.run({ include: [...CONTEXT_SECTIONS] }, context, PAYING_CALLER),
    loadOrNoteMissing(missing, 'derivatives', () => context.market.report(derivativesSummaryReport, now.getTime())),
    loadOrNoteMissing(missing, 'regimeDetail', () => readRegime(context)),
  ]);
  const { source: _, kind: __, include: ___, missing: missingContext, ...sections } = answer;
  return {
    forecastId: null,
    attestationUid: null,
    sentences: [
      answer.price === null ? 'There is no price right now.' : `Bitcoin stands at ${answer.price.btcPrice} USD.`,
      regimeDetail === null
        ? 'There is no regime yet.'
        : `The regime is ${regimeDetail.regime} since ${regimeDetail.since}, risk ${regimeDetail.riskLevel}. ${regimeDetail.description}`,
      'No forecast is in this document.',
    ],
    ...sections,
    derivatives,
    regimeDetail,
    missing: [...missing, ...missingContext],
  };
}

/** As of `now`. @throws OracleError STEP_WAITING before the first forecast, PRICE_UNAVAILABLE, FEED_UNAVAILABLE; INPUT_INVALID */
export async function composeDocument(context: Context, channel: Channel, offering: string, now: Date): Promise<ComposedDocument> {
  const sold = findOffering(channel, offering);
  const compose = sold && COMPOSERS[getOfferingId(sold)];
  if (!sold || !compose) throw new OracleError('INPUT_INVALID', 'No document is sold under that name here', { field: 'offering' });
  const body = await compose({ ...context, now: () => now });
  const document = buildDocument(context, sold, { now, body });
  return { document, forecastId: document.forecastId, attestationUid: document.attestationUid };
}
