import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { MICROS } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { fromCents } from '../forecast-doc.ts';
import { toCommittedProbabilities, toPublicStatus } from '../forecast-visibility.ts';
import { buildCommitmentProof } from '../oracle/commitment-proof.ts';
import type { MadeForecast } from '../oracle/made-forecast.ts';
import { roundContractPrice } from './decimal.ts';
import { type IntentMarket, toWagerMarket } from './market.ts';
import { computeWagerSizing, type IntentSizing } from './sizing.ts';
import { viewWager } from './wager-view.ts';

export type TradeIntent = ReturnType<typeof buildTradeIntent>;

export type BetDecision = { market: IntentMarket; sizing: IntentSizing; limitCost: number | null } | { reason: string };

export interface TradeIntentInput {
  forecast: MadeForecast & { values: { signal: 'BUY' | 'SELL' } };
  wager: WagerDoc | null;
  bet: BetDecision;
}

export function isTradableForecast(doc: MadeForecast): doc is TradeIntentInput['forecast'] {
  return doc.values.signal !== 'HOLD';
}

export function buildBetFromWager(wager: WagerDoc | null): BetDecision {
  if (wager === null) return { reason: 'There is no wager of this day: it is sized at 21:42 UTC, unless wagers are switched off.' };
  const market = toWagerMarket(wager);
  const sizing = computeWagerSizing(wager);
  if (market === null || sizing === null) return { reason: `No market: ${wager.skippedBecause ?? 'none was looked at'}.` };
  return { market, sizing, limitCost: wager.limitCostMicros > 0 ? wager.limitCostMicros / MICROS : null };
}

export function buildTradeIntent({ forecast, wager, bet }: TradeIntentInput, options: { saltSecret: string; publicUrl: string }) {
  const { direction, signal: side, btcPriceCents } = forecast.values;
  const { commitment, salt, attestationUid, txHash, verifyUrl } = buildCommitmentProof(forecast, options);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    predictionId: forecast._id,
    date: formatDay(forecast.day),
    horizon: formatHorizonName(forecast.horizonDays),
    status: toPublicStatus(forecast),
    timestamp: forecast.signalAt.toISOString(),
    direction,
    side,
    contractSide: sizing?.side ?? null,
    ...toCommittedProbabilities(forecast.values),
    btcPrice: fromCents(btcPriceCents),
    regime: forecast.regime,
    modelVersion: forecast.modelVersion,
    market,
    sizing,
    marketReason: 'reason' in bet ? bet.reason : null,
    entry: { ...buildEntryLimits(bet), validUntil: forecast.windowOpensAt.toISOString() },
    references: { commitment, salt, attestationUid, txHash, verifyUrl },
    wager: wager && viewWager(wager),
    replayed: forecast.replayed,
  };
}

/** Costs of a contract that pays 1: the highest to enter at, with the fee if known, and the side's believed probability. */
function buildEntryLimits(bet: BetDecision) {
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
