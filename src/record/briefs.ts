import { DAY_MS, type Day, formatDay, formatDayOrNull, toInstantMs } from '../forecast/day.ts';
import { formatHorizonName, HORIZONS, type HorizonName } from '../forecast/model.ts';
import { summarizeRecord } from '../forecast/record-statistics.ts';
import { REGIMES } from '../forecast/regime.ts';
import type { FeedKind } from '../market/feed.ts';
import type { MarketContext, SeriesHealth } from '../market/market.ts';
import { roundTo, sanitizeText } from '../platform/validation.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import { toCrowdPin } from './crowd.ts';
import { type ForecastDoc, forecastAsOf, fromCents, isOpenForecast } from './forecast-doc.ts';
import { isOwnVenue } from './forecasts.ts';
import type { KnownDay } from './projection.ts';
import { toSummaryRow } from './scorecard.ts';
import { toCommittedProbabilities } from './visibility.ts';

export const NEXT_EVENTS = ['signal', 'attestation', 'wager', 'window-opens', 'resolution', 'brief', 'weekly-report'] as const;

export interface BriefNext {
  event: (typeof NEXT_EVENTS)[number];
  at: string;
}

/** A day's brief as it is stored and served. It is the same for every caller, so that it holds nothing unresolved. */
export type Brief = ReturnType<typeof composeBrief>;

export type BriefOutcome = ReturnType<typeof toBriefOutcome>;

const MAX_QUESTION_CHARS = 160;
const MAX_REASON_CHARS = 200;

export interface BriefData {
  /** Date of the brief: it holds what was known at `asOf`; its newest forecast is that of the day before. */
  day: Day;
  asOf: Date;
  generatedAt: Date;
  late: boolean;
  source: string;
  kind: FeedKind;
  context: MarketContext | null;
  contextMissing: string | null;
  series: readonly SeriesHealth[];
  yesterday: KnownDay | null;
  lastForecast: KnownDay | null;
  replayedDays: number;
  /** All earlier forecasts, as the record holds them now. */
  forecasts: readonly ForecastDoc[];
  wager: WagerDoc | null;
  troubles: readonly { step: string; date: string; state: string; reason: string | null }[];
  next: readonly BriefNext[];
  lastCovered: Day | null;
}

/** As of the due time, without later attestations. Every caller gets the same, so that unresolved forecasts appear by id only. */
export function composeBrief(data: BriefData) {
  const { day, asOf, generatedAt, late, source, kind, replayedDays, series, lastForecast, wager } = data;
  const known = data.forecasts.filter((doc) => doc.day < day).map((doc) => forecastAsOf(doc, asOf));
  const open = known.filter(isOpenForecast).map(toBriefOpen);
  const regime = lastForecast?.regime ?? null;
  return {
    date: formatDay(day),
    asOf: asOf.toISOString(),
    generatedAt: generatedAt.toISOString(),
    late,
    source: sanitizeText(source, MAX_REASON_CHARS),
    kind,
    replayedDays,
    market: toBriefMarket(data.context),
    regime: regime && { regime, riskLevel: REGIMES[regime].riskLevel, date: lastForecast!._id },
    resolved: known.filter(({ reveal }) => reveal !== null && reveal.at.getTime() > asOf.getTime() - DAY_MS).map(toBriefOutcome),
    scorecard: HORIZONS.map((horizonDays) => buildBriefScore(known, horizonDays)),
    open,
    crowd: wager === null || wager.decidedAt > asOf ? null : buildBriefCrowd(wager),
    next: listBriefEvents(data, open),
    data: series.map(({ series: id, source: from, lastObservedDay, ageDays, stale }) => ({
      series: id,
      source: sanitizeText(from, MAX_REASON_CHARS),
      lastObserved: formatDayOrNull(lastObservedDay),
      ageDays,
      stale,
    })),
    notes: composeNotes(data, known),
  };
}

function toBriefMarket(context: MarketContext | null) {
  const change24h = context?.change24hPct ?? null;
  return {
    btcPrice: context && roundTo(context.btcPrice, 2),
    change24h: change24h && roundTo(change24h, 2),
    fearGreed: context?.fearGreed ?? null,
    fearGreedLabel: context?.fearGreedLabel ?? null,
    etfFlows7d: context?.etfFlows7dUsd ?? null,
    etfFlows30d: context?.etfFlows30dUsd ?? null,
    etfFlowLastDay: context?.etfFlowLastDayUsd ?? null,
    etfFlowsThrough: formatDayOrNull(context?.etfFlowThroughDay ?? null),
  };
}

export function toBriefOutcome({ _id, day, horizonDays, values, resolution }: ForecastDoc) {
  const { outcome, returnBps, btcAtSignalCents, btcAtResolutionCents } = resolution!;
  return {
    predictionId: _id,
    date: formatDay(day),
    horizon: formatHorizonName(horizonDays),
    signal: values!.signal,
    direction: values!.direction,
    confidence: toCommittedProbabilities(values!).confidence,
    outcome,
    returnBps,
    btcAtSignal: fromCents(btcAtSignalCents),
    btcAtResolution: fromCents(btcAtResolutionCents),
  };
}

function buildBriefScore(known: readonly ForecastDoc[], horizonDays: number) {
  const docs = known.filter((doc) => doc.horizonDays === horizonDays);
  const { totalPredictions, dedupedTotal, ...summary } = summarizeForecasts(docs, horizonDays);
  const { resolved, wins, losses, holds, pending, voids, accuracy, accuracyInterval95, alwaysUpAccuracy, brier, verdict } = summary;
  return {
    horizon: formatHorizonName(horizonDays),
    forecasts: totalPredictions,
    resolved,
    wins,
    losses,
    holds,
    pending,
    voids,
    accuracy,
    independent: dedupedTotal,
    accuracyInterval95,
    alwaysUpAccuracy,
    brier,
    verdict,
  };
}

/** The longest streak is part of the statistics instead. */
export function summarizeForecasts(docs: readonly ForecastDoc[], horizonDays: number) {
  const { longestWinStreak, ...summary } = summarizeRecord(docs.map(toSummaryRow), horizonDays);
  return summary;
}

function toBriefOpen({ _id, horizonDays, resolvesAt, attestation }: ForecastDoc) {
  return {
    predictionId: _id,
    horizon: formatHorizonName(horizonDays),
    signal: 'GATED' as const,
    confidence: null,
    resolvesAt: resolvesAt.toISOString(),
    attestationUid: attestation?.uid ?? null,
  };
}

function buildBriefCrowd(wager: WagerDoc) {
  if (wager.market === null || wager.qMarket === null || wager.pModel === null) return null;
  const { venue, question, strikeUsd, expiresAt, pMarket } = toCrowdPin(wager, null);
  return {
    venue,
    quotesAreOurs: isOwnVenue(venue),
    question: sanitizeText(question, MAX_QUESTION_CHARS),
    strike: strikeUsd,
    expiresAt: expiresAt.toISOString(),
    marketProbability: pMarket,
  };
}

function listBriefEvents({ next, lastCovered }: BriefData, open: readonly { resolvesAt: string }[]): BriefNext[] {
  // Resolution needs the close of the day before; without it the forecast stays open.
  const end = lastCovered === null ? null : new Date(toInstantMs(lastCovered + 1)).toISOString();
  return sortByTime([...next, ...findNextResolution(open.filter(({ resolvesAt }) => end === null || resolvesAt <= end))]);
}

function findNextResolution(open: readonly { resolvesAt: string }[]): BriefNext[] {
  const [at] = open.map(({ resolvesAt }) => resolvesAt).toSorted();
  return at === undefined ? [] : [{ event: 'resolution', at }];
}

function sortByTime(events: readonly BriefNext[]): BriefNext[] {
  return events.toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function composeNotes({ late, yesterday, day, asOf, contextMissing, troubles }: BriefData, known: readonly ForecastDoc[]): string[] {
  const before = formatDay(day - 1);
  const overdue = known.filter((doc) => isOpenForecast(doc) && doc.resolvesAt <= asOf).length;
  const uncommitted = known.filter(({ state, missed }) => state === 'DRAFT' && !missed).length;
  const voided = known.filter((doc) => doc.day === day - 1 && doc.state === 'VOID' && !doc.missed).length;
  return [
    ...(late ? ['This brief was made late; it contains what was known at its time.'] : []),
    ...(yesterday === null ? [`There is no entry of ${before} in the record.`] : []),
    ...(yesterday?.missedBecause ? [`${before} was missed: ${sanitizeText(yesterday.missedBecause, MAX_REASON_CHARS)}.`] : []),
    ...(yesterday?.late && yesterday.missedBecause === null ? [`The forecast of ${before} was made late.`] : []),
    ...(voided > 0 ? [`${voided} forecasts of ${before} were committed too late and never count.`] : []),
    ...(uncommitted > 0 ? [`${uncommitted} forecasts are not on chain yet.`] : []),
    ...(overdue > 0 ? [`${overdue} forecasts have ended and wait for their resolution.`] : []),
    ...(contextMissing === null ? [] : [`No market figures: ${sanitizeText(contextMissing, MAX_REASON_CHARS)}.`]),
    ...troubles.map(
      ({ step, date, state, reason }) =>
        `Step ${step} of ${date} is ${state}: ${sanitizeText(reason ?? 'no reason known', MAX_REASON_CHARS)}.`,
    ),
  ];
}

export function filterBriefByHorizons(brief: Brief, horizons: readonly HorizonName[]): Brief {
  const isChosen = ({ horizon }: { horizon: HorizonName }) => horizons.includes(horizon);
  const open = brief.open.filter(isChosen);
  return {
    ...brief,
    resolved: brief.resolved.filter(isChosen),
    scorecard: brief.scorecard.filter(isChosen),
    open,
    // The stored event covers all horizons and is recomputed.
    next: sortByTime(brief.next.flatMap((one) => (one.event === 'resolution' ? findNextResolution(open) : [one]))),
  };
}
