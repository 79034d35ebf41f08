import type { ConfirmedAttestation } from '../../../src/chain/eas/eas.ts';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { formatForecastId, getOutcomeWindow, type Resolution } from '../../../src/record/forecast-doc.ts';
import type { ForecastRecord } from '../../../src/record/forecasts.ts';
import { MICROS } from '../../../src/wager/venue.ts';
import type { WagerBook } from '../../../src/wager/wagers.ts';
import { settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { buildTestDay } from '../../unit/record/day-fixture.ts';
import { buildTestForecast } from '../../unit/record/forecast-fixture.ts';
import { REACHED, UNREACHED } from '../clock/trusted-time.ts';

/** A change of the record as a step of the day makes it, and the keys of the events that are to come of it. */
export interface RecordChange {
  keys: string[];
  make(): Promise<void>;
}

interface Books {
  record: ForecastRecord;
  wagers: WagerBook;
}

const OUTCOMES = ['WIN', 'LOSS', 'HOLD'] as const;
const REGIMES = ['CHOP', 'BULL_TREND'] as const;

/** A record's whole life over days: forecast, attested, wagered, resolved, settled; every day in another regime than the one before. */
export function changesOf(books: Books, { from, days }: { from: Day; days: number }): RecordChange[] {
  return Array.from({ length: days }, (_, index) => changesOfDay(books, from + index, index === 0)).flat();
}

function changesOfDay(books: Books, day: Day, isFirst: boolean): RecordChange[] {
  const { wagers } = books;
  const date = formatDay(day);
  const ids = HORIZONS.map((horizon) => formatForecastId(day, horizon));
  const scored = HORIZONS.filter((horizon) => outcomeOf(day, horizon) !== 'HOLD').map((horizon) => formatForecastId(day, horizon));
  const decided = settledWager(day, 'WIN');
  return [
    {
      keys: [...(isFirst ? [] : [`regime.changed:${date}`]), ...ids.map((id) => `signal.new:${id}`)],
      make: () => forecast(books, day),
    },
    { keys: ids.map((id) => `attestation.created:${id}:prediction`), make: () => attest(books, day) },
    {
      keys: [`wager.placed:${date}`],
      make: async () => {
        await wagers.decide({ ...decided, state: 'DECIDED', placedAt: null, winner: null, payoutMicros: null, settledAt: null }, REACHED);
        await wagers.transition(date, 'DECIDED', 'PLACED', { placedAt: new Date(toInstantMs(day, 21, 42)) });
      },
    },
    {
      keys: [...scored.map((id) => `signal.resolved:${id}`), ...ids.map((id) => `attestation.created:${id}:resolution`)],
      make: () => resolve(books, day),
    },
    {
      keys: [`wager.settled:${date}`],
      make: () =>
        wagers.settle(date, 'WIN', { winner: 'YES', payoutMicros: 10 * MICROS, settledAt: new Date(toInstantMs(day + 2)) }, REACHED),
    },
  ];
}

async function forecast({ record }: Books, day: Day): Promise<void> {
  const { _id, sequence: _sequence, outbox: _outbox, ...rest } = buildTestDay(day, { regime: REGIMES[day % 2] });
  const values = buildTestForecast({ state: 'DRAFT' }).values!;
  await record.saveDay({ ...rest, forecasts: Object.fromEntries(HORIZONS.map((horizon) => [horizon, values])) }, UNREACHED);
}

async function attest({ record }: Books, day: Day): Promise<void> {
  const docs = await record.linkToPreviousDay(day);
  const at = new Date(toInstantMs(day, 21, 38));
  await record.markAttested(
    docs,
    docs.map(({ horizonDays }) => attested(`${day}${horizonDays}1`, at)),
  );
}

async function resolve({ record }: Books, day: Day): Promise<void> {
  await record.recordOpeningClose(day, 9_000_000, REACHED);
  const template = buildTestForecast({ state: 'WIN' }).resolution!;
  const decisions = HORIZONS.map((horizon): [string, Resolution] => {
    return [formatForecastId(day, horizon), { ...template, outcome: outcomeOf(day, horizon), batch: `${day}` }];
  });
  await record.recordResolutions(new Map(decisions), REACHED);
  const docs = await record.listByDay(day);
  await record.markRevealed(
    docs,
    docs.map(({ horizonDays }) => attested(`${day}${horizonDays}2`, new Date(getOutcomeWindow(day, horizonDays).resolvesAtMs + 60_000))),
  );
}

function outcomeOf(day: Day, horizon: number): (typeof OUTCOMES)[number] {
  return OUTCOMES[(day + horizon) % OUTCOMES.length];
}

function attested(digits: string, at: Date): ConfirmedAttestation {
  const hash = `0x${digits.padStart(64, '0')}` as const;
  return { ...buildTestForecast({ state: 'PENDING' }).attestation!, uid: hash, txHash: hash, at };
}
