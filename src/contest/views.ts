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

export interface MarketView {
  market: string;
  question: string;
  strikeUsd: number;
  commitments: number;
  crowdProbability: number | null;
  outcome: 'YES' | 'NO' | null;
  oracleProbability: number | null;
  oracleBrier: number | null;
  crowdBrier: number | null;
}

export interface RoundView {
  round: string;
  state: RoundState;
  listedAt: string;
  deadline: string;
  resolvesAt: string;
  decidingDate: string;
  listingPrice: number;
  listingSource: string;
  markets: MarketView[];
  close: number | null;
  venues: string[] | null;
  decidedAt: string | null;
  oracleForecastDate: string | null;
  oracleModelVersion: string | null;
  oracleMeanBrier: number | null;
  scored: boolean;
  voidBecause: string | null;
}

/** Commitments are public once their round has opened, when no other can copy them. */
export function areCommitmentsPublic({ opensAt }: Pick<RoundDoc, 'opensAt'>, now: Date): boolean {
  return now >= opensAt;
}

/**
 * Public view of a round: the oracle's probabilities once it is RESOLVED, those of others once it has opened.
 * @param crowd figures of undecided rounds; decided ones store their own
 */
export function toRoundView(round: RoundDoc, crowd: CrowdByMarket, now: Date): RoundView {
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

type OracleFields = Pick<RoundView, 'oracleForecastDate' | 'oracleModelVersion' | 'oracleMeanBrier'>;

function toOracleFields({ state, pinned }: RoundDoc, markets: MarketView[]): OracleFields {
  if (state !== 'RESOLVED' || pinned === null) return { oracleForecastDate: null, oracleModelVersion: null, oracleMeanBrier: null };
  return {
    oracleForecastDate: formatDay(pinned.day),
    oracleModelVersion: pinned.modelVersion,
    oracleMeanBrier: roundToMicro(mean(markets.map(({ oracleBrier }) => oracleBrier!))),
  };
}

function toMarketView(round: RoundDoc, market: MarketDoc, crowd: CrowdByMarket, now: Date): MarketView {
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
    outcome: above === null ? null : above ? 'YES' : 'NO',
    oracleProbability,
    oracleBrier: brierOrNull(oracleProbability, above),
    crowdBrier: brierOrNull(crowdProbability, above),
  };
}

function brierOrNull(probability: number | null, above: boolean | null): number | null {
  return probability === null || above === null ? null : roundToMicro(brierScore(probability, above));
}

export interface CommitmentView {
  wallet: string;
  probabilityBps: number;
  issuedAtMs: number;
  committedAt: string;
  signature: string;
  brier: number | null;
  points: number | null;
}

export function toCommitmentView({ wallet, probabilityBps, issuedAtMs, committedAt, signature, score }: CommitmentDoc): CommitmentView {
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

export interface StandingView {
  rank: number | null;
  wallet: string;
  points: number;
  rounds: number;
  commitments: number;
  brier: number;
  oracleBrier: number;
  meanDifference: number;
  interval: { low: number; high: number } | null;
  beatsOracle: boolean | null;
}

/** @param place on the leaderboard, from 1 */
export function toStandingView(row: StandingRow, place: number): StandingView {
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
