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
import type { Payload, PushedEvent } from './payloads.ts';

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
  const { pModel, qMarket, pBelieved, weight, listing, placedAt, replayed } = wager;
  const { yesTokenId = null, noTokenId = null } = listing ?? {};
  const detail = { pModel: pModel!, qMarket: qMarket!, pBelieved: pBelieved!, weight, yesTokenId, noTokenId };
  return { ...stakeOf(wager, basic), placedAt: placedAt!.toISOString(), replayed, premium: premium ? detail : null };
}

function settledWager(wager: EventContent['wager.settled'], { basic }: Reader): Payload<'wager.settled'> {
  const { outcome, winner, payoutMicros, costMicros, settledAt, replayed } = wager;
  const payout = payoutMicros ?? 0;
  const pnl = payout - costMicros;
  const told = { outcome, payout: payout / MICROS, payoutMicros: payout, pnl: pnl / MICROS, pnlMicros: pnl };
  const gated = { outcome: null, payout: null, payoutMicros: null, pnl: null, pnlMicros: null };
  return { ...stakeOf(wager, basic), winner: winner!, ...(basic ? told : gated), settledAt: settledAt!.toISOString(), replayed };
}

type Stake = Pick<
  EventContent['wager.placed'],
  '_id' | 'market' | 'venue' | 'asset' | 'side' | 'contracts' | 'costMicros' | 'listing' | 'replayed'
>;

/** The side that was taken gives the direction away. */
function stakeOf({ _id: date, market, venue, asset, side, contracts, costMicros }: Stake, basic: boolean) {
  const { id: marketId, question, strikeUsd, expiresAt } = market!;
  const price = costMicros / contracts / MICROS;
  const told = {
    side,
    amount: costMicros / MICROS,
    amountMicros: costMicros,
    contracts,
    price: toldPrice(price),
    odds: toldPrice(1 / price),
  };
  const gated = { side: null, amount: null, amountMicros: null, contracts: null, price: null, odds: null };
  return { date, market: question, marketId, strikeUsd, expiresAt: expiresAt.toISOString(), venue, asset, ...(basic ? told : gated) };
}

function idOf({ _id, day, horizonDays, sequence }: Pick<EventContent['signal.new'], '_id' | 'day' | 'horizonDays' | 'sequence'>) {
  return { date: formatDay(day), predictionId: _id, horizon: horizonName(horizonDays), sequence };
}
