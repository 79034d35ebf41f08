import type { Collection, Db } from 'mongodb';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { DAY_MS } from '../forecast/day.ts';
import type { MoveForecast, MoveSize } from '../forecast/move.ts';
import type { Regime } from '../forecast/regime.ts';
import { WakeSignal } from '../platform/concurrency.ts';
import type { Log } from '../platform/log.ts';
import {
  type CollectionIndexes,
  clearOutbox,
  findWithOutbox,
  insertInOrder,
  type OutboxEntry,
  pickTraceparent,
} from '../platform/mongo.ts';
import type { CommittedValues, DayDoc, ForecastChange, ForecastDoc } from '../record/forecast-doc.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import type { SettledState, WagerBook, WagerChange, WagerDoc } from '../wager/wagers.ts';
import { PUSHED_NAMES, type PushedName } from './events.ts';

/** Receives each event once, in order; if it throws, the same events are retried. */
export type EventListener = (events: readonly AnyEvent[]) => void | Promise<void>;

const POLL_MS = 500;
const PAGE_SIZE = 200;
/** Spares an unavailable database. */
const FAILURE_PAUSE_MS = 2_000;

/** From the current end of the log. @throws OracleError, MongoError if the first read fails */
export async function followEvents(
  { events, listener, log, signal }: { events: EventLog; listener: EventListener; log: Log; signal: AbortSignal },
  { pollMs = POLL_MS, failurePauseMs = FAILURE_PAUSE_MS } = {},
) {
  let seen = await events.lastId();
  const wakeSignal = new WakeSignal(signal);

  async function follow(): Promise<void> {
    let failing = false;
    while (!signal.aborted) {
      try {
        for (let page = await events.after(seen, PAGE_SIZE); page.length > 0; page = await events.after(seen, PAGE_SIZE)) {
          await listener(page);
          seen = page.at(-1)!._id;
        }
        failing = false;
      } catch (error) {
        if (!failing) log.error({ err: error }, 'events could not be read or passed on: trying again');
        failing = true;
      }
      await wakeSignal.sleep(failing ? failurePauseMs : pollMs);
    }
  }

  return { wake: () => wakeSignal.wake(), getSeenId: () => seen, ended: follow() };
}

type ForecastFacts = Pick<ForecastDoc, '_id' | 'day' | 'horizonDays' | 'sequence' | 'modelVersion' | 'replayed'>;
/** Missing in events from before it was forecast. */
type MoveFacts = { move?: MoveForecast | null };
type WagerFacts = Pick<WagerDoc, '_id' | 'venue' | 'asset' | 'market' | 'listing' | 'side' | 'contracts' | 'costMicros' | 'replayed'>;

export interface EventContent {
  'signal.new': ForecastFacts &
    MoveFacts & { moveSizeBefore?: MoveSize | null } & Pick<
      ForecastDoc,
      'regime' | 'signalAt' | 'windowOpensAt' | 'resolvesAt' | 'commitment' | 'late'
    > & { values: CommittedValues };
  'signal.resolved': ForecastFacts &
    MoveFacts &
    Required<Pick<ForecastDoc, 'attestation' | 'resolution' | 'reveal'>> & { values: CommittedValues; outcome: 'WIN' | 'LOSS' };
  'attestation.created': ForecastFacts & {
    commitment: ForecastDoc['commitment'];
    cid: ForecastDoc['cid'];
    kind: 'prediction' | 'resolution';
    status: 'PENDING' | 'VOID' | 'WIN' | 'LOSS' | 'HOLD';
    attested: NonNullable<ForecastDoc['attestation']>;
    refUid: ForecastDoc['previousUid'];
  };
  'wager.placed': WagerFacts & Pick<WagerDoc, 'pModel' | 'qMarket' | 'pBelieved' | 'weight' | 'placedAt' | 'skippedBecause'>;
  'wager.settled': WagerFacts & Pick<WagerDoc, 'winner' | 'payoutMicros' | 'settledAt'> & { outcome: SettledState };
  'regime.changed': { date: string; from: Regime; to: Regime; at: Date; replayed: boolean };
  'webhook.disabled': { webhookId: string; url: string; reason: string; failingSince: Date | null };
}

interface EventDraft<Name extends PushedName = PushedName> {
  /** Idempotency key: the same occurrence has the same key in every process. */
  key: string;
  type: Name;
  at: Date;
  /** Days; null for events without a horizon. */
  horizonDays: number | null;
  /** The only recipient, in lower case; null: all subscribers. */
  wallet: string | null;
  /** Of the request or job that caused it. */
  traceparent?: string;
  content: EventContent[Name];
}

/** `_id` counts from 1 without gaps; subscribers resume by it. */
export type EventDoc<Name extends PushedName = PushedName> = EventDraft<Name> & { _id: number; appendedAt: Date };

export type AnyEvent = { [Name in PushedName]: EventDoc<Name> }[PushedName];
export type AnyEventDraft = { [Name in PushedName]: EventDraft<Name> }[PushedName];

/** The filter of the move, of WebSockets and webhooks; what it needs is in the event, so that a replay gives what was sent. Other events pass. */
export function passesMoveFilter(event: Pick<AnyEvent, 'type' | 'content'>, moveSize: readonly MoveSize[] | null): boolean {
  if (moveSize === null || event.type !== 'signal.new') return true;
  const { move, moveSizeBefore } = event.content as EventContent['signal.new'];
  return move != null && moveSizeBefore != null && move.moveSize !== moveSizeBefore && moveSize.includes(move.moveSize);
}

/** Retention, from the time of the event. */
export const EVENT_RETENTION_DAYS = 90;

export const EVENT_INDEXES = [
  { collection: 'events', indexes: [{ key: { key: 1 }, unique: true }] },
] as const satisfies CollectionIndexes[];

export class EventLog {
  readonly #events: Collection<AnyEvent>;
  readonly #onAppended: () => void;

  /** @param onAppended called after each insert, before `append` resolves */
  constructor(db: Db, onAppended: () => void = () => undefined) {
    this.#events = db.collection('events');
    this.#onAppended = onAppended;
  }

  /** Returns the number of new events. Each id is written only after its predecessor: readers never see a gap. */
  async append(drafts: readonly AnyEventDraft[], now: Date): Promise<number> {
    let appended = 0;
    // After a conflict the events of the other process are in the log.
    for (let fresh = drafts; ; ) {
      fresh = await this.#filterNew(fresh);
      if (fresh.length === 0) return appended;
      const last = await this.lastId();
      const docs = fresh.map((draft, index) => ({ ...draft, _id: last + 1 + index, appendedAt: now }) as AnyEvent);
      const { inserted, complete } = await insertInOrder(this.#events, docs);
      appended += inserted;
      if (inserted > 0) this.#onAppended();
      if (complete) return appended;
    }
  }

  after(id: number, limit: number): Promise<AnyEvent[]> {
    return this.#events
      .find({ _id: { $gt: id } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
  }

  event(id: number): Promise<AnyEvent | null> {
    return this.#events.findOne({ _id: id });
  }

  /** Id of the newest event; 0 before the first. */
  async lastId(): Promise<number> {
    return (await this.#events.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } }))?._id ?? 0;
  }

  async firstId(): Promise<number | null> {
    return (await this.#events.findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } }))?._id ?? null;
  }

  /** Deletes expired events from the start of the log; the newest stays, since the next id follows from it. */
  async purge(now: Date): Promise<void> {
    const since = new Date(now.getTime() - EVENT_RETENTION_DAYS * DAY_MS);
    const kept = await this.#events.findOne({ at: { $gte: since } }, { sort: { _id: 1 }, projection: { _id: 1 } });
    const first = kept?._id ?? (await this.lastId());
    await this.#events.deleteMany({ _id: { $lt: first } });
  }

  async #filterNew(drafts: readonly AnyEventDraft[]): Promise<AnyEventDraft[]> {
    if (drafts.length === 0) return [];
    const keys = drafts.map(({ key }) => key);
    const known = await this.#events.find({ key: { $in: keys } }, { projection: { key: 1 }, hint: { key: 1 } }).toArray();
    const knownKeys = new Set(known.map(({ key }) => key));
    return drafts.filter(({ key }) => !knownKeys.has(key));
  }
}

/**
 * Moves outbox entries into the event log, oldest first; any process may run it, also after a kill, since event keys are idempotent.
 * Logs the changes as well, by which other processes learn of them.
 */
export async function publishChanges(deps: { log: EventLog; record: ForecastRecord; wagers: WagerBook; now(): Date }): Promise<number> {
  const { log, record, wagers, now } = deps;
  const [days, forecasts, stakes] = await Promise.all([
    findWithOutbox(record.days),
    findWithOutbox(record.forecasts),
    findWithOutbox(wagers.wagers),
  ]);
  const drafts = [
    ...(await Promise.all(days.map((day) => buildDayDrafts(record, days, day)))),
    ...(await Promise.all(forecasts.map((doc) => buildDraftsOfForecast(record, forecasts, doc)))),
    ...stakes.map((doc) => doc.outbox.flatMap((change) => buildWagerDrafts(doc, change))),
  ].flat();
  const at = now();
  const oldest = at.getTime() - EVENT_RETENTION_DAYS * DAY_MS;
  const appended = await log.append(drafts.filter((draft) => draft.at.getTime() >= oldest).sort(compareDrafts), at);
  const toIds = (docs: readonly { _id: string }[]) => docs.map(({ _id }) => _id);
  await record.known.changes.append({ days: toIds(days), forecasts: toIds(forecasts), wagers: toIds(stakes) }, at);
  // Only after both logs have them.
  await Promise.all([clearOutbox(record.days, days), clearOutbox(record.forecasts, forecasts), clearOutbox(wagers.wagers, stakes)]);
  return appended;
}

function compareDrafts(a: AnyEventDraft, b: AnyEventDraft): number {
  const rank = ({ type }: AnyEventDraft) => PUSHED_NAMES.indexOf(type);
  return a.at.getTime() - b.at.getTime() || rank(a) - rank(b) || (a.horizonDays ?? 0) - (b.horizonDays ?? 0) || a.key.localeCompare(b.key);
}

/** @param published the day before is mostly among them */
async function buildDayDrafts({ days }: ForecastRecord, published: readonly DayDoc[], day: DayDoc): Promise<AnyEventDraft[]> {
  const before = published.find((one) => one.day === day.day - 1 && one.regime !== null);
  const query = { day: { $lt: day.day }, regime: { $ne: null } };
  const options = { sort: { day: -1 }, projection: { regime: 1 }, hint: { day: 1 } } as const;
  return buildRegimeDrafts(day, before ?? (await days.findOne(query, options)));
}

/** @param published the day before may be among them */
async function buildDraftsOfForecast(
  { forecasts }: ForecastRecord,
  published: readonly ForecastDoc[],
  doc: ForecastDoc & { outbox: OutboxEntry<ForecastChange>[] },
): Promise<AnyEventDraft[]> {
  const { day, horizonDays, move, outbox } = doc;
  let before: MoveSize | null = null;
  if (move != null && outbox.some(({ change }) => change === 'made')) {
    const query = { horizonDays, day: { $lt: day }, move: { $ne: null } };
    const options = { sort: { day: -1 }, projection: { move: 1 }, hint: { day: 1 } } as const;
    const dayBefore = published.find((one) => one.day === day - 1 && one.horizonDays === horizonDays && one.move != null);
    before = (dayBefore ?? (await forecasts.findOne(query, options)))?.move?.moveSize ?? null;
  }
  return outbox.flatMap((change) => buildForecastDrafts(doc, change, before));
}

/** Events of a change of a forecast. HOLD has no outcome: its resolution publishes only an attestation. */
export function buildForecastDrafts(
  doc: ForecastDoc,
  entry: OutboxEntry<ForecastChange>,
  moveSizeBefore: MoveSize | null = null,
): AnyEventDraft[] {
  const { change, at } = entry;
  if (change === 'changed') return [];
  const common = { at, horizonDays: doc.horizonDays, wallet: null, ...pickTraceparent(entry) };
  const { commitment, values } = doc;
  if (change === 'made') {
    const { regime, signalAt, windowOpensAt, resolvesAt, late } = doc;
    const content = {
      ...pickForecastFacts(doc),
      move: doc.move,
      moveSizeBefore,
      regime,
      signalAt,
      windowOpensAt,
      resolvesAt,
      commitment,
      late,
      values: values!,
    };
    return [{ ...common, type: 'signal.new', key: `signal.new:${doc._id}`, content }];
  }
  const kind = change === 'attested' ? 'prediction' : 'resolution';
  const attestation = kind === 'prediction' ? doc.attestation : doc.reveal;
  // A reorganisation took it off the chain since: the next one is published.
  if (attestation === null || doc.attestation === null) return [];
  const attested: AnyEventDraft = {
    ...common,
    type: 'attestation.created',
    // Attested again, it has another uid.
    key: ['attestation.created', doc._id, kind, ...(doc.rewinds === undefined ? [] : [doc.rewinds])].join(':'),
    content: buildAttestationContent(doc, kind, attestation),
  };
  const outcome = doc.resolution?.outcome;
  if (kind === 'prediction' || outcome === undefined || outcome === 'HOLD') return [attested];
  const { attestation: committed, resolution, reveal } = doc;
  const content = { ...pickForecastFacts(doc), move: doc.move, attestation: committed, resolution, reveal, values: values!, outcome };
  return [{ ...common, type: 'signal.resolved', key: `signal.resolved:${doc._id}`, content }, attested];
}

function pickForecastFacts({ _id, day, horizonDays, sequence, modelVersion, replayed }: ForecastDoc) {
  return { _id, day, horizonDays, sequence, modelVersion, replayed };
}

/** The state at the time of the attestation; the document may have changed since. */
function buildAttestationContent(
  doc: ForecastDoc,
  kind: 'prediction' | 'resolution',
  attested: ConfirmedAttestation,
): EventContent['attestation.created'] {
  const { commitment, cid } = doc;
  const refUid = kind === 'prediction' ? doc.previousUid : doc.attestation!.uid;
  const counts = !doc.missed && attested.at < doc.windowOpensAt;
  const status = kind === 'resolution' ? doc.resolution!.outcome : counts ? 'PENDING' : 'VOID';
  return { ...pickForecastFacts(doc), commitment, cid, kind, status, attested, refUid };
}

/** Event of a change of a wager. Each day has one `wager.placed`, with or without a wager. */
export function buildWagerDrafts(doc: WagerDoc, entry: OutboxEntry<WagerChange>): AnyEventDraft[] {
  const { change, at } = entry;
  if (change === 'changed') return [];
  const { _id, venue, asset, market, listing, side, contracts, costMicros, replayed } = doc;
  const facts = { _id, venue, asset, market, ...(listing === undefined ? {} : { listing }), side, contracts, costMicros, replayed };
  const common = { at, horizonDays: null, wallet: null, ...pickTraceparent(entry) };
  if (change !== 'settled') {
    const { pModel, qMarket, pBelieved, weight, placedAt, skippedBecause } = doc;
    const content = { ...facts, pModel, qMarket, pBelieved, weight, placedAt, skippedBecause };
    return [{ ...common, type: 'wager.placed', key: `wager.placed:${_id}`, content }];
  }
  const { winner, payoutMicros, settledAt } = doc;
  const content = { ...facts, winner, payoutMicros, settledAt, outcome: doc.state as SettledState };
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
