import { saltFor } from '../../chain/commitment.ts';
import { formatDay } from '../../forecast/day.ts';
import { horizonName } from '../../forecast/model.ts';
import { REGIMES } from '../../forecast/regime.ts';
import type { Caller, RevealPolicy } from '../../record/caller.ts';
import { fromCents } from '../../record/forecast.ts';
import { toldPrice } from '../../record/intent/decimal.ts';
import { committedProbabilities, mayReadUnresolved } from '../../record/views.ts';
import { MICROS } from '../../wager/venue.ts';
import type { PushedName } from '../event-names.ts';
import type { AnyEvent, EventContent } from './event.ts';
import { MAX_REASON_LENGTH, type Payload, type PushedEvent } from './payloads.ts';

/** What an event is told with. */
export interface EventViewOptions {
  /** Master secret of the salts. */
  saltSecret: string;
  policy: RevealPolicy;
  publicUrl: string;
  chainId: number;
}

interface Reader extends EventViewOptions {
  /** Whether he may know what an unresolved forecast says. */
  basic: boolean;
  premium: boolean;
}

/**
 * An event as a caller may see it, over whichever channel. Whoever has fallen below Basic is told that there is a signal or a wager,
 * and not which.
 */
export function viewEvent(event: AnyEvent, caller: Caller, options: EventViewOptions): PushedEvent {
  const reader = { ...options, basic: mayReadUnresolved({ caller, policy: options.policy }), premium: caller.tier === 'premium' };
  return { id: event._id, type: event.type, timestamp: event.at.toISOString(), data: dataOf(event, reader) };
}

function dataOf(event: AnyEvent, reader: Reader): Payload {
  const view = VIEWS[event.type] as (content: EventContent[PushedName], reader: Reader) => Payload;
  return view(event.content, reader);
}

const VIEWS: { [Name in PushedName]: (content: EventContent[Name], reader: Reader) => Payload<Name> } = {
  'signal.new': newSignal,
  'signal.resolved': resolvedSignal,
  'wager.placed': placedWager,
  'wager.settled': settledWager,
  'attestation.created': createdAttestation,
  'regime.changed': ({ date, from, to, at, replayed }) => {
    return { from, to, timestamp: at.toISOString(), date, riskLevel: REGIMES[to].riskLevel, replayed };
  },
  'webhook.disabled': ({ webhookId, url, reason, failingSince }, { publicUrl }) => {
    const enableUrl = `${publicUrl}/api/svc/webhooks/${webhookId}/enable`;
    return { webhookId, url, reason, failingSince: failingSince?.toISOString() ?? null, enableUrl };
  },
};

function newSignal({ values, ...doc }: EventContent['signal.new'], { basic, premium, saltSecret }: Reader): Payload<'signal.new'> {
  const { signal, direction, btcPriceCents, climatology, threshold, priceQuantiles } = values;
  const told = { signal, direction, ...committedProbabilities(values), salt: saltFor(saltSecret, doc._id) };
  const gated = { signal: 'GATED' as const, direction: null, confidence: null, pUp: null, salt: null };
  return {
    ...idOf(doc),
    ...(basic ? told : gated),
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

function resolvedSignal(content: EventContent['signal.resolved'], { saltSecret }: Reader): Payload<'signal.resolved'> {
  const { values, outcome, modelVersion, replayed } = content;
  const [resolution, reveal] = [content.resolution!, content.reveal!];
  return {
    ...idOf(content),
    signal: values.signal as 'BUY' | 'SELL',
    direction: values.direction,
    ...committedProbabilities(values),
    outcome,
    actualDirection: resolution.actualDirection,
    btcAtSignal: fromCents(resolution.btcAtSignalCents),
    btcAtResolution: fromCents(resolution.btcAtResolutionCents),
    returnBps: resolution.returnBps,
    venues: resolution.venues,
    resolvedAt: reveal.at.toISOString(),
    predictionUid: content.attestation!.uid,
    resolutionUid: reveal.uid,
    salt: saltFor(saltSecret, content._id),
    modelVersion,
    replayed,
  };
}

function createdAttestation(
  { attested, ...content }: EventContent['attestation.created'],
  { chainId, publicUrl }: Reader,
): Payload<'attestation.created'> {
  const { kind, status, refUid, commitment, cid, replayed } = content;
  const { uid, txHash, blockNumber, at } = attested;
  return {
    ...{ uid, type: kind, status, txHash, blockNumber },
    ...idOf(content),
    chain: `eip155:${chainId}`,
    attestedAt: at.toISOString(),
    ...{ refUid, commitment, cid, replayed },
    verifyUrl: `${publicUrl}/api/svc/onchain-oracle/verify/${uid}`,
  };
}

function placedWager(wager: EventContent['wager.placed'], { basic, premium }: Reader): Payload<'wager.placed'> {
  const { skippedBecause = null, placedAt, replayed } = wager;
  const placed = skippedBecause === null;
  const reason = skippedBecause?.slice(0, MAX_REASON_LENGTH) ?? null;
  return {
    ...marketOf(wager),
    ...(basic ? { ...(placed ? stakeOf(wager) : NO_STAKE), placed, reason } : { ...GATED_STAKE, placed: null, reason: null }),
    placedAt: (basic && placedAt?.toISOString()) || null,
    replayed,
    premium: premium ? sizingOf(wager) : null,
  };
}

function sizingOf({ pModel, qMarket, pBelieved, weight, listing }: EventContent['wager.placed']): Payload<'wager.placed'>['premium'] {
  if (pModel === null || qMarket === null || pBelieved === null) return null;
  const { yesTokenId = null, noTokenId = null } = listing ?? {};
  return { pModel, qMarket, pBelieved, weight, yesTokenId, noTokenId };
}

function settledWager(wager: EventContent['wager.settled'], { basic }: Reader): Payload<'wager.settled'> {
  const { outcome, winner, payoutMicros, costMicros, settledAt, replayed } = wager;
  const payout = payoutMicros ?? 0;
  const pnl = payout - costMicros;
  const told = { outcome, payout: payout / MICROS, payoutMicros: payout, pnl: pnl / MICROS, pnlMicros: pnl };
  const gated = { outcome: null, payout: null, payoutMicros: null, pnl: null, pnlMicros: null };
  const stake = basic ? stakeOf(wager) : GATED_STAKE;
  const { id: marketId, strikeUsd, expiresAt } = wager.market!;
  const market = { ...marketOf(wager), marketId, strikeUsd, expiresAt: expiresAt.toISOString() };
  return { ...market, ...stake, winner: winner!, ...(basic ? told : gated), settledAt: settledAt!.toISOString(), replayed };
}

type Stake = Pick<
  EventContent['wager.placed'],
  '_id' | 'market' | 'venue' | 'asset' | 'side' | 'contracts' | 'costMicros' | 'listing' | 'replayed'
>;

function marketOf({ _id: date, market, venue, asset }: Stake) {
  const listed =
    market === null
      ? { market: 'none', marketId: null, strikeUsd: null, expiresAt: null }
      : { market: market.question, marketId: market.id, strikeUsd: market.strikeUsd, expiresAt: market.expiresAt.toISOString() };
  return { date, ...listed, venue, asset };
}

const NO_STAKE = { side: 'NONE' as const, amount: 0, amountMicros: 0, contracts: 0, price: 0, odds: 0 };

/** The side, and that there is none, tell of the direction. */
const GATED_STAKE = { side: null, amount: null, amountMicros: null, contracts: null, price: null, odds: null };

function stakeOf({ side, contracts, costMicros }: Stake) {
  const price = costMicros / contracts / MICROS;
  const amounts = { amount: costMicros / MICROS, amountMicros: costMicros };
  return { side, ...amounts, contracts, price: toldPrice(price), odds: toldPrice(1 / price) };
}

function idOf({ _id, day, horizonDays, sequence }: Pick<EventContent['signal.new'], '_id' | 'day' | 'horizonDays' | 'sequence'>) {
  return { date: formatDay(day), predictionId: _id, horizon: horizonName(horizonDays), sequence };
}
