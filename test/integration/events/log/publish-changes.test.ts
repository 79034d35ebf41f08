import { zeroHash } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfirmedAttestation } from '../../../../src/chain/eas/eas.ts';
import { EVENT_INDEXES, EventLog, publishChanges } from '../../../../src/events/log.ts';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { MoveSize } from '../../../../src/forecast/move.ts';
import type { Regime } from '../../../../src/forecast/regime.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { getOutcomeWindow } from '../../../../src/record/forecast-doc.ts';
import { ForecastRecord, type NewDay, RECORD_INDEXES } from '../../../../src/record/forecasts.ts';
import { buildUndecidedWager, WAGER_INDEXES, WagerBook, type WagerDoc } from '../../../../src/wager/wagers.ts';
import { REACHED, UNREACHED } from '../../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { buildTestDay } from '../../../unit/record/day-fixture.ts';
import { buildTestForecast } from '../../../unit/record/forecast-fixture.ts';
import { settledWager } from '../../pipeline/steps/wager-fixtures.ts';

const HORIZONS = [1, 2, 3, 7];
const FIRST = parseDay('2026-01-05');
const now = () => new Date('2026-01-20T00:00:00Z');

let database: TestDatabase;
let record: ForecastRecord;
let wagers: WagerBook;
let log: EventLog;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, [...RECORD_INDEXES, ...WAGER_INDEXES, ...EVENT_INDEXES]);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a master secret of a test', horizons: HORIZONS });
  wagers = new WagerBook(database.db);
  log = new EventLog(database.db);
});

const publish = (events: EventLog = log) => publishChanges({ log: events, record, wagers, now });
const keys = async () => (await log.after(0, 1_000)).map(({ key }) => key);

function newDay(day: number, regime: Regime = 'CHOP'): NewDay {
  const { _id, sequence: _sequence, ...rest } = buildTestDay(day, { regime });
  const values = buildTestForecast({ state: 'DRAFT' }).values!;
  return { ...rest, forecasts: Object.fromEntries(HORIZONS.map((horizon) => [horizon, values])) };
}

/** A day that was missed: nothing was forecast. */
function missedDay(day: number): NewDay {
  return { ...newDay(day), missedBecause: 'down', price: null, regime: null, modelVersion: null, forecasts: {}, inputsDigest: zeroHash };
}

async function attest(day: number, at = new Date(toInstantMs(day, 21, 38))): Promise<void> {
  const docs = await record.linkToPreviousDay(day);
  await record.markAttested(
    docs,
    docs.map(({ horizonDays }) => attested(`${day}${horizonDays}`, at)),
  );
}

async function resolve(day: number, outcome: 'WIN' | 'HOLD'): Promise<void> {
  await record.recordOpeningClose(day, 9_000_000, REACHED);
  const docs = await record.listByDay(day);
  const template = buildTestForecast({ state: 'WIN' }).resolution!;
  await record.recordResolutions(new Map(docs.map(({ _id }) => [_id, { ...template, outcome, batch: `${day}` }])), REACHED);
  const decided = await record.listByDay(day);
  await record.markRevealed(
    decided,
    decided.map(({ horizonDays }) => attested(`${day}${horizonDays}9`, new Date(getOutcomeWindow(day, horizonDays).resolvesAtMs + 60_000))),
  );
}

function attested(digits: string, at: Date): ConfirmedAttestation {
  const hash = `0x${digits.padStart(64, '0')}` as const;
  return { ...buildTestForecast({ state: 'PENDING' }).attestation!, uid: hash, txHash: hash, at };
}

async function wager(): Promise<WagerDoc> {
  const { winner: _winner, ...rest } = settledWager(FIRST, 'WIN');
  return wagers.decide({ ...rest, state: 'DECIDED', winner: null, settledAt: null, placedAt: null, payoutMicros: null }, REACHED);
}

const SKIPPED = buildUndecidedWager({ name: 'paper', asset: 'PAPER-USD' }, FIRST, new Date(toInstantMs(FIRST, 21, 42)));

describe('changes of the record and the wagers', () => {
  it('become events in the order of a day', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    expect(await publish()).toBe(4);
    await attest(FIRST);
    const { _id } = await wager();
    await wagers.transition(_id, 'DECIDED', 'PLACED', {
      placedAt: new Date(toInstantMs(FIRST, 21, 42)),
      contracts: 10,
      costMicros: 5_000_000,
    });
    await record.saveDay(newDay(FIRST + 1, 'BULL_TREND'), UNREACHED);
    await resolve(FIRST, 'WIN');
    await wagers.settle(_id, 'WIN', { winner: 'YES', payoutMicros: 10_000_000, settledAt: new Date(toInstantMs(FIRST + 2)) }, REACHED);
    await publish();
    expect(await publish()).toBe(0);
    expect((await keys()).map((key) => key.replaceAll('2026-01-', ''))).toEqual([
      ...['signal.new:05:1d', 'signal.new:05:2d', 'signal.new:05:3d', 'signal.new:05:7d'],
      ...[1, 2, 3, 7].map((horizon) => `attestation.created:05:${horizon}d:prediction`),
      'wager.placed:05',
      ...[1, 2, 3, 7].map((horizon) => `signal.new:06:${horizon}d`),
      'regime.changed:06',
      'wager.settled:05',
      ...[1, 2, 3, 7].flatMap((horizon) => [`signal.resolved:05:${horizon}d`, `attestation.created:05:${horizon}d:resolution`]),
    ]);
    const regime = (await log.after(0, 1_000)).find(({ type }) => type === 'regime.changed');
    expect(regime).toMatchObject({ content: { from: 'CHOP', to: 'BULL_TREND', date: '2026-01-06' }, horizonDays: null, wallet: null });
  });

  it('of a HOLD are its attestations only; of a missed day only the attestation', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await attest(FIRST);
    await resolve(FIRST, 'HOLD');
    await record.saveDay(missedDay(FIRST + 1), REACHED);
    await attest(FIRST + 1, new Date(toInstantMs(FIRST + 2, 3)));
    await publish();
    expect((await keys()).filter((key) => key.startsWith('signal.resolved'))).toEqual([]);
    expect((await keys()).filter((key) => key.includes('2026-01-06')).sort()).toEqual(
      [1, 2, 3, 7].map((horizon) => `attestation.created:2026-01-06:${horizon}d:prediction`),
    );
    const late = (await log.after(0, 1_000)).find(({ key }) => key === 'attestation.created:2026-01-06:7d:prediction');
    expect(late).toMatchObject({ content: { status: 'VOID' } });
  });

  it('name the size of the move of the last day that has one, whoever publishes them', async () => {
    const withMoves = (day: number, moveSize: MoveSize) => {
      const move = buildTestForecast({ moveSize }).move!;
      return { ...newDay(day), moves: Object.fromEntries(HORIZONS.map((horizon) => [horizon, horizon === 7 ? null : move])) };
    };
    await record.saveDay(withMoves(FIRST, 'CALM'), UNREACHED);
    await record.saveDay(withMoves(FIRST + 1, 'WILD'), UNREACHED);
    await publish();
    await record.saveDay(missedDay(FIRST + 2), REACHED);
    await record.saveDay(withMoves(FIRST + 3, 'USUAL'), UNREACHED);
    await Promise.all(Array.from({ length: 3 }, () => publish(new EventLog(database.db))));
    const made = (await log.after(0, 1_000)).filter((event) => event.type === 'signal.new');
    const sizesOf = (horizon: number) =>
      made
        .filter(({ horizonDays }) => horizonDays === horizon)
        .map(({ content: { moveSizeBefore, move } }) => [moveSizeBefore, move?.moveSize ?? null]);
    const changes = [
      [null, 'CALM'],
      ['CALM', 'WILD'],
      ['WILD', 'USUAL'],
    ];
    expect([1, 2, 3, 7].map(sizesOf)).toEqual([changes, changes, changes, [1, 2, 3].map(() => [null, null])]);
  });

  it('contain the state at their time, even if published after a later change', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await attest(FIRST);
    await resolve(FIRST, 'WIN');
    await publish();
    const events = await log.after(0, 1_000);
    const of = (key: string) => events.find((event) => event.key === key)?.content;
    expect(of('attestation.created:2026-01-05:7d:prediction')).toMatchObject({ kind: 'prediction', status: 'PENDING' });
    expect(of('attestation.created:2026-01-05:7d:resolution')).toMatchObject({ kind: 'resolution', status: 'WIN' });
  });

  it('are published once by concurrent processes', async () => {
    for (let day = FIRST; day < FIRST + 5; day++) await record.saveDay(newDay(day), UNREACHED);
    const counts = await Promise.all(Array.from({ length: 6 }, () => publish(new EventLog(database.db))));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect((await log.after(0, 1_000)).map(({ _id }) => _id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it('are published once when a process dies between log and outbox, or while writing the log', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    await attest(FIRST);
    /** Writes only so many, then is dead. */
    const dying = (count: number) => ({
      append: (all: never[]) => log.append(all.slice(0, count), now()).then(() => Promise.reject(new Error('killed'))),
    });
    await expect(publish(dying(3) as unknown as EventLog)).rejects.toThrow('killed');
    await expect(publish(dying(8) as unknown as EventLog)).rejects.toThrow('killed');
    expect(await publish()).toBe(0);
    expect(await keys()).toHaveLength(8);
    expect(await record.forecasts.countDocuments({ 'outbox.change': { $gt: '' } })).toBe(0);
  });

  it('are not lost when they come between the look and the taking off', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    const slow = {
      async append(drafts: never[]) {
        await attest(FIRST);
        return log.append(drafts, now());
      },
    };
    expect(await publish(slow as unknown as EventLog)).toBe(4);
    expect(await publish()).toBe(4);
    expect((await keys()).filter((key) => key.startsWith('attestation.created'))).toHaveLength(4);
  });

  it.each([
    ['as it is decided', async () => void (await wagers.decide({ ...SKIPPED, skippedBecause: 'no edge after costs' }, REACHED))],
    [
      'after it was decided to place it',
      async () => {
        await wagers.decide({ ...SKIPPED, state: 'DECIDED', side: 'NO', contracts: 5, limitCostMicros: 500_000 }, REACHED);
        expect(await publish()).toBe(0);
        await wagers.transition(SKIPPED._id, 'DECIDED', 'SKIPPED', { skippedBecause: 'no edge after costs' }, now());
      },
    ],
  ])('of a wager that is skipped %s are one event, also when two processes publish it again', async (_, skip) => {
    await skip();
    const [stored] = await wagers.wagers.find().toArray();
    expect((await Promise.all([publish(), publish()])).reduce((sum, count) => sum + count, 0)).toBe(1);
    // As after a crash between the log and the outbox.
    await wagers.wagers.updateOne({ _id: SKIPPED._id }, { $set: { outbox: stored!.outbox! } });
    expect(await publish()).toBe(0);
    const [event] = await log.after(0, 10);
    expect(event).toMatchObject({ key: `wager.placed:${SKIPPED._id}`, content: { skippedBecause: 'no edge after costs' } });
    expect((await wagers.findByDay(SKIPPED.day))!.outbox).toEqual([]);
  });

  it('are not published when they are older than the retention', async () => {
    await record.saveDay(newDay(FIRST), UNREACHED);
    const later = () => new Date('2026-06-01T00:00:00Z');
    expect(await publishChanges({ log, record, wagers, now: later })).toBe(0);
    expect(await publish()).toBe(0);
  });
});
