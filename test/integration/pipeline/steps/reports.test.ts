import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Day, formatDay, formatWeek, toDay, toInstantMs, toWeek } from '../../../../src/forecast/day.ts';
import { getStepDueMs, getWeeklyReportDueMs } from '../../../../src/pipeline/forecaster.ts';
import { catchUp, runStep } from '../../../../src/pipeline/pipeline.ts';
import { listDueBriefs, listDueWeeks, runBriefStep } from '../../../../src/pipeline/steps/reports.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { knowing } from '../../../support/record/forgetful.ts';
import { runPastDay, type TestService, testService } from '../../../support/service/service.ts';

/** More than two weeks on any day, and one more in case midnight passes during the run. */
const DAYS = 17;
let service: TestService;
/** The day after the last run: the clock of these tests is within it. */
let end: Day;

beforeAll(async () => {
  service = await testService(DAYS);
  end = toDay(Date.now());
  for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
});
afterAll(() => service.stop());

const at = contextAt;
const deps = () => service.pipeline;
const { briefs, weekly } = { briefs: () => deps().reports.briefs, weekly: () => deps().reports.weekly };
const firstWeek = () => toWeek(end - DAYS);

describe('the brief', () => {
  it('waits for its due time and for an earlier recorded day', async () => {
    const due = getStepDueMs('brief', end);
    expect(await runStep(deps(), 'brief', end, at(due - 1))).toEqual({ waiting: expect.stringContaining('is due at') });
    expect(await runStep(deps(), 'brief', end - DAYS, at(due))).toEqual({ waiting: expect.stringContaining('no day before') });
    expect(await briefs().findLatest()).toBeNull();
  });

  it('is written once, by the first worker', async () => {
    const due = getStepDueMs('brief', end - 3);
    const made = await Promise.all([0, 1_000, 2_000].map((ms) => runBriefStep(deps(), end - 3, at(due + ms))));
    expect(new Set(made.map(({ generatedAt }) => generatedAt)).size).toBe(1);
    expect(made[0]).toMatchObject({ date: formatDay(end - 3), late: false, asOf: new Date(due).toISOString() });
    expect(await runBriefStep(deps(), end - 3, at(due + 9_000_000))).toEqual(made[0]);
  });

  it('without earlier briefs is due for the newest day only, afterwards for every day since', async () => {
    const context = at(getStepDueMs('brief', end));
    expect(await listDueBriefs(deps(), context)).toEqual([end - 2, end - 1, end]);
    expect(await listDueBriefs(deps(), at(getStepDueMs('brief', end) - 1))).toEqual([end - 2, end - 1]);
    const empty = { ...deps(), reports: { ...deps().reports, briefs: { findLastDay: async () => null } as never } };
    expect(await listDueBriefs(empty, context)).toEqual([end]);
    expect(
      await listDueBriefs({ ...empty, market: { ...deps().market, coverage: async () => ({ firstDay: 0, lastDay: end - 5 }) } }, context),
    ).toEqual([end - 4]);
  });

  it('written late contains the outcomes up to its due time only', async () => {
    const day = end - 9;
    const late = await runBriefStep(deps(), day, at(getStepDueMs('brief', end)));
    expect(late).toMatchObject({ late: true, date: formatDay(day) });
    expect(late.open.map(({ predictionId }) => predictionId)).toEqual(
      (
        await deps()
          .record.forecasts.find({ day: { $lt: day }, resolvesAt: { $gt: new Date(toInstantMs(day, 3)) } })
          .sort({ day: 1, horizonDays: 1 })
          .toArray()
      ).map(({ _id }) => _id),
    );
    expect(late.resolved.length).toBeGreaterThan(0);
    for (const { predictionId } of late.resolved) {
      const [doc] = await deps().record.listByIds([predictionId]);
      expect(toDay(doc.resolvesAt.getTime())).toBe(day);
    }
    expect(late.market.btcPrice).toBeGreaterThan(0);
    expect(late.data.every(({ lastObserved }) => lastObserved === null || lastObserved <= formatDay(day))).toBe(true);
  });
});

describe('the notes of a brief that is written late', () => {
  const day = () => end - 6;
  const noteOf = (of: Day) => `Step resolve of ${formatDay(of)} is waiting: the venues do not agree.`;

  /** Notes of a brief made at an instant, after a step waited on a day. */
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
    const { notes } = await runBriefStep(deps(), day(), at(madeAt));
    await db.collection('step_runs').deleteMany({ step: 'resolve' });
    await db.collection('step_runs').insertMany(others);
    await db.collection('briefs').deleteMany({ day: day() });
    return notes;
  }

  it('list what was waiting at its due time', async () => {
    const due = getStepDueMs('brief', day());
    expect(await notesAfter({ of: day(), at: due }, due)).toContain(noteOf(day()));
    expect(await notesAfter({ of: day() - 1, at: due - 1 }, getStepDueMs('brief', end))).toContain(noteOf(day() - 1));
  });

  it('omit what waited later, and steps of a later day', async () => {
    const due = getStepDueMs('brief', day());
    const late = getStepDueMs('brief', end);
    expect((await notesAfter({ of: day(), at: due + 1 }, late)).join()).not.toContain('Step resolve');
    expect((await notesAfter({ of: end, at: late }, late)).join()).not.toContain('Step resolve');
    expect((await notesAfter({ of: day() + 1, at: due }, due)).join()).not.toContain('Step resolve');
  });
});

describe('the next events of a brief', () => {
  it('end with the market data', async () => {
    const day = end - 7;
    const nextWith = async (lastDay: Day | null) => {
      await service.database.db.collection('briefs').deleteMany({ day });
      const market = { ...deps().market, coverage: async () => ({ firstDay: 0, lastDay }) };
      const { next } = await runBriefStep({ ...deps(), market }, day, at(getStepDueMs('brief', day)));
      await service.database.db.collection('briefs').deleteMany({ day });
      return next.map(({ event }) => event).toSorted();
    };
    const all = ['attestation', 'brief', 'resolution', 'signal', 'wager', 'weekly-report', 'window-opens'];
    expect(await nextWith(null)).toEqual(all);
    expect(await nextWith(day)).toEqual(all);
    const sameWeek = toWeek(day - 1) === toWeek(day);
    expect(await nextWith(day - 1)).toEqual(sameWeek ? ['weekly-report'] : []);
  });
});

describe('the weekly report', () => {
  it('is due at 00:30 on the Monday after the week', async () => {
    const week = firstWeek();
    expect(await listDueWeeks(deps(), at(getWeeklyReportDueMs(week) - 1))).toEqual([]);
    expect(await listDueWeeks(deps(), at(getWeeklyReportDueMs(week)))).toEqual([week]);
  });

  it('is written once per ended week, also by two concurrent workers', async () => {
    const context = at(getWeeklyReportDueMs(firstWeek() + 7));
    const outcomes = await Promise.all([0, 1].map(() => runStep(deps(), 'weekly-report', end, context)));
    for (const outcome of outcomes) expect(outcome).toHaveProperty('done');
    expect(await weekly().listDays()).toEqual([firstWeek() + 7, firstWeek()]);
    const before = await weekly().findLatest();
    await runStep(deps(), 'weekly-report', end, at(toInstantMs(end, 1)));
    expect(await weekly().findByDay(firstWeek() + 7)).toEqual(before);
  });

  it('counts the forecasts of the record', async () => {
    const report = (await weekly().findByDay(firstWeek() + 7))!;
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
    const close = async (day: Day) => Math.round((await deps().market.dailyClose(day, toInstantMs(end))).priceUsd * 100) / 100;
    expect(report.market).toMatchObject({ openUsd: await close(firstWeek() + 6), closeUsd: await close(firstWeek() + 13) });
  });

  it('waits some hours for the close of its Sunday, then has null', async () => {
    const { db } = service.database;
    await db.collection('weekly_reports').deleteMany({});
    // Requested before the candle has closed.
    const noClose = { ...deps().market, dailyClose: (day: Day) => deps().market.dailyClose(day, 0) };
    const waiting = await runStep({ ...deps(), market: noClose }, 'weekly-report', end, at(getWeeklyReportDueMs(firstWeek())));
    expect(waiting).toEqual({ waiting: expect.stringContaining('closes at') });
    await runStep({ ...deps(), market: noClose }, 'weekly-report', end, at(getWeeklyReportDueMs(firstWeek()) + 7 * 3_600_000));
    expect(await weekly().findLatest()).toMatchObject({ late: true, market: { openUsd: null, closeUsd: null, changePct: null } });
    await db.collection('weekly_reports').deleteMany({});
  });

  it('waits until the record holds the Sunday', async () => {
    const stored = { findGenesisDay: () => deps().record.findGenesisDay(), findLastDay: async () => firstWeek() + 5 };
    const record = Object.assign(knowing(deps().record, {}), stored);
    const outcome = await runStep({ ...deps(), record }, 'weekly-report', end, at(getWeeklyReportDueMs(firstWeek())));
    expect(outcome).toEqual({ waiting: expect.stringContaining('is not in the record yet') });
    expect(await weekly().findLatest()).toBeNull();
  });
});

describe('catching up', () => {
  it('writes missing reports, each once', async () => {
    await service.infrastructure.localChain!.followWallClock();
    const context = at(toInstantMs(end, 3));
    const reports = await catchUp(deps(), context);
    expect(reports.filter(({ step }) => step === 'brief').map(({ day }) => day)).toEqual([end - 2, end - 1, end]);
    expect(reports.filter(({ step }) => step === 'weekly-report')).toEqual([
      expect.objectContaining({ outcome: { done: expect.stringContaining(formatWeek(firstWeek())) } }),
    ]);
    const again = await catchUp(deps(), context);
    expect(again.filter(({ step }) => step === 'brief' || step === 'weekly-report')).toEqual([]);
    expect((await briefs().findLatest())!.date).toBe(formatDay(end));
  });
});
