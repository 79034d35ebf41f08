import type { Caller } from '../auth/caller.ts';
import { deriveSalt } from '../chain/eas/eas.ts';
import { formatDay } from '../forecast/day.ts';
import { formatHorizonName } from '../forecast/model.ts';
import { REGIMES } from '../forecast/regime.ts';
import { fromCents, getReturnFromSignal } from '../record/forecast-doc.ts';
import { roundContractPrice } from '../record/trade-intent.ts';
import { mayReadUnresolved, type RevealPolicy, toCommittedProbabilities, toMove, toMoveWithLimits } from '../record/visibility.ts';
import { MICROS } from '../wager/venue.ts';
import { type EventPayload, MAX_REASON_LENGTH, type PushedEvent, type PushedName } from './events.ts';
import type { AnyEvent, EventContent } from './log.ts';

export interface EventViewOptions {
  saltSecret: string;
  policy: RevealPolicy;
  publicUrl: string;
  chainId: number;
}

interface EventReader extends EventViewOptions {
  /** May read what is unresolved. */
  basic: boolean;
  premium: boolean;
}

/** Renders an event for a caller, over all transports. Below Basic the caller learns of a signal or wager, but not of its values. */
export function viewEvent(event: AnyEvent, caller: Caller, options: EventViewOptions): PushedEvent {
  const basic = mayReadUnresolved({ caller, policy: options.policy });
  const reader = { ...options, basic, premium: caller.tier === 'premium' };
  const view = PAYLOAD_VIEWS[event.type] as (content: EventContent[PushedName], reader: EventReader) => EventPayload;
  return { id: event._id, type: event.type, timestamp: event.at.toISOString(), data: view(event.content, reader) };
}

const PAYLOAD_VIEWS: { [Name in PushedName]: (content: EventContent[Name], reader: EventReader) => EventPayload<Name> } = {
  'signal.new': viewNewSignal,
  'signal.resolved': viewResolvedSignal,
  'wager.placed': viewPlacedWager,
  'wager.settled': viewSettledWager,
  'attestation.created': viewAttestation,
  'regime.changed': ({ date, from, to, at, replayed }) => {
    return { from, to, timestamp: at.toISOString(), date, riskLevel: REGIMES[to].riskLevel, replayed };
  },
  'webhook.disabled': ({ webhookId, url, reason, failingSince }, { publicUrl }) => {
    const enableUrl = `${publicUrl}/api/svc/webhooks/${webhookId}/enable`;
    return { webhookId, url, reason, failingSince: failingSince?.toISOString() ?? null, enableUrl };
  },
};

function viewNewSignal(
  { values, move = null, moveSizeBefore = null, ...doc }: EventContent['signal.new'],
  reader: EventReader,
): EventPayload<'signal.new'> {
  const { basic, premium, saltSecret } = reader;
  const { signal, direction, btcPriceCents, climatology, threshold, priceQuantiles } = values;
  const revealed = { signal, direction, ...toCommittedProbabilities(values), salt: deriveSalt(saltSecret, doc._id) };
  const gated = { signal: 'GATED' as const, direction: null, confidence: null, pUp: null, salt: null };
  return {
    ...viewForecastId(doc),
    ...toMoveWithLimits({ move }),
    moveSizeBefore,
    ...(basic ? revealed : gated),
    btcPrice: fromCents(btcPriceCents),
    regime: doc.regime,
    modelVersion: doc.modelVersion,
    windowOpensAt: doc.windowOpensAt.toISOString(),
    resolvesAt: doc.resolvesAt.toISOString(),
    timestamp: doc.signalAt.toISOString(),
    commitment: doc.commitment,
    replayed: doc.replayed,
    late: doc.late,
    premium: premium ? { climatology, threshold, priceQuantiles } : null,
  };
}

function viewResolvedSignal(content: EventContent['signal.resolved'], { saltSecret }: EventReader): EventPayload<'signal.resolved'> {
  const { values, move = null, outcome, modelVersion, replayed } = content;
  const [resolution, reveal] = [content.resolution!, content.reveal!];
  return {
    ...viewForecastId(content),
    ...toMove({ move }),
    big: move && Math.abs(getReturnFromSignal(content)) > move.bigMove,
    signal: values.signal as 'BUY' | 'SELL',
    direction: values.direction,
    ...toCommittedProbabilities(values),
    outcome,
    actualDirection: resolution.actualDirection,
    btcAtSignal: fromCents(resolution.btcAtSignalCents),
    btcAtResolution: fromCents(resolution.btcAtResolutionCents),
    returnBps: resolution.returnBps,
    venues: resolution.venues,
    resolvedAt: reveal.at.toISOString(),
    predictionUid: content.attestation!.uid,
    resolutionUid: reveal.uid,
    salt: deriveSalt(saltSecret, content._id),
    modelVersion,
    replayed,
  };
}

function viewAttestation(
  { attested, ...content }: EventContent['attestation.created'],
  { chainId, publicUrl }: EventReader,
): EventPayload<'attestation.created'> {
  const { kind, status, refUid, commitment, cid, replayed } = content;
  const { uid, txHash, blockNumber, at } = attested;
  return {
    uid,
    type: kind,
    status,
    txHash,
    blockNumber,
    ...viewForecastId(content),
    chain: `eip155:${chainId}`,
    attestedAt: at.toISOString(),
    refUid,
    commitment,
    cid,
    replayed,
    verifyUrl: `${publicUrl}/api/svc/onchain-oracle/verify/${uid}`,
  };
}

function viewPlacedWager(wager: EventContent['wager.placed'], { basic, premium }: EventReader): EventPayload<'wager.placed'> {
  const { skippedBecause, placedAt, replayed } = wager;
  const placed = skippedBecause === null;
  const reason = skippedBecause?.slice(0, MAX_REASON_LENGTH) ?? null;
  return {
    ...viewMarket(wager),
    ...(basic ? { ...(placed ? viewStake(wager) : NO_STAKE), placed, reason } : { ...GATED_STAKE, placed: null, reason: null }),
    placedAt: (basic && placedAt?.toISOString()) || null,
    replayed,
    premium: premium ? viewSizing(wager) : null,
  };
}

function viewSizing(wager: EventContent['wager.placed']): EventPayload<'wager.placed'>['premium'] {
  const { pModel, qMarket, pBelieved, weight, listing } = wager;
  if (pModel === null || qMarket === null || pBelieved === null) return null;
  const { yesTokenId = null, noTokenId = null } = listing ?? {};
  return { pModel, qMarket, pBelieved, weight, yesTokenId, noTokenId };
}

function viewSettledWager(wager: EventContent['wager.settled'], { basic }: EventReader): EventPayload<'wager.settled'> {
  const { outcome, winner, payoutMicros, costMicros, settledAt, replayed } = wager;
  const payout = payoutMicros ?? 0;
  const pnl = payout - costMicros;
  const revealed = { outcome, payout: payout / MICROS, payoutMicros: payout, pnl: pnl / MICROS, pnlMicros: pnl };
  const gated = { outcome: null, payout: null, payoutMicros: null, pnl: null, pnlMicros: null };
  const stake = basic ? viewStake(wager) : GATED_STAKE;
  const { id: marketId, strikeUsd, expiresAt } = wager.market!;
  const market = { ...viewMarket(wager), marketId, strikeUsd, expiresAt: expiresAt.toISOString() };
  return { ...market, ...stake, winner, ...(basic ? revealed : gated), settledAt: settledAt!.toISOString(), replayed };
}

type Stake = Pick<EventContent['wager.placed'], '_id' | 'market' | 'venue' | 'asset' | 'side' | 'contracts' | 'costMicros'>;

function viewMarket({ _id: date, market, venue, asset }: Stake) {
  if (market === null) return { date, market: 'none', marketId: null, strikeUsd: null, expiresAt: null, venue, asset };
  const { question, id: marketId, strikeUsd, expiresAt } = market;
  return { date, market: question, marketId, strikeUsd, expiresAt: expiresAt.toISOString(), venue, asset };
}

const NO_STAKE = { side: 'NONE' as const, amount: 0, amountMicros: 0, contracts: 0, price: 0, odds: 0 };
/** Side, amount and odds, or that there is no wager, would disclose what the model holds more likely. */
const GATED_STAKE = { side: null, amount: null, amountMicros: null, contracts: null, price: null, odds: null };

function viewStake({ side, contracts, costMicros }: Stake) {
  const price = costMicros / contracts / MICROS;
  const amounts = { amount: costMicros / MICROS, amountMicros: costMicros };
  return { side, ...amounts, contracts, price: roundContractPrice(price), odds: roundContractPrice(1 / price) };
}

function viewForecastId({ _id, day, horizonDays, sequence }: Pick<EventContent['signal.new'], '_id' | 'day' | 'horizonDays' | 'sequence'>) {
  return { date: formatDay(day), predictionId: _id, horizon: formatHorizonName(horizonDays), sequence };
}
