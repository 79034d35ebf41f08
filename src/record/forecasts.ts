import { dirname } from 'node:path';
import type { Collection, Db, Filter } from 'mongodb';
import { type Hex, zeroHash } from 'viem';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { computeCommitment } from '../chain/eas/schemas.ts';
import { OracleError } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import { formatResetCommand } from '../platform/data-dir.ts';
import { createOutboxEntry, ignoreDuplicate, insertOrFind, OUTBOX_INDEX, type OutboxEntry } from '../platform/mongo.ts';
import type { ReachedInstant, UnreachedInstant } from '../platform/time.ts';
import { DistributionScores } from './distribution-scores.ts';
import {
  buildOpening,
  type CommittedValues,
  type DayDistributions,
  type DayDoc,
  type ForecastChange,
  type ForecastDoc,
  type ForecastState,
  formatForecastId,
  getOutcomeWindow,
  type Resolution,
} from './forecast-doc.ts';
import { RecordProjection } from './projection.ts';

/** The unique indexes keep the sequence gapless under concurrent writers. */
export const RECORD_INDEXES = [
  { collection: 'days', indexes: [{ key: { day: 1 }, unique: true }, { key: { 'metadata.cid': 1 } }, OUTBOX_INDEX] },
  {
    collection: 'forecasts',
    indexes: [
      { key: { horizonDays: 1, sequence: 1 }, unique: true },
      { key: { state: 1, resolvesAt: 1 } },
      { key: { day: 1 } },
      { key: { 'attestation.uid': 1 } },
      { key: { 'reveal.uid': 1 } },
      { key: { 'resolution.batch': 1 } },
      OUTBOX_INDEX,
    ],
  },
  { collection: 'record_changes', indexes: [{ key: { at: 1 } }] },
];

const UNRESOLVED: ForecastState[] = ['DRAFT', 'PENDING', 'VOID'];

export type NewDay = Omit<DayDoc, '_id' | 'sequence' | 'outbox'>;

/** The forecast record. Every write is first-writer-wins or compare-and-set, and safe to repeat or run concurrently. */
export class ForecastRecord {
  readonly days: Collection<DayDoc>;
  readonly forecasts: Collection<ForecastDoc>;
  readonly distributionScores: DistributionScores;
  /** What answers are made of; the methods here ask the database. */
  readonly known: RecordProjection;
  readonly #meta: Collection<{ _id: 'genesis' | 'source'; day?: Day; source?: string }>;
  readonly #saltSecret: string;
  readonly #horizons: readonly number[];
  /** Nothing else writes to the record during a replay, so that each day need not look for the one before. */
  #lastReplayed: { genesis: Day; day: Day } | null = null;

  constructor({ db, saltSecret, horizons }: { db: Db; saltSecret: string; horizons: readonly number[] }) {
    this.days = db.collection('days');
    this.forecasts = db.collection('forecasts');
    this.distributionScores = new DistributionScores(db);
    this.#meta = db.collection('record_meta');
    this.known = new RecordProjection(db);
    this.#saltSecret = saltSecret;
    this.#horizons = horizons;
  }

  async findGenesisDay(): Promise<Day | null> {
    return (await this.#meta.findOne({ _id: 'genesis' }))?.day ?? null;
  }

  async findLastDay(): Promise<Day | null> {
    return (await this.days.findOne({}, { sort: { day: -1 }, projection: { day: 1 } }))?.day ?? null;
  }

  /** Without its distributions, which only verification and scores read. */
  findDay(day: Day): Promise<DayDoc | null> {
    return this.days.findOne({ _id: formatDay(day) }, { projection: { distributions: 0 } });
  }

  /** The committed distributions of days, by day; days of before they were committed are left out. */
  async findDistributions(days: readonly Day[]): Promise<Map<Day, DayDistributions>> {
    const ids = days.map(formatDay);
    const docs = await this.days.find({ _id: { $in: ids } }, { projection: { day: 1, distributions: 1 } }).toArray();
    return new Map(docs.flatMap(({ day, distributions }) => (distributions === undefined ? [] : [[day, distributions] as const])));
  }

  /** Of concurrent writers the first wins. `proof`: the window is closed, or open for a missed day. @throws OracleError STEP_WAITING */
  async saveDay(newDay: NewDay, proof: UnreachedInstant | ReachedInstant): Promise<DayDoc> {
    requireDayProof(newDay, proof);
    const genesis = await this.#requireNextDay(newDay);
    const outbox = [createOutboxEntry(newDay.regime === null ? 'changed' : 'made', newDay.signalAt)];
    const doc = { ...newDay, _id: formatDay(newDay.day), sequence: newDay.day - genesis + 1, outbox };
    const stored = await insertOrFind<DayDoc>(this.days, doc);
    await this.known.note('days', [stored._id]);
    await this.#insertForecasts(stored);
    this.#lastReplayed = stored.replayed ? { genesis, day: stored.day } : null;
    return stored;
  }

  /** The first day of the record. @throws OracleError STEP_WAITING */
  async #requireNextDay({ day, replayed }: NewDay): Promise<Day> {
    if (replayed && this.#lastReplayed?.day === day - 1) return this.#lastReplayed.genesis;
    const genesis = await this.#claimGenesis(day);
    if (day === genesis || (day > genesis && (await this.findDay(day - 1)) !== null)) return genesis;
    throw new OracleError('STEP_WAITING', `${formatDay(day)} does not follow the last day of the record`);
  }

  /** Inserts the forecasts of a stored day that a crash left out. */
  async completeDay(day: Day): Promise<DayDoc | null> {
    const stored = await this.findDay(day);
    if (stored !== null) await this.#insertForecasts(stored);
    return stored;
  }

  async #claimGenesis(day: Day): Promise<Day> {
    const known = await this.findGenesisDay();
    if (known !== null) return known;
    await this.#meta.updateOne({ _id: 'genesis' }, { $setOnInsert: { day } }, { upsert: true }).catch(ignoreDuplicate);
    return (await this.findGenesisDay()) as Day;
  }

  async #insertForecasts(stored: DayDoc): Promise<void> {
    const docs = this.#horizons.map((horizonDays) => buildForecastDoc(stored, horizonDays, this.#saltSecret));
    await this.forecasts.insertMany(docs, { ordered: false }).catch(ignoreDuplicate);
    await this.#note(docs);
  }

  #note(docs: readonly Pick<ForecastDoc, '_id'>[]): Promise<void> {
    return this.known.note(
      'forecasts',
      docs.map(({ _id }) => _id),
    );
  }

  listByDay(day: Day): Promise<ForecastDoc[]> {
    return this.forecasts.find({ day }).sort({ horizonDays: 1 }).toArray();
  }

  async findSource(): Promise<string | null> {
    return (await this.#meta.findOne({ _id: 'source' }))?.source ?? null;
  }

  async claimSource(source: string): Promise<string> {
    await this.#meta.updateOne({ _id: 'source' }, { $setOnInsert: { source } }, { upsert: true }).catch(ignoreDuplicate);
    return (await this.findSource()) ?? source;
  }

  listUnattestedDays(): Promise<Day[]> {
    return this.#listDays({ state: 'DRAFT' });
  }

  /** Sets `previousUid` from the attestations of the day before, which must be on chain, and returns the day's forecasts. */
  async linkToPreviousDay(day: Day): Promise<ForecastDoc[]> {
    const both = await this.forecasts.find({ day: { $in: [day - 1, day] } }, { sort: { day: 1, horizonDays: 1 } }).toArray();
    const [before, docs] = [both.filter((doc) => doc.day < day), both.filter((doc) => doc.day === day)];
    const uids = new Map(before.map(({ horizonDays, attestation }) => [horizonDays, attestation?.uid]));
    const linked = docs.map((doc) => ({ ...doc, previousUid: doc.previousUid ?? uids.get(doc.horizonDays) ?? null }));
    const links = linked
      .filter(({ previousUid }, index) => previousUid !== docs[index].previousUid)
      .map(({ _id, previousUid }) => ({
        updateOne: { filter: { _id, previousUid: null }, update: { $set: { previousUid }, ...pushChanged() } },
      }));
    if (links.length === 0) return docs;
    const { matchedCount } = await this.forecasts.bulkWrite(links, { ordered: false });
    await this.#note(docs);
    return matchedCount === links.length ? linked : this.listByDay(day);
  }

  /** In the order of the forecasts: the block time decides between PENDING and VOID. Forecasts recorded earlier are skipped. */
  markAttested(docs: ForecastDoc[], attestations: ConfirmedAttestation[]): Promise<void> {
    return this.#transition(docs, 'DRAFT', ({ windowOpensAt, missed }, index) => {
      const attestation = attestations[index];
      const counts = !missed && attestation.at < windowOpensAt;
      return { to: counts ? 'PENDING' : 'VOID', set: { attestation }, outboxEntry: createOutboxEntry('attested', attestation.at) };
    });
  }

  /**
   * After a reorganisation that took predictions off the chain, known by uid and block: their forecasts are drafts again, with whatever followed
   * from them taken back, and the next day's link is set anew. May be repeated.
   */
  async rewindPredictions(gone: { uids: readonly Hex[]; blockNumber: number }): Promise<void> {
    const drafted = { state: 'DRAFT' as const, attestation: null, previousUid: null, resolution: null, reveal: null };
    const uids = { $in: [...gone.uids] };
    const gonePredictions = { 'attestation.uid': uids, 'attestation.blockNumber': gone.blockNumber };
    await this.forecasts.updateMany(gonePredictions, { $set: drafted, $inc: { rewinds: 1 }, ...pushChanged() });
    await this.forecasts.updateMany({ state: 'DRAFT', previousUid: uids }, { $set: { previousUid: null }, ...pushChanged() });
    await this.known.catchUp();
  }

  /** As `rewindPredictions`, for outcomes: their decision stays. */
  async rewindReveals(gone: { uids: readonly Hex[]; blockNumber: number }): Promise<void> {
    const filter = { 'reveal.uid': { $in: [...gone.uids] }, 'reveal.blockNumber': gone.blockNumber };
    await this.forecasts.updateMany(filter, { $set: { state: 'PENDING', reveal: null }, $inc: { rewinds: 1 }, ...pushChanged() });
    await this.known.catchUp();
  }

  async recordOpeningClose(day: Day, closeCents: number, opened: ReachedInstant): Promise<void> {
    opened.requireCovers(getOutcomeWindow(day, 0).opensAtMs, `The outcome window of ${formatDay(day)}`);
    await this.forecasts.updateMany({ day, btcAtSignalCents: null }, { $set: { btcAtSignalCents: closeCents }, ...pushChanged() });
    await this.#note(this.#horizons.map((horizonDays) => ({ _id: formatForecastId(day, horizonDays) })));
  }

  /** Resolved forecasts have a close. */
  listDaysToOpen(now: Date): Promise<Day[]> {
    return this.#listDays({ state: { $in: UNRESOLVED }, windowOpensAt: { $lte: now }, btcAtSignalCents: null });
  }

  async #listDays(filter: Filter<ForecastDoc>): Promise<Day[]> {
    return (await this.forecasts.distinct('day', filter)).sort((a, b) => a - b);
  }

  listDueForResolution(now: Date): Promise<ForecastDoc[]> {
    return this.forecasts
      .find({ state: 'PENDING', resolvesAt: { $lte: now }, btcAtSignalCents: { $ne: null } }, { sort: { resolvesAt: 1, horizonDays: 1 } })
      .toArray();
  }

  listByIds(ids: string[]): Promise<ForecastDoc[]> {
    return this.forecasts.find({ _id: { $in: ids } }, { sort: { _id: 1 } }).toArray();
  }

  listByBatch(batch: string): Promise<ForecastDoc[]> {
    return this.forecasts.find({ 'resolution.batch': batch }).sort({ _id: 1 }).toArray();
  }

  /** Stores decisions on forecasts whose window has ended; the first decision stands. Resolves to whether all of these are the first. */
  async recordResolutions(resolutions: Map<string, Resolution>, over: ReachedInstant): Promise<boolean> {
    const undecided = { state: 'PENDING' as const, resolution: null, resolvesAt: { $lte: new Date(over.ms) } };
    const decisions = [...resolutions].map(([_id, resolution]) => ({
      updateOne: { filter: { _id, ...undecided }, update: { $set: { resolution }, ...pushChanged() } },
    }));
    if (decisions.length === 0) return true;
    const { matchedCount } = await this.forecasts.bulkWrite(decisions, { ordered: false });
    await this.known.note('forecasts', [...resolutions.keys()]);
    return matchedCount === decisions.length;
  }

  /** Stores decisions that were read back from their attestations, in forecasts without one. The resolve step completes them. */
  async adoptResolutions(resolutions: ReadonlyMap<string, Resolution>): Promise<void> {
    const writes = [...resolutions].flatMap(([_id, resolution]) => {
      const { btcAtSignalCents } = resolution;
      return [
        { updateOne: { filter: { _id, btcAtSignalCents: null }, update: { $set: { btcAtSignalCents }, ...pushChanged() } } },
        { updateOne: { filter: { _id, resolution: null }, update: { $set: { resolution }, ...pushChanged() } } },
      ];
    });
    if (writes.length === 0) return;
    await this.forecasts.bulkWrite(writes, { ordered: false });
    await this.known.note('forecasts', [...resolutions.keys()]);
  }

  /** Records resolution attestations in the order of the forecasts, which makes them public. */
  markRevealed(docs: ForecastDoc[], reveals: ConfirmedAttestation[]): Promise<void> {
    return this.#transition(docs, 'PENDING', ({ _id, resolution }, index) => {
      if (resolution === null) throw new OracleError('INTERNAL', `Forecast ${_id} was revealed before it was decided`);
      const reveal = reveals[index];
      return { to: resolution.outcome, set: { reveal }, outboxEntry: createOutboxEntry('resolved', reveal.at) };
    });
  }

  async #transition(
    docs: ForecastDoc[],
    from: ForecastState,
    toChange: (doc: ForecastDoc, index: number) => Pick<ForecastTransition, 'to' | 'set' | 'outboxEntry'>,
  ): Promise<void> {
    const changes = docs.map((doc, index) => ({ id: doc._id, from: doc.state, ...toChange(doc, index) }));
    const due = changes.filter((change) => change.from === from);
    await transitionForecasts(this.forecasts, due);
    await this.#note(due.map(({ id }) => ({ _id: id })));
  }
}

/** A change that is published to the other processes alone. */
const pushChanged = () => ({ $push: { outbox: createOutboxEntry('changed' as const, new Date()) } });

function buildForecastDoc(stored: DayDoc, horizonDays: number, saltSecret: string): ForecastDoc {
  const _id = formatForecastId(stored.day, horizonDays);
  const values: CommittedValues | null = stored.forecasts[horizonDays] ?? null;
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(stored.day, horizonDays);
  return {
    _id,
    day: stored.day,
    horizonDays,
    sequence: stored.sequence,
    state: 'DRAFT',
    replayed: stored.replayed,
    late: stored.late,
    missed: stored.missedBecause !== null,
    signalAt: stored.signalAt,
    windowOpensAt: new Date(opensAtMs),
    resolvesAt: new Date(resolvesAtMs),
    modelVersion: stored.modelVersion,
    regime: stored.regime,
    values,
    move: stored.moves?.[horizonDays] ?? null,
    commitment: computeForecastCommitment(saltSecret, _id, values),
    inputsDigest: stored.inputsDigest,
    metadataDigest: stored.metadata.digest,
    cid: stored.metadata.cid,
    previousUid: null,
    attestation: null,
    btcAtSignalCents: null,
    resolution: null,
    reveal: null,
    outbox: [createOutboxEntry(values === null ? 'changed' : 'made', stored.signalAt)],
  };
}

export const TRANSITIONS = {
  DRAFT: ['PENDING', 'VOID'],
  PENDING: ['WIN', 'LOSS', 'HOLD'],
  WIN: [],
  LOSS: [],
  HOLD: [],
  VOID: [],
} as const satisfies Record<ForecastState, readonly ForecastState[]>;

/** @throws OracleError ILLEGAL_TRANSITION */
export function requireTransition(id: string, from: ForecastState, to: ForecastState): void {
  if ((TRANSITIONS[from] as readonly ForecastState[]).includes(to)) return;
  throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} cannot go from ${from} to ${to}`);
}

interface ForecastTransition {
  id: string;
  from: ForecastState;
  to: ForecastState;
  set: Partial<ForecastDoc>;
  outboxEntry: OutboxEntry<ForecastChange>;
}

/** A transition that another worker made counts as done. @throws OracleError ILLEGAL_TRANSITION */
async function transitionForecasts(forecasts: Collection<ForecastDoc>, transitions: readonly ForecastTransition[]): Promise<void> {
  if (transitions.length === 0) return;
  for (const { id, from, to } of transitions) requireTransition(id, from, to);
  const writes = transitions.map(({ id, from, to, set, outboxEntry }) => ({
    updateOne: { filter: { _id: id, state: from }, update: { $set: { ...set, state: to }, $push: { outbox: outboxEntry } } },
  }));
  const { matchedCount } = await forecasts.bulkWrite(writes, { ordered: false });
  if (matchedCount === transitions.length) return;
  const docs = await forecasts.find({ _id: { $in: transitions.map(({ id }) => id) } }).toArray();
  const states = new Map(docs.map(({ _id, state }) => [_id, state]));
  for (const { id, to } of transitions) {
    if (states.get(id) === to) continue;
    throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} is ${states.get(id) ?? 'missing'}: it cannot become ${to}`);
  }
}

/** A forecast requires a proof that its window is closed, a missed day that it has opened. @throws OracleError INTERNAL */
function requireDayProof({ day, missedBecause }: Pick<DayDoc, 'day' | 'missedBecause'>, proof: UnreachedInstant | ReachedInstant) {
  const { opensAtMs } = getOutcomeWindow(day, 0);
  const window = `The outcome window of ${formatDay(day)}`;
  const isMissed = missedBecause !== null;
  if (isMissed && 'requireCovers' in proof) proof.requireCovers(opensAtMs, window);
  else if (!isMissed && 'requireBefore' in proof) proof.requireBefore(opensAtMs, window);
  else throw new OracleError('INTERNAL', `${window} was not proven to ${isMissed ? 'be reached' : 'lie ahead'}`);
}

/** True for the paper venue, whose quotes and settlements the service makes itself: results against it prove nothing. */
export const isOwnVenue = (venue: string): boolean => venue === 'paper';

/** Resolutions would attest wrong salts, irrevocably. @throws OracleError CONFIG_INVALID, or DATA_DIR_DAMAGED naming `keysFile` */
export async function requireSameSalts(record: Pick<ForecastRecord, 'forecasts'>, saltSecret: string, keysFile?: string): Promise<void> {
  for await (const doc of iterateCommitted(record)) {
    if (computeForecastCommitment(saltSecret, doc._id, doc.values) !== doc.commitment) throw secretMismatchError(doc._id, keysFile);
  }
}

export function computeForecastCommitment(saltSecret: string, id: string, values: CommittedValues | null): Hex {
  return values === null ? zeroHash : computeCommitment(buildOpening(saltSecret, id, values));
}

async function* iterateCommitted({
  forecasts,
}: Pick<ForecastRecord, 'forecasts'>): AsyncGenerator<Pick<ForecastDoc, '_id' | 'values' | 'commitment'>> {
  const projection = { values: 1, commitment: 1 };
  const open = { state: { $in: UNRESOLVED }, reveal: null, values: { $ne: null } };
  yield* forecasts.find(open, { hint: { state: 1, resolvesAt: 1 }, projection });
  const newest = await forecasts.findOne({ values: { $ne: null } }, { sort: { day: -1 }, hint: { day: 1 }, projection });
  if (newest !== null) yield newest;
}

function secretMismatchError(id: string, keysFile: string | undefined): OracleError {
  if (keysFile === undefined) {
    return new OracleError('CONFIG_INVALID', `Setting SALT_SECRET: does not open what the record has committed to (${id})`, {
      field: 'SALT_SECRET',
      suggestedAction: 'Set SALT_SECRET to its original value. It cannot change while the record continues.',
    });
  }
  return new OracleError('DATA_DIR_DAMAGED', `saltSecret in ${keysFile} does not open what the record has committed to (${id})`, {
    field: 'DATA_DIR',
    suggestedAction: `Restore the original ${keysFile}, or begin a new record: ${formatResetCommand(dirname(keysFile))}`,
  });
}
