import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../forecast/input-frame.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, SpotPrice } from '../feed.ts';
import { findLastKnownIndex } from '../series/observations.ts';
import { SERIES, type SeriesId } from '../series/series.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import {
  createFrameHistory,
  type FrameHistory,
  type FrameObservations,
  findRange,
  keepPlausible,
  requireCloseIndex,
} from './frame-history.ts';
import { computeInputsDigest, computeRangesDigest, type Hex } from './inputs-digest.ts';

export interface InputProvenance {
  series: SeriesId;
  source: string;
  /** Date of the latest readable observation; null without one. */
  observedDay: Day | null;
  /** When that observation became known (ms). */
  availableAtMs: number | null;
  /** True when the input is missing or stale, and therefore NaN in the frame. */
  masked: boolean;
}

export interface DayInputs {
  day: Day;
  frame: InputFrame;
  digest: Hex;
  /** Of the highs and lows, which `digest` does not cover. */
  rangesDigest: Hex;
  /** The price in the last row: the spot price at the requested instant, or the close of a past day. */
  spot: SpotPrice;
  /** One entry per column of the frame; the first is the price, the last two are its high and low. */
  sources: InputProvenance[];
}

type FrameSeries = keyof FrameObservations;
/** Columns are named by their series, except the prices. */
const PRICE_SERIES = { close: 'btcClose', high: 'btcHigh', low: 'btcLow' } as const satisfies Partial<Record<FrameSeries, SeriesId>>;
type PriceColumn = keyof typeof PRICE_SERIES;
const isPriceColumn = (column: FrameSeries): column is PriceColumn => column in PRICE_SERIES;
const toSeriesId = (column: FrameSeries): SeriesId => (isPriceColumn(column) ? PRICE_SERIES[column] : column);
const FRAME_COLUMNS = [...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS];
export const MODEL_SERIES: readonly SeriesId[] = FRAME_COLUMNS.map(toSeriesId);
const INPUT_COLUMNS = FRAME_COLUMNS.filter((column) => !isPriceColumn(column));

/** Returns a builder of model inputs that throws PRICE_UNAVAILABLE, HISTORY_TOO_SHORT and the errors of the feed. */
export function createInputsBuilder(feed: Feed, spotAt: (atMs: number) => Promise<SpotPrice>) {
  let history: FrameHistory | undefined;
  let revision = feed.historyRevision?.();

  /** Rows are appended to the rows of earlier frames, so a backfill of the past starts a new history. */
  function getHistory(firstDay: Day): FrameHistory {
    const current = feed.historyRevision?.();
    if (history === undefined || current !== revision) history = createFrameHistory(firstDay);
    revision = current;
    return history;
  }

  return async (day: Day, atMs: number): Promise<DayInputs> => {
    requireStartedDay(day, atMs);
    const { firstDay } = await feed.coverage();
    const observations = await readObservations(feed, atMs);
    const isRunning = atMs < toInstantMs(day + 1);
    const spot = isRunning ? await spotAt(atMs) : toSpotPrice(observations, day);
    const range = isRunning ? keepPlausible(await feed.rangeSoFar(atMs)) : findRange(observations, day, atMs);
    const built = getHistory(firstDay).buildFrame({ day, atMs, lastClose: spot.priceUsd, lastRange: range, observations });
    const price = { source: spot.source, observedDay: day, availableAtMs: spot.observedAtMs, masked: false };
    const ranged = range === null ? { ...price, observedDay: null, availableAtMs: null, masked: true } : price;
    const sources: InputProvenance[] = [
      { series: 'btcClose', ...price },
      ...buildInputProvenance(built.observations, day, Math.min(atMs, getSignalTimeMs(day))),
      { series: 'btcHigh', ...ranged },
      { series: 'btcLow', ...ranged },
    ];
    const { frame } = built;
    return { day, frame, digest: computeInputsDigest(frame), rangesDigest: computeRangesDigest(frame), spot, sources };
  };
}

function requireStartedDay(day: Day, atMs: number): void {
  if (atMs >= toInstantMs(day)) return;
  throw new OracleError('PRICE_UNAVAILABLE', `${formatDay(day)} has not begun at ${new Date(atMs).toISOString()}`);
}

async function readObservations(feed: Feed, atMs: number): Promise<FrameObservations> {
  const entries = FRAME_COLUMNS.map(async (column) => [column, await feed.observations(toSeriesId(column), atMs)]);
  return Object.fromEntries(await Promise.all(entries)) as FrameObservations;
}

function toSpotPrice({ close }: FrameObservations, day: Day): SpotPrice {
  const index = requireCloseIndex(close, day);
  return { priceUsd: close.values[index], observedAtMs: close.availableAt[index], source: close.source, change24hPct: null };
}

function buildInputProvenance(observations: FrameObservations, day: Day, knownAtMs: number): InputProvenance[] {
  return INPUT_COLUMNS.map((series) => {
    const { source, days, availableAt } = observations[series];
    const index = findLastKnownIndex(observations[series], day - SERIES[series].lagDays, knownAtMs);
    if (index < 0) return { series, source, observedDay: null, availableAtMs: null, masked: true };
    const masked = day - days[index] > SERIES[series].staleDays;
    return { series, source, observedDay: days[index], availableAtMs: availableAt[index], masked };
  });
}
