import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime/regime.ts';
import type { Direction } from '../../forecast/signal.ts';
import type { Side } from '../../wager/sizing.ts';
import { MICROS } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { fromCents } from '../forecast-doc.ts';
import { type PublicStatus, toCommittedProbabilities, toPublicStatus } from '../forecast-view.ts';
import { buildCommitmentProof, type CommitmentProof } from '../oracle/commitment-proof.ts';
import type { MadeForecast } from '../oracle/made-forecast.ts';
import { roundContractPrice } from './decimal.ts';
import { type IntentMarket, toWagerMarket } from './market.ts';
import { computeWagerSizing, type IntentSizing } from './sizing.ts';
import { viewWager, type WagerView } from './wager-view.ts';

/** What a forecast that is not HOLD means to do: on the price, and in the prediction market. */
export interface TradeIntent {
  predictionId: string;
  date: string;
  horizon: HorizonName;
  status: PublicStatus;
  timestamp: string;
  direction: Direction;
  /** Of bitcoin itself. */
  side: 'BUY' | 'SELL';
  /** Of the prediction market; null when nothing is to be staked. */
  contractSide: Side | null;
  confidence: number;
  pUp: number;
  btcPrice: number;
  regime: Regime;
  modelVersion: string;
  market: IntentMarket | null;
  sizing: IntentSizing | null;
  /** Why there is no market, and so no sizing; null when there is one. */
  marketReason: string | null;
  entry: EntryLimits;
  references: IntentReferences;
  /** The service's own wager of the day; null when there is none. */
  wager: WagerView | null;
  replayed: boolean;
}

/** Costs of a contract that pays 1. */
export interface EntryLimits {
  /** Highest cost to enter at, fee included as far as `sizing.fee` is known; null when nothing is to be staked. */
  maxCost: number | null;
  /** Cost beyond which there is no edge left: the believed probability of the side. */
  breakEvenCost: number | null;
  /** Outcome token of the side. */
  tokenId: string | null;
  tickSize: number | null;
  minOrderSize: number | null;
  validUntil: string;
}

export type IntentReferences = Pick<CommitmentProof, 'commitment' | 'salt' | 'attestationUid' | 'txHash' | 'verifyUrl'>;

/** A market with the stake sized on it, or why there is none. */
export type BetDecision = { market: IntentMarket; sizing: IntentSizing; limitCost: number | null } | { reason: string };

export interface TradeIntentInput {
  forecast: MadeForecast & { values: { signal: 'BUY' | 'SELL' } };
  wager: WagerDoc | null;
  bet: BetDecision;
}

/** True of a forecast with something to trade. */
export function isTradableForecast(doc: MadeForecast): doc is TradeIntentInput['forecast'] {
  return doc.values.signal !== 'HOLD';
}

/** The bet that a stored wager was decided on: of what stood then, and nothing that came later. */
export function buildBetFromWager(wager: WagerDoc | null): BetDecision {
  if (wager === null) return { reason: 'There is no wager of this day: it is sized at 21:42 UTC, unless wagers are switched off.' };
  const market = toWagerMarket(wager);
  const sizing = computeWagerSizing(wager);
  if (market === null || sizing === null) return { reason: `No market: ${wager.skippedBecause ?? 'none was looked at'}.` };
  return { market, sizing, limitCost: wager.limitCostMicros > 0 ? wager.limitCostMicros / MICROS : null };
}

export function buildTradeIntent(
  { forecast, wager, bet }: TradeIntentInput,
  options: { saltSecret: string; publicUrl: string },
): TradeIntent {
  const { direction, signal: side, btcPriceCents } = forecast.values;
  const { commitment, salt, attestationUid, txHash, verifyUrl } = buildCommitmentProof(forecast, options);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    predictionId: forecast._id,
    date: formatDay(forecast.day),
    horizon: formatHorizonName(forecast.horizonDays),
    status: toPublicStatus(forecast),
    timestamp: forecast.signalAt.toISOString(),
    ...{ direction, side, contractSide: sizing?.side ?? null },
    ...toCommittedProbabilities(forecast.values),
    btcPrice: fromCents(btcPriceCents),
    regime: forecast.regime,
    modelVersion: forecast.modelVersion,
    ...{ market, sizing, marketReason: 'reason' in bet ? bet.reason : null },
    entry: { ...buildEntryLimits(bet), validUntil: forecast.windowOpensAt.toISOString() },
    references: { commitment, salt, attestationUid, txHash, verifyUrl },
    wager: wager && viewWager(wager),
    replayed: forecast.replayed,
  };
}

function buildEntryLimits(bet: BetDecision): Omit<EntryLimits, 'validUntil'> {
  const nothing = { maxCost: null, breakEvenCost: null, tokenId: null };
  if ('reason' in bet) return { ...nothing, tickSize: null, minOrderSize: null };
  const { tickSize, minOrderSize, yesTokenId, noTokenId } = bet.market;
  const { side, pBelieved, yesCost, noCost } = bet.sizing;
  if (side === null) return { ...nothing, tickSize, minOrderSize };
  const yes = side === 'YES';
  return {
    maxCost: bet.limitCost ?? (yes ? yesCost : noCost),
    breakEvenCost: roundContractPrice(yes ? pBelieved : 1 - pBelieved),
    tokenId: yes ? yesTokenId : noTokenId,
    tickSize,
    minOrderSize,
  };
}
