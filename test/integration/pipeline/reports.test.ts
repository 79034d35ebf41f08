import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Day, dayOf, formatDay, instantOf } from '../../../src/forecast/day.ts';
import { formatWeek, weekOf } from '../../../src/forecast/week.ts';
import { briefStep, dueBriefs } from '../../../src/pipeline/brief.ts';
import { catchUp } from '../../../src/pipeline/catch-up.ts';
import { runStep } from '../../../src/pipeline/steps.ts';
import { stepInstant, weeklyInstant } from '../../../src/pipeline/times.ts';
import { dueWeeks } from '../../../src/pipeline/weekly-report.ts';
import type { ForecastRecord } from '../../../src/record/record.ts';
import { runPastDay, type TestService, testService } from '../../support/service.ts';
import { contextAt } from '../../support/trusted-time.ts';

/** Over two weeks whatever day it is, and a day more, so that midnight may pass while this runs. */
const DAYS = 17;
let service: TestService;
/** The day after the last that was run: the clock of these tests stands in it. */
let end: Day;

beforeAll(async () => {
  service = await testService(DAYS);
  end = dayOf(Date.now());
  for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
});
afterAll(() => service.stop());

const at = contextAt;
const parts = () => service.pipeline;
const { briefs, weekly } = { briefs: () => parts().reports.briefs, weekly: () => parts().reports.weekly };
const firstWeek = () => weekOf(end - DAYS);

describe('the brief', () => {
  it('waits for its time, and for a day before it', async () => {
    const due = stepInstant('brief', end);
    expect(await runStep(parts(), 'brief', end, at(due - 1))).toEqual({ waiting: expect.stringContaining('is due at') });
    expect(await runStep(parts(), 'brief', end - DAYS, at(due))).toEqual({ waiting: expect.stringContaining('no day before') });
    expect(await briefs().latest()).toBeNull();
  });

  it('is made once, by whichever worker is first', async () => {
    const due = stepInstant('brief', end - 3);
    const made = await Promise.all([0, 1_000, 2_000].map((ms) => briefStep(parts(), end - 3, at(due + ms))));
    expect(new Set(made.map(({ generatedAt }) => generatedAt)).size).toBe(1);
    expect(made[0]).toMatchObject({ date: formatDay(end - 3), late: false, asOf: new Date(due).toISOString() });
    expect(await briefStep(parts(), end - 3, at(due + 9_000_000))).toEqual(made[0]);
  });

  it('of a record without briefs is due for the newest day only, and after that for every day since', async () => {
    const context = at(stepInstant('brief', end));
    expect(await dueBriefs(parts(), context)).toEqual([end - 2, end - 1, end]);
    expect(await dueBriefs(parts(), at(stepInstant('brief', end) - 1))).toEqual([end - 2, end - 1]);
    const empty = { ...parts(), reports: { ...parts().reports, briefs: { lastDay: async () => null } as never } };
    expect(await dueBriefs(empty, context)).toEqual([end]);
    expect(
      await dueBriefs({ ...empty, market: { ...parts().market, coverage: async () => ({ firstDay: 0, lastDay: end - 5 }) } }, context),
    ).toEqual([end - 4]);
  });

  it('knows the outcomes up to its time and no later ones, when it is made late', async () => {
    const day = end - 9;
    const late = await briefStep(parts(), day, at(stepInstant('brief', end)));
    expect(late).toMatchObject({ late: true, date: formatDay(day) });
    expect(late.open.map(({ predictionId }) => predictionId)).toEqual(
      (
        await parts()
          .record.forecasts.find({ day: { $lt: day }, resolvesAt: { $gt: new Date(instantOf(day, 3)) } })
          .sort({ day: 1, horizonDays: 1 })
          .toArray()
      ).map(({ _id }) => _id),
    );
    expect(late.resolved.length).toBeGreaterThan(0);
    for (const { predictionId } of late.resolved) {
      const [doc] = await parts().record.byIds([predictionId]);
      expect(dayOf(doc.resolvesAt.getTime())).toBe(day);
    }
    expect(late.market.btcPrice).toBeGreaterThan(0);
    expect(late.data.every(({ lastObserved }) => lastObserved === null || lastObserved <= formatDay(day))).toBe(true);
  });
});

describe('the brief of a day that is told late', () => {
  const day = () => end - 6;
  const noteOf = (of: Day) => `Step resolve of ${formatDay(of)} is waiting: the venues do not agree.`;

  /** The notes of the brief made at an instant, after a step waited on a day. */
  async function notesAfter(waiting: { of: Day; at: number }, madeAt: number): Promise<string[]> {
    const { db } = service.database;
    await db.collection('briefs').deleteMany({ day: day() });
    const run = {
      ...{ step: 'resolve', day: waiting.of, state: 'waiting', reason: 'the venues do not agree' },
      ...{ ranAt: new Date(waiting.at), attempts: 1, replayed: false },
    };
    const others = await db.collection('step_runs').find({ step: 'resolve' }).toArray();
    await db.collection('step_runs').deleteMany({ step: 'resolve' });
    await db.collection<typeof run>('step_runs').insertOne(run);
    const { notes } = await briefStep(parts(), day(), at(madeAt));
    await db.collection('step_runs').deleteMany({ step: 'resolve' });
    await db.collection('step_runs').insertMany(others);
    await db.collection('briefs').deleteMany({ day: day() });
    return notes;
  }

  it('says what waited at its time', async () => {
    const due = stepInstant('brief', day());
    expect(await notesAfter({ of: day(), at: due }, due)).toContain(noteOf(day()));
    expect(await notesAfter({ of: day() - 1, at: due - 1 }, stepInstant('brief', end))).toContain(noteOf(day() - 1));
  });

  it('does not say what waited after it, nor of a later day', async () => {
    const due = stepInstant('brief', day());
    const late = stepInstant('brief', end);
    expect((await notesAfter({ of: day(), at: due + 1 }, late)).join()).not.toContain('Step resolve');
    expect((await notesAfter({ of: end, at: late }, late)).join()).not.toContain('Step resolve');
    expect((await notesAfter({ of: day() + 1, at: due }, due)).join()).not.toContain('Step resolve');
  });
});

describe('what a brief says comes next', () => {
  it('ends with the market data', async () => {
    const day = end - 7;
    const nextWith = async (lastDay: Day | null) => {
      await service.database.db.collection('briefs').deleteMany({ day });
      const market = { ...parts().market, coverage: async () => ({ firstDay: 0, lastDay }) };
      const { next } = await briefStep({ ...parts(), market }, day, at(stepInstant('brief', day)));
      await service.database.db.collection('briefs').deleteMany({ day });
      return next.map(({ event }) => event).toSorted();
    };
    const all = ['attestation', 'brief', 'resolution', 'signal', 'wager', 'weekly-report', 'window-opens'];
    expect(await nextWith(null)).toEqual(all);
    expect(await nextWith(day)).toEqual(all);
    const sameWeek = weekOf(day - 1) === weekOf(day);
    expect(await nextWith(day - 1)).toEqual(sameWeek ? ['weekly-report'] : []);
  });
});

describe('the weekly report', () => {
  it('is due half an hour into the Monday after the week', async () => {
    const week = firstWeek();
    expect(await dueWeeks(parts(), at(weeklyInstant(week) - 1))).toEqual([]);
    expect(await dueWeeks(parts(), at(weeklyInstant(week)))).toEqual([week]);
  });

  it('is written once for each week that is over, by two workers at once as by one', async () => {
    const context = at(weeklyInstant(firstWeek() + 7));
    const outcomes = await Promise.all([0, 1].map(() => runStep(parts(), 'weekly-report', end, context)));
    for (const outcome of outcomes) expect(outcome).toHaveProperty('done');
    expect(await weekly().weeks()).toEqual([firstWeek() + 7, firstWeek()]);
    const before = await weekly().latest();
    await runStep(parts(), 'weekly-report', end, at(instantOf(end, 1)));
    expect(await weekly().of(firstWeek() + 7)).toEqual(before);
  });

  it('counts what the record holds', async () => {
    const report = (await weekly().of(firstWeek() + 7))!;
    expect(report).toMatchObject({
      weekId: formatWeek(firstWeek() + 7),
      replayed: true,
      late: false,
      incidents: [],
      days: { recorded: 7, replayed: 7 },
    });
    for (const { made, over, wins, losses, holds } of report.horizons) {
      expect(made).toBe(7);
      expect(wins + losses + holds).toBe(over);
    }
    expect(report.horizons[0].over).toBe(7);
    expect(report.attestations.predictions).toBe(28);
    expect(BigInt(report.attestations.gasWei)).toBeGreaterThan(0n);
    const close = async (day: Day) => Math.round((await parts().market.dailyClose(day, instantOf(end))).priceUsd * 100) / 100;
    expect(report.market).toMatchObject({ openUsd: await close(firstWeek() + 6), closeUsd: await close(firstWeek() + 13) });
  });

  it('waits for the close of its Sunday for some hours, then says that there is none', async () => {
    const { db } = service.database;
    await db.collection('weekly_reports').deleteMany({});
    // Asked before the candle has closed.
    const noClose = { ...parts().market, dailyClose: (day: Day) => parts().market.dailyClose(day, 0) };
    const waiting = await runStep({ ...parts(), market: noClose }, 'weekly-report', end, at(weeklyInstant(firstWeek())));
    expect(waiting).toEqual({ waiting: expect.stringContaining('closes at') });
    await runStep({ ...parts(), market: noClose }, 'weekly-report', end, at(weeklyInstant(firstWeek()) + 7 * 3_600_000));
    expect(await weekly().latest()).toMatchObject({ late: true, market: { openUsd: null, closeUsd: null, changePct: null } });
    await db.collection('weekly_reports').deleteMany({});
  });

  it('waits until the record holds the Sunday', async () => {
    const record = { genesis: () => parts().record.genesis(), lastDay: async () => firstWeek() + 5 } as ForecastRecord;
    const outcome = await runStep({ ...parts(), record }, 'weekly-report', end, at(weeklyInstant(firstWeek())));
    expect(outcome).toEqual({ waiting: expect.stringContaining('is not in the record yet') });
    expect(await weekly().latest()).toBeNull();
  });
});

describe('catching up', () => {
  it('writes the reports that are missing, and nothing twice', async () => {
    await service.infrastructure.localChain!.setTimeToNow();
    const context = at(instantOf(end, 3));
    const reports = await catchUp(parts(), context);
    expect(reports.filter(({ step }) => step === 'brief').map(({ day }) => day)).toEqual([end - 2, end - 1, end]);
    expect(reports.filter(({ step }) => step === 'weekly-report')).toEqual([
      expect.objectContaining({ outcome: { done: expect.stringContaining(formatWeek(firstWeek())) } }),
    ]);
    const again = await catchUp(parts(), context);
    expect(again.filter(({ step }) => step === 'brief' || step === 'weekly-report')).toEqual([]);
    expect((await briefs().latest())!.date).toBe(formatDay(end));
  });
});
