import { formatDay } from '../forecast/day.ts';
import { mean } from '../forecast/math/mean.ts';
import { brierScore } from '../forecast/scoring.ts';
import { fromCents } from '../record/forecast-doc.ts';
import type { CommitmentDoc } from './commitments/commitment.ts';
import type { CrowdFigures } from './commitments/store.ts';
import { formatMarketQuestion, type MarketDoc, type RoundDoc, type RoundState } from './rounds/round.ts';
import { getDecidingDay } from './rounds/week.ts';
import { computeRoundsInterval } from './scoring/rounds-interval.ts';
import type { StandingRow } from './scoring/standings-query.ts';

export type CrowdByMarket = ReadonlyMap<string, CrowdFigures>;

export type MarketView = ReturnType<typeof toMarketView>;

export type RoundView = ReturnType<typeof toRoundView>;

/** Commitments are public once their round has opened, when no other can copy them. */
export function areCommitmentsPublic({ opensAt }: Pick<RoundDoc, 'opensAt'>, now: Date): boolean {
  return now >= opensAt;
}

/** The oracle's probabilities show once RESOLVED, those of others once opened; `crowd` is of undecided rounds, others store their own. */
export function toRoundView(round: RoundDoc, crowd: CrowdByMarket, now: Date) {
  const { _id, opensAt, resolvesAt, listedAt, listing, outcome, voidBecause, scoredAt } = round;
  const markets = round.markets.map((market) => toMarketView(round, market, crowd, now));
  return {
    round: _id,
    state: getRoundState(round, now),
    listedAt: listedAt.toISOString(),
    deadline: opensAt.toISOString(),
    resolvesAt: resolvesAt.toISOString(),
    decidingDate: formatDay(getDecidingDay(round)),
    listingPrice: listing.spotUsd,
    listingSource: listing.source,
    markets,
    close: outcome === null ? null : fromCents(outcome.closeCents),
    venues: outcome?.venues ?? null,
    decidedAt: outcome?.decidedAt.toISOString() ?? null,
    ...toOracleFields(round, markets),
    scored: scoredAt !== null,
    voidBecause,
  };
}

/** A round opens by its time, not when the job runs. */
function getRoundState(round: RoundDoc, now: Date): RoundState {
  return round.state === 'OPEN' && areCommitmentsPublic(round, now) ? 'RUNNING' : round.state;
}

function toOracleFields({ state, pinned }: RoundDoc, markets: MarketView[]) {
  if (state !== 'RESOLVED' || pinned === null) return { oracleForecastDate: null, oracleModelVersion: null, oracleMeanBrier: null };
  return {
    oracleForecastDate: formatDay(pinned.day),
    oracleModelVersion: pinned.modelVersion,
    oracleMeanBrier: roundToMicro(mean(markets.map(({ oracleBrier }) => oracleBrier!))),
  };
}

function toMarketView(round: RoundDoc, market: MarketDoc, crowd: CrowdByMarket, now: Date) {
  const { id, strikeUsd, above } = market;
  const commitments = market.commitments ?? crowd.get(id)?.commitments ?? 0;
  const meanBps = areCommitmentsPublic(round, now) ? (market.meanBps ?? crowd.get(id)?.meanBps ?? null) : null;
  const crowdProbability = meanBps === null ? null : roundToMicro(meanBps / 10_000);
  const oracleProbability = round.state === 'RESOLVED' && market.oracleBps !== null ? market.oracleBps / 10_000 : null;
  return {
    market: id,
    question: formatMarketQuestion(round, market),
    strikeUsd,
    commitments,
    crowdProbability,
    outcome: above === null ? null : above ? ('YES' as const) : ('NO' as const),
    oracleProbability,
    oracleBrier: brierOrNull(oracleProbability, above),
    crowdBrier: brierOrNull(crowdProbability, above),
  };
}

function brierOrNull(probability: number | null, above: boolean | null): number | null {
  return probability === null || above === null ? null : roundToMicro(brierScore(probability, above));
}

export function toCommitmentView({ wallet, probabilityBps, issuedAtMs, committedAt, signature, score }: CommitmentDoc) {
  return {
    wallet,
    probabilityBps,
    issuedAtMs,
    committedAt: committedAt.toISOString(),
    signature,
    brier: score === null ? null : roundToMicro(score.brierWallet),
    points: score?.points ?? null,
  };
}

/** @param place on the leaderboard, from 1 */
export function toStandingView(row: StandingRow, place: number) {
  const interval = computeRoundsInterval(row.meanDifference, row.standardDeviation ?? 0, row.rounds);
  return {
    rank: row.ranked ? place : null,
    wallet: row._id,
    points: row.points,
    rounds: row.rounds,
    commitments: row.commitments,
    brier: roundToMicro(row.brierWallet),
    oracleBrier: roundToMicro(row.brierOracle),
    meanDifference: roundToMicro(row.meanDifference),
    interval: interval === null ? null : { low: roundToMicro(interval.low), high: roundToMicro(interval.high) },
    beatsOracle: interval === null ? null : interval.low > 0,
  };
}

/** Rounds to six digits; adding 0 turns -0 into 0. */
function roundToMicro(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
