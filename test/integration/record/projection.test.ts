import { zeroHash } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { ConfirmedAttestation } from '../../../src/chain/eas/eas.ts';
import { EVENT_INDEXES, EventLog, publishChanges } from '../../../src/events/log.ts';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { countRevealedCalls } from '../../../src/record/figures.ts';
import { buildResolution, formatBatchKey } from '../../../src/record/forecast-doc.ts';
import { ForecastRecord, type NewDay, RECORD_INDEXES } from '../../../src/record/forecasts.ts';
import { readPublicPrediction } from '../../../src/record/prediction.ts';
import { RECORD_LAG_SECONDS, RecordProjection } from '../../../src/record/projection.ts';
import { WAGER_INDEXES, WagerBook } from '../../../src/wager/wagers.ts';
import { REACHED, UNREACHED } from '../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { buildTestDay } from '../../unit/record/day-fixture.ts';
import { buildTestForecast } from '../../unit/record/forecast-fixture.ts';
import { settledWager } from '../pipeline/steps/wager-fixtures.ts';

const HORIZONS = [1, 7];
const FIRST = parseDay('2026-01-05');
const DAYS = 2;

let database: TestDatabase;
let record: ForecastRecord;
let wagers: WagerBook;
/** Of another process. */
let other: RecordProjection;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, [...RECORD_INDEXES, ...WAGER_INDEXES, ...EVENT_INDEXES]);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a master secret of a test', horizons: HORIZONS });
  wagers = new WagerBook(database.db, record.known);
  other = new RecordProjection(database.db);
  await Promise.all([record.known.load(), other.load()]);
});

const publish = () => publishChanges({ log: new EventLog(database.db), record, wagers, now: () => new Date('2026-02-01T00:00:00Z') });

const contentOf = (known: RecordProjection) => ({
  days: known.listDays(),
  forecasts: known.listAll(),
  wagers: known.listWagers(),
  scores: known.listAll().map((doc) => known.findScores(doc)),
});

async function readFresh() {
  const fresh = new RecordProjection(database.db);
  await fresh.load();
  return contentOf(fresh);
}

function newDay(day: number): NewDay {
  const { _id, sequence, ...rest } = buildTestDay(day);
  const values = buildTestForecast({ state: 'DRAFT' }).values!;
  return { ...rest, forecasts: Object.fromEntries(HORIZONS.map((horizon) => [horizon, values])) };
}

const missedDay = (day: number): NewDay => ({
  ...newDay(day),
  ...{ missedBecause: 'down', price: null, regime: null, modelVersion: null, forecasts: {}, inputsDigest: zeroHash },
});

const attested = (key: string, at: Date): ConfirmedAttestation => ({
  uid: `0x${Buffer.from(key).toString('hex').padStart(64, '0')}`,
  txHash: `0x${'b'.repeat(64)}`,
  blockNumber: 7,
  at,
  gasUsed: 1,
  effectiveGasPriceWei: '1',
  attestationsInTransaction: HORIZONS.length,
});

const listDay = (day: number) => record.listByDay(day);

const resolutionsOf = async (day: number) => {
  const docs = await listDay(day);
  const facts = { btcAtSignalCents: 100, btcAtResolutionCents: 110, venues: ['a'], deviationBps: 0, decidedAt: new Date(0) };
  return new Map(docs.map((doc) => [doc._id, buildResolution(doc, { ...facts, batch: formatBatchKey(docs) })]));
};

const attest = async (day: number, suffix = '') => {
  const docs = await record.linkToPreviousDay(day);
  const at = new Date(toInstantMs(day, 21, 38));
  await record.markAttested(
    docs,
    docs.map(({ _id }) => attested(`${_id}${suffix}`, at)),
  );
};

const reveal = async (day: number) => {
  const docs = await listDay(day);
  await record.distributionScores.save(docs.map(({ _id, day: of, horizonDays }) => ({ _id, day: of, horizonDays }) as never));
  await record.markRevealed(
    docs,
    docs.map(({ _id }) => attested(`r${_id}`, new Date(toInstantMs(day + 9)))),
  );
};

const uidsOf = async (day: number, field: 'attestation' | 'reveal') => (await listDay(day)).map((doc) => doc[field]!.uid);

const WAGER = {
  ...settledWager(FIRST, 'WIN'),
  state: 'DECIDED',
  placedAt: null,
  payoutMicros: null,
  settledAt: null,
  winner: null,
} as const;
const SKIPPED = { ...settledWager(FIRST + 1, 'LOSS'), state: 'SKIPPED', side: null, winner: null, settledAt: null } as const;
const ID = formatDay(FIRST);

/** Everything that changes the record, in the order of a life. */
const WRITES: [what: string, write: () => Promise<unknown>][] = [
  ['a day is made', () => record.saveDay(newDay(FIRST), UNREACHED)],
  ['a wager is decided', () => wagers.decide(WAGER, REACHED)],
  ['a wager is placed', () => wagers.transition(ID, 'DECIDED', 'PLACED', { placedAt: new Date(0) })],
  ['a day is attested', () => attest(FIRST)],
  ['the next day is made', () => record.saveDay(newDay(FIRST + 1), UNREACHED)],
  ['a day is skipped', () => wagers.decide(SKIPPED, REACHED)],
  ['a day is linked to the one before', () => record.linkToPreviousDay(FIRST + 1)],
  ['a window opens', () => record.recordOpeningClose(FIRST, 100, REACHED)],
  ['an outcome is decided', async () => record.recordResolutions(await resolutionsOf(FIRST), REACHED)],
  ['an outcome is revealed, with its scores', () => reveal(FIRST)],
  ['a reveal is taken back', async () => record.rewindReveals({ uids: await uidsOf(FIRST, 'reveal'), blockNumber: 7 })],
  ['a commitment is taken back', async () => record.rewindPredictions({ uids: await uidsOf(FIRST, 'attestation'), blockNumber: 7 })],
  ['it is attested again', () => attest(FIRST, 'again')],
  ['its outcome is read back from the chain', async () => record.adoptResolutions(await resolutionsOf(FIRST))],
  ['a wager is settled', () => wagers.settle(ID, 'WIN', { winner: 'YES', payoutMicros: 9, settledAt: new Date(1) }, REACHED)],
  ['a skipped market ends', () => wagers.recordWinner(SKIPPED._id, 'NO', new Date(1), REACHED)],
  ['a report is prepared', async () => wagers.prepareFeedback((await wagers.findByDay(FIRST))!, { agentId: 1 } as never)],
  ['a report is recorded', () => wagers.recordFeedback(ID, '0x1', { at: new Date(2), hasHeader: true })],
  ['a report is taken back', () => wagers.rewindFeedback({ hash: '0x1', at: new Date(2) })],
  ['a day is missed', () => record.saveDay(missedDay(FIRST + DAYS), REACHED)],
];

describe('the record in memory', () => {
  it.each(['are published', 'stay in the outbox, their process being killed'] as const)(
    'has every write of its own process at once, and those of others after a look, where changes %s',
    async (fate) => {
      for (const [what, write] of WRITES) {
        const before = JSON.stringify(contentOf(other));
        await write();
        const stored = await readFresh();
        expect(contentOf(record.known), what).toEqual(stored);
        if (fate === 'are published') await publish();
        await other.catchUp();
        expect(contentOf(other), what).toEqual(stored);
        expect(JSON.stringify(contentOf(other)), what).not.toBe(before);
      }
    },
  );

  it('inserts what a crash has left out', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await record.forecasts.deleteMany({ horizonDays: 7 });
    await Promise.all([record.known.load(), other.load()]);
    await record.completeDay(FIRST);
    await other.catchUp();
    for (const known of [record.known, other]) expect(contentOf(known)).toEqual(await readFresh());
  });

  it('keeps its revision while nothing changes, also with changes that nobody publishes', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await other.catchUp();
    const { revision } = other;
    await other.catchUp();
    expect(other.revision).toBe(revision);
    await publish();
    await other.catchUp();
    await other.catchUp();
    const published = other.revision;
    await other.catchUp();
    expect(other.revision).toBe(published);
  });

  it.each([
    ['was cut', () => database.db.collection('record_changes').deleteMany({ _id: { $lt: 3 } as never })],
    ['is of an earlier state of the database', () => database.db.collection('record_changes').deleteMany({})],
  ])('is read again where the log of changes %s', async (_, damage) => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await publish();
    await other.catchUp();
    for (const write of [() => attest(FIRST), () => record.recordOpeningClose(FIRST, 100, REACHED)]) {
      await write();
      await publish();
    }
    await damage();
    await other.catchUp();
    expect(contentOf(other)).toEqual(await readFresh());
    await record.recordOpeningClose(FIRST, 200, REACHED);
    await other.catchUp();
    expect(contentOf(other)).toEqual(await readFresh());
  });

  it('never shows an older state after a newer one, however many look at once', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    const looks: Promise<void>[] = [];
    for (let cents = 100; cents < 120; cents++) {
      const update = { $set: { btcAtSignalCents: cents }, $push: { outbox: { change: 'changed' as const, at: new Date(cents) } } };
      await record.forecasts.updateOne({ _id: `${ID}:7d` }, update);
      const look = async () => {
        await other.catchUp();
        expect(other.findLatest(7)!.btcAtSignalCents).toBeGreaterThanOrEqual(cents);
      };
      looks.push(look(), look());
    }
    await Promise.all(looks);
  });

  it('takes over many writes at the end, or with a look between them', async () => {
    await record.known.deferring(async () => {
      await record.saveDay(newDay(FIRST), UNREACHED);
      expect(record.known.listDays()).toEqual([]);
      await record.known.catchUp();
      expect(contentOf(record.known)).toEqual(await readFresh());
      await attest(FIRST);
      await publish();
    });
    expect(contentOf(record.known)).toEqual(await readFresh());
  });

  it('is stale once nothing was read for the declared lag, until it is read again', async () => {
    const stop = new AbortController();
    const changed = Promise.withResolvers<void>();
    const ended = other.follow({
      log: createLog({ level: 'silent', secrets: [] }),
      signal: stop.signal,
      onChanged: async () => changed.resolve(),
    });
    await changed.promise;
    expect(other.isStale).toBe(false);
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + RECORD_LAG_SECONDS * 1_000 + 5_000);
    expect(other.isStale).toBe(true);
    await other.catchUp();
    expect(other.isStale).toBe(false);
    clock.mockRestore();
    stop.abort();
    await ended;
  });

  it('pages by sequence, and finds by uid, day and id', async () => {
    for (const day of [FIRST, FIRST + 1, FIRST + 2]) {
      await record.saveDay(newDay(day), UNREACHED);
      await attest(day);
    }
    const { known } = record;
    const sequences = (docs: readonly { sequence: number }[]) => docs.map(({ sequence }) => sequence);
    expect(sequences(known.listNewest(7, { limit: 2, before: null }))).toEqual([3, 2]);
    expect(sequences(known.listNewest(7, { limit: 2, before: 2 }))).toEqual([1]);
    expect(sequences(known.listSince(7, FIRST + 1))).toEqual([2, 3]);
    expect(known.findNewest(7)).toMatchObject({ forecast: { day: FIRST + 2 }, figures: { price: { cents: 10_000_000 } } });
    expect(known.findNewest(2)).toBeNull();
    expect(known.findByUid(known.findLatest(7)!.attestation!.uid)?._id).toBe(`${formatDay(FIRST + 2)}:7d`);
    expect(known.findDay(FIRST)!.forecasts).toEqual(newDay(FIRST).forecasts);
    expect([known.findDay(FIRST + 1)?.day, known.findDay(FIRST + 9), known.findWager(FIRST)]).toEqual([FIRST + 1, null, null]);
    expect(known.listForecasts([`${ID}:7d`, 'none', `${ID}:1d`]).map(({ _id }) => _id)).toEqual([`${ID}:1d`, `${ID}:7d`]);
  });
});

const FIGURES = {
  getHorizon: async () => ({ revealedCalls: countRevealedCalls([]), summary: {}, winRate: {}, moveSkill: { n: 0 } }),
};

const signalFor = (caller: Caller) =>
  readPublicPrediction(
    {
      ...{ record, figures: FIGURES, market: { source: 'test' }, models: {} },
      viewFor: () => ({ caller, policy: 'resolution', now: new Date(0) }),
    } as never,
    7,
    caller,
  );

it('cuts the shared documents to what each caller may read', async () => {
  await record.saveDay(newDay(FIRST), UNREACHED);
  const callers: Caller[] = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? PUBLIC_CALLER : { tier: 'basic' }));
  const signals = await Promise.all(callers.map(signalFor));
  for (const [index, { signal, direction, confidence }] of signals.entries()) {
    const gated = { signal: 'GATED', direction: null, confidence: null };
    const readable = { signal: 'BUY', direction: 'UP', confidence: 0.5876 };
    expect({ signal, direction, confidence }).toEqual(index % 2 === 0 ? gated : readable);
  }
});
