import { formatDay } from '../../../src/forecast/day.ts';
import type { DayDoc } from '../../../src/record/forecast-doc.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';
import type { TestService } from '../service/service.ts';

/** Copies entries of days, wagers and step runs to the days before the first, as many as make `days` of each. In the database alone. */
export async function lengthenDays({ pipeline, database: { db } }: TestService, days: number): Promise<void> {
  const [dayDocs, wagers] = [db.collection<DayDoc>('days'), db.collection<WagerDoc>('wagers')];
  const own = await dayDocs.find().sort({ day: 1 }).toArray();
  const first = own[0].day;
  const earlier = Array.from({ length: days - own.length }, (_, index) => first - 1 - index);
  const pick = <Doc>(docs: readonly Doc[], index: number) => docs[index % docs.length];
  await dayDocs.insertMany(
    earlier.map((day, index) => ({
      ...pick(own, index),
      _id: formatDay(day),
      day,
      sequence: pick(own, index).sequence - index - 1_000_000,
    })),
  );
  await wagers.deleteMany({ day: { $lt: first } });
  const staked = (await wagers.find().toArray()).filter(({ market }) => market !== null);
  await wagers.insertMany(
    earlier.map((day, index) => {
      const wager = pick(staked, index);
      const expiresAt = new Date(wager.market!.expiresAt.getTime() + (day - wager.day) * 86_400_000);
      const market = { ...wager.market!, id: `${wager.market!.id}:${day}`, expiresAt };
      return { ...wager, _id: formatDay(day), day, market, state: 'WIN' as const, winner: 'YES' as const, settledAt: expiresAt };
    }),
    { ordered: false },
  );
  const runs = db.collection<{ _id: string; step: string; day: number }>('step_runs');
  const known = await runs.find().toArray();
  const steps = [...new Map(known.map((run) => [run.step, run])).values()];
  await runs.insertMany(earlier.flatMap((day) => steps.map((run) => ({ ...run, _id: `${run.step}:${formatDay(day)}`, day }))));
  await pipeline.record.known.load();
}
