import { type OutboxEntry, pickTraceparent } from '../../platform/outbox.ts';
import type { DayDoc } from '../../record/day-doc.ts';
import type { ForecastChange, ForecastDoc } from '../../record/forecast-doc.ts';
import type { WagerChange, WagerDoc } from '../../wager/wager-book.ts';
import type { AnyEventDraft, EventContent } from './event.ts';

/** Events of a change of a forecast. HOLD has no outcome: its resolution publishes only an attestation. */
export function buildForecastDrafts(doc: ForecastDoc, entry: OutboxEntry<ForecastChange>): AnyEventDraft[] {
  const { change, at } = entry;
  const common = { at, horizonDays: doc.horizonDays, wallet: null, ...pickTraceparent(entry) };
  if (change === 'made') return [{ ...common, type: 'signal.new', key: `signal.new:${doc._id}`, content: buildSignalContent(doc) }];
  const kind = change === 'attested' ? 'prediction' : 'resolution';
  const attested: AnyEventDraft = {
    ...common,
    type: 'attestation.created',
    key: `attestation.created:${doc._id}:${kind}`,
    content: buildAttestationContent(doc, kind),
  };
  const outcome = doc.resolution?.outcome;
  if (kind === 'prediction' || outcome === undefined || outcome === 'HOLD') return [attested];
  const content = buildResolutionContent(doc, outcome);
  return [{ ...common, type: 'signal.resolved', key: `signal.resolved:${doc._id}`, content }, attested];
}

function pickForecastFacts({ _id, day, horizonDays, sequence, modelVersion, replayed }: ForecastDoc) {
  return { _id, day, horizonDays, sequence, modelVersion, replayed };
}

function buildSignalContent(doc: ForecastDoc): EventContent['signal.new'] {
  const { regime, signalAt, windowOpensAt, resolvesAt, commitment, late, values } = doc;
  return { ...pickForecastFacts(doc), regime, signalAt, windowOpensAt, resolvesAt, commitment, late, values: values! };
}

/** The state at the time of the attestation; the document may have changed since. */
function buildAttestationContent(doc: ForecastDoc, kind: 'prediction' | 'resolution'): EventContent['attestation.created'] {
  const { commitment, cid } = doc;
  const attested = (kind === 'prediction' ? doc.attestation : doc.reveal)!;
  const refUid = kind === 'prediction' ? doc.previousUid : doc.attestation!.uid;
  const counts = !doc.missed && attested.at < doc.windowOpensAt;
  const status = kind === 'resolution' ? doc.resolution!.outcome : counts ? 'PENDING' : 'VOID';
  return { ...pickForecastFacts(doc), commitment, cid, kind, status, attested, refUid };
}

function buildResolutionContent(doc: ForecastDoc, outcome: 'WIN' | 'LOSS'): EventContent['signal.resolved'] {
  const { attestation, resolution, reveal, values } = doc;
  return { ...pickForecastFacts(doc), attestation, resolution, reveal, values: values!, outcome };
}

/** Event of a change of a wager. Each day has one `wager.placed`, with or without a wager. */
export function buildWagerDrafts(doc: WagerDoc, entry: OutboxEntry<WagerChange>): AnyEventDraft[] {
  const { change, at } = entry;
  const { _id, venue, asset, market, listing, side, contracts, costMicros, replayed } = doc;
  const facts = { _id, venue, asset, market, ...(listing === undefined ? {} : { listing }), side, contracts, costMicros, replayed };
  const common = { at, horizonDays: null, wallet: null, ...pickTraceparent(entry) };
  if (change !== 'settled') {
    const { pModel, qMarket, pBelieved, weight, placedAt, skippedBecause } = doc;
    const content = { ...facts, pModel, qMarket, pBelieved, weight, placedAt, skippedBecause };
    return [{ ...common, type: 'wager.placed', key: `wager.placed:${_id}`, content }];
  }
  const { winner, payoutMicros, settledAt } = doc;
  const content = { ...facts, winner, payoutMicros, settledAt, outcome: doc.state as 'WIN' | 'LOSS' };
  return [{ ...common, type: 'wager.settled', key: `wager.settled:${_id}`, content }];
}

export function buildRegimeDrafts(day: DayDoc, before: Pick<DayDoc, 'regime'> | null): AnyEventDraft[] {
  const { _id: date, regime: to, signalAt: at, replayed } = day;
  const from = before?.regime ?? null;
  if (to === null || from === null || from === to) return [];
  const content = { date, from, to, at, replayed };
  const trace = pickTraceparent(day.outbox?.[0] ?? {});
  return [{ type: 'regime.changed', key: `regime.changed:${date}`, at, horizonDays: null, wallet: null, content, ...trace }];
}
