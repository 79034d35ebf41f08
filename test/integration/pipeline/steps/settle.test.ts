import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { buildWagerDrafts } from '../../../../src/events/log.ts';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import type { PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { runSettleStep } from '../../../../src/pipeline/steps/outcome.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { MICROS, type Venue } from '../../../../src/wager/venue.ts';
import {
  buildUndecidedWager,
  buildWagerAccounts,
  compareSettledWagers,
  WAGER_INDEXES,
  WagerBook,
  type WagerDoc,
} from '../../../../src/wager/wagers.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { stubVenue } from './stub-venue.ts';

const first = parseDay('2026-01-05');
const expiresAt = new Date('2026-01-10T00:00:00Z');
const now = new Date('2026-01-10T00:10:00Z');
const unreachable = new OracleError('FEED_UNAVAILABLE', 'the exchange does not answer');
const unreadable = new OracleError('FEED_INVALID', 'the exchange answers nonsense');

let database: TestDatabase;
let book: WagerBook;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, WAGER_INDEXES);
  book = new WagerBook(database.db);
});
afterAll(() => database.drop());
beforeEach(() => book.wagers.deleteMany({}));

/** An expired wager on YES at a venue, a number of days after the first one. */
async function wagerAt(venue: string, days: number, state: WagerDoc['state'] = 'PLACED'): Promise<string> {
  const day = first + days;
  const market = { id: `m${days}`, question: '', strikeUsd: 90_000, expiresAt };
  const doc: WagerDoc = {
    ...buildUndecidedWager({ name: venue, asset: 'USD' }, day, now),
    state,
    market,
    pModel: 0.6,
    qMarket: 0.5,
    side: 'YES',
  };
  await book.wagers.insertOne(doc);
  return formatDay(day);
}

const stateOf = async (id: string) => (await book.wagers.findOne({ _id: id }))?.state;

/** A venue where YES has won, which throws for given orders and markets. */
function venueOf(name: string, errors: Record<string, Error> = {}): Venue {
  const failing = (id: string) => {
    if (errors[id] !== undefined) throw errors[id];
  };
  return stubVenue({
    name,
    async settleOrder(id) {
      failing(id);
      return { winner: 'YES', payoutMicros: MICROS, at: now };
    },
    async findWinner({ id }) {
      failing(id);
      return 'YES';
    },
  });
}

const settle = (venue: Venue, ...otherVenues: Venue[]) =>
  runSettleStep({ wagers: book, venue, otherVenues } as unknown as PipelineContext, contextAt(now.getTime()));

describe('settling', () => {
  it('queries the venue of each wager', async () => {
    const ids = [await wagerAt('paper', 0), await wagerAt('exchange', 1)];
    expect(await settle(venueOf('paper', { [ids[1]]: unreadable }), venueOf('exchange', { [ids[0]]: unreadable }))).toBe(2);
    expect(await Promise.all(ids.map(stateOf))).toEqual(['WIN', 'WIN']);
  });

  it('continues after wagers that fail, staked or not, then throws the first error', async () => {
    const ids = [await wagerAt('exchange', 0), await wagerAt('exchange', 1, 'SKIPPED'), await wagerAt('exchange', 2)];
    const unstaked = await wagerAt('exchange', 3, 'SKIPPED');
    await expect(settle(venueOf('exchange', { [ids[0]]: unreachable, m1: unreadable }))).rejects.toBe(unreachable);
    expect(await Promise.all(ids.map(stateOf))).toEqual(['PLACED', 'SKIPPED', 'WIN']);
    expect(await book.wagers.findOne({ _id: ids[1] })).toMatchObject({ winner: null });
    expect(await book.wagers.findOne({ _id: unstaked })).toMatchObject({ winner: 'YES' });
    expect(await settle(venueOf('exchange'))).toBe(2);
    expect(await stateOf(ids[0])).toBe('WIN');
  });

  it('queries a venue of the same order book for the winner when nothing is staked', async () => {
    const [unstaked, staked] = [await wagerAt('exchange', 0, 'SKIPPED'), await wagerAt('exchange', 1)];
    const dryRun = { ...venueOf('dry-run'), sameBook: ['exchange', 'dry-run'] };
    await expect(settle(venueOf('paper'), dryRun)).rejects.toMatchObject({ message: expect.stringMatching(/1 of exchange$/) });
    expect(await book.wagers.findOne({ _id: unstaked })).toMatchObject({ winner: 'YES' });
    expect(await stateOf(staked)).toBe('PLACED');
  });

  it('waits for venues that are not configured, naming them and their wagers, and settles the others', async () => {
    const ids = [
      await wagerAt('exchange', 0),
      await wagerAt('exchange', 1, 'SKIPPED'),
      await wagerAt('elsewhere', 2),
      await wagerAt('paper', 3),
    ];
    const message = expect.stringMatching(/not configured: 2 of exchange, 1 of elsewhere$/);
    await expect(settle(venueOf('paper'))).rejects.toMatchObject({ code: 'STEP_WAITING', message });
    expect(await Promise.all(ids.map(stateOf))).toEqual(['PLACED', 'SKIPPED', 'PLACED', 'WIN']);
  });

  it('settles a market without a winner at what it paid, as neither a win nor a loss, once', async () => {
    const [staked, unstaked] = [await wagerAt('exchange', 0), await wagerAt('exchange', 1, 'SKIPPED')];
    await book.wagers.updateOne({ _id: staked }, { $set: { contracts: 2, costMicros: 1_200_000, placedAt: now } });
    const asked: string[] = [];
    const voidVenue = stubVenue({
      name: 'exchange',
      async settleOrder(id) {
        asked.push(id);
        return { winner: null, payoutMicros: MICROS, at: now };
      },
      async findWinner({ id }) {
        asked.push(id);
        return 'VOID';
      },
    });
    expect(await settle(voidVenue)).toBe(2);
    expect(await settle(voidVenue)).toBe(0);
    expect(asked).toEqual([staked, 'm1']);
    expect(await book.wagers.findOne({ _id: staked })).toMatchObject({ state: 'VOID', winner: null, payoutMicros: MICROS, settledAt: now });
    expect(await book.wagers.findOne({ _id: unstaked })).toMatchObject({ state: 'SKIPPED', winner: null, settledAt: now });
    const [account] = buildWagerAccounts(await book.wagers.find().sort({ day: 1 }).toArray());
    expect(account).toMatchObject({ wins: 0, losses: 0, voids: 1, open: 0, openMicros: 0, profitMicros: -200_000 });
    expect(await book.listUnreported()).toEqual([]);
    expect(compareSettledWagers(await book.wagers.find().toArray(), ['exchange'])).toMatchObject({ settledMarkets: 0 });
    const { outbox } = (await book.wagers.findOne({ _id: staked }))!;
    const [event] = buildWagerDrafts((await book.wagers.findOne({ _id: staked }))!, outbox!.at(-1)!);
    expect(event).toMatchObject({ type: 'wager.settled', content: { outcome: 'VOID', winner: null, payoutMicros: MICROS } });
  });

  it("throws a venue's error before the one on venues that are not configured", async () => {
    await wagerAt('exchange', 0);
    const id = await wagerAt('paper', 1);
    await expect(settle(venueOf('paper', { [id]: unreadable }))).rejects.toBe(unreadable);
  });
});
