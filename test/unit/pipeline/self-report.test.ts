import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { composeSelfReport, type SelfReportData } from '../../../src/pipeline/self-report.ts';
import type { StepName, StepRun } from '../../../src/pipeline/step-runs.ts';
import type { DayDoc, ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { SELF_REPORT } from '../../../src/record/schemas/self-tests.ts';
import type { SelfTestRun } from '../../../src/record/self-tests.ts';
import { buildTestDay } from '../record/day-fixture.ts';
import { buildTestForecast } from '../record/forecast-fixture.ts';

const SUNDAY = parseDay('2026-03-15');
const FIRST = SUNDAY - 7;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const metadata = (masked: string[]) => ({
  json: JSON.stringify({
    inputs: ['btcClose', 'gold'].map((series) => ({ series, observedDay: masked.includes(series) ? null : '2026-03-01' })),
  }),
});

function day(of: number, rest: Partial<DayDoc> = {}): DayDoc {
  return buildTestDay(of, { metadata: metadata([]) as DayDoc['metadata'], ...rest });
}

/** Forecasts of a day: those over by the Sunday are resolved at the end of their windows. */
function forecasts(of: number): ForecastDoc[] {
  return HORIZONS.map((horizonDays) => {
    const isOver = of + 1 + horizonDays <= SUNDAY;
    return buildTestForecast({ date: formatDay(of), horizonDays, state: isOver ? 'WIN' : 'PENDING' });
  });
}

function selfTest(test: SelfTestRun['test'], of: number, rest: Partial<SelfTestRun> = {}): SelfTestRun {
  return {
    test,
    day: of,
    state: 'done',
    late: false,
    reason: null,
    ranAt: new Date(toInstantMs(of, 15)),
    firstRanAt: new Date(toInstantMs(of, 14)),
    ...rest,
  } as SelfTestRun;
}

/** A week without incidents. */
function week(rest: Partial<SelfReportData> = {}): SelfReportData {
  return {
    ...{
      sunday: SUNDAY,
      from: new Date(toInstantMs(FIRST, 15)),
      to: new Date(toInstantMs(SUNDAY, 15)),
      asOf: new Date(toInstantMs(SUNDAY, 15, 1)),
    },
    ...{ genesis: FIRST - 60, firstLive: FIRST - 60, lastCovered: null },
    days: range(FIRST, SUNDAY - 1).map((of) => day(of)),
    forecasts: range(FIRST - 8, SUNDAY - 1).flatMap(forecasts),
    wagers: new Map(range(FIRST, SUNDAY - 1).map((of) => [of, new Date(toInstantMs(of, 21, 42))])),
    briefs: new Map(range(FIRST + 1, SUNDAY).map((of) => [of, false])),
    weeklyLate: false,
    tests: [...range(FIRST + 1, SUNDAY).map((of) => selfTest('walk-forward', of)), selfTest('stability', FIRST)],
    runs: [],
    gas: [],
    ...rest,
  };
}

const run = (step: StepName, of: number, state: StepRun['state'], reason: string | null): StepRun =>
  ({ _id: `${step}:${of}`, step, day: of, state, reason, ranAt: new Date(toInstantMs(of, 22)), attempts: 3, replayed: false }) as StepRun;

const stepOf = (report: ReturnType<typeof composeSelfReport>, name: string) => report.steps.find(({ step }) => step === name)!;
const changed = (docs: ForecastDoc[], isMeant: (doc: ForecastDoc) => boolean, change: Partial<ForecastDoc>) =>
  docs.map((doc) => (isMeant(doc) ? { ...doc, ...change } : doc));

describe('a week without incidents', () => {
  const report = composeSelfReport(week());

  it('has each promise of the timetable kept, for each day', () => {
    const promised = Object.fromEntries(report.steps.map(({ step, promised: count }) => [step, count]));
    expect(promised).toEqual({
      ...{ signal: 7, attest: 7, wager: 7, 'open-window': 7, resolve: 28, brief: 7, 'weekly-report': 1, backtest: 7, diagnostics: 1 },
    });
    for (const { promised: count, ran, late, missed, failed, waiting, step } of report.steps) {
      expect({ step, ran, late, missed, failed, waiting }).toEqual({ step, ran: count, late: 0, missed: 0, failed: 0, waiting: 0 });
    }
    expect(report).toMatchObject({ verdict: '72 of 72 promises kept in time', incidents: [], dataGaps: [] });
    expect(report.record).toEqual({ days: 7, forecast: 7, missed: 0, late: 0, replayed: 0 });
    expect(report.outcomes).toEqual({ wins: 28, losses: 0, holds: 0, voids: 0, open: 0 });
    expect(report.modelVersions).toEqual([{ modelVersion: 'm0-d1.2025-08-19', days: 7 }]);
  });

  it('matches the served schema', () => {
    expect(SELF_REPORT.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });
});

describe('incidents of a week', () => {
  it('include a late, a missed and an unwritten day', () => {
    const days = [day(FIRST, { late: true }), day(FIRST + 1, { missedBecause: 'no price', modelVersion: null, regime: null })];
    const report = composeSelfReport(week({ days: [...days, ...range(FIRST + 2, SUNDAY - 2).map((of) => day(of))] }));
    expect(stepOf(report, 'signal')).toMatchObject({ promised: 7, ran: 4, late: 1, missed: 2 });
    expect(report.record).toEqual({ days: 6, forecast: 5, missed: 1, late: 1, replayed: 0 });
    expect(report.incidents.filter(({ step }) => step === 'signal')).toMatchObject([
      { date: '2026-03-08', state: 'late' },
      { date: '2026-03-09', state: 'missed', detail: 'no price' },
      { date: '2026-03-14', state: 'missed', detail: null },
    ]);
    expect(report.verdict).toBe('69 of 72 promises kept in time; 1 x signal late, 2 x signal missed');
  });

  it('include a late commitment, and one after the window opened, which does not count', () => {
    const docs = week().forecasts as ForecastDoc[];
    const at = (of: number, hours: number, minutes: number) => ({ ...docs[0].attestation!, at: new Date(toInstantMs(of, hours, minutes)) });
    const late = changed(docs, (doc) => doc.day === FIRST, { attestation: at(FIRST, 23, 0) });
    const both = changed(late, (doc) => doc.day === FIRST + 1, { attestation: at(FIRST + 2, 0, 5), state: 'VOID', reveal: null });
    const report = composeSelfReport(week({ forecasts: both }));
    expect(stepOf(report, 'attest')).toMatchObject({ promised: 7, ran: 5, late: 1, missed: 1 });
    expect(report.outcomes.voids).toBe(3);
    expect(stepOf(report, 'resolve').promised).toBe(28 - 3);
  });

  it('include a late outcome and a missing one', () => {
    const docs = week().forecasts as ForecastDoc[];
    const ended = FIRST + 3;
    const isMeant = (doc: ForecastDoc) => doc.horizonDays === 1 && doc.day === ended - 2;
    const reveal = (hours: number, minutes: number) => ({ ...docs[0].attestation!, at: new Date(toInstantMs(ended, hours, minutes)) });
    const resolve = (change: Partial<ForecastDoc>) => composeSelfReport(week({ forecasts: changed(docs, isMeant, change) }));
    expect(stepOf(resolve({ reveal: reveal(6, 2) }), 'resolve')).toMatchObject({ ran: 28, late: 0 });
    expect(stepOf(resolve({ reveal: reveal(6, 3) }), 'resolve')).toMatchObject({ ran: 27, late: 1 });
    const open = resolve({ reveal: null, state: 'PENDING' });
    expect(stepOf(open, 'resolve')).toMatchObject({ ran: 27, missed: 1 });
    expect(open.outcomes).toMatchObject({ wins: 27, open: 1 });
  });

  it('disclose no outcome that is decided and not on chain', () => {
    const docs = week().forecasts as ForecastDoc[];
    const reports = (['WIN', 'LOSS', 'HOLD'] as const).map((outcome) =>
      composeSelfReport(
        week({
          forecasts: docs.map((doc) =>
            doc.day === FIRST && doc.horizonDays === 1
              ? { ...doc, state: 'PENDING' as const, reveal: null, resolution: { ...doc.resolution!, outcome } }
              : doc,
          ),
        }),
      ),
    );
    expect(reports[1]).toEqual(reports[0]);
    expect(reports[2]).toEqual(reports[0]);
    expect(reports[0].outcomes.open).toBe(1);
  });

  it('include a step that waits or failed with its reason, except for wagers', () => {
    const briefs = new Map([...week().briefs].filter(([of]) => of !== SUNDAY - 1 && of !== SUNDAY));
    const wagers = new Map([...week().wagers].filter(([of]) => of !== FIRST && of !== FIRST + 1));
    const runs = [
      run('brief', SUNDAY - 1, 'failed', 'out of paper'),
      run('brief', SUNDAY, 'waiting', 'no price'),
      run('wager', FIRST, 'waiting', 'the YES side is too dear'),
      run('wager', FIRST + 1, 'done', null),
    ];
    const report = composeSelfReport(week({ briefs, wagers, runs }));
    expect(stepOf(report, 'brief')).toMatchObject({ ran: 5, failed: 1, waiting: 1 });
    expect(stepOf(report, 'wager')).toMatchObject({ ran: 6, waiting: 1 });
    expect(JSON.stringify(report)).not.toContain('YES side');
    expect(report.incidents).toContainEqual({ date: '2026-03-14', step: 'brief', state: 'failed', detail: 'out of paper' });
  });

  it('include self-tests that were late, failed or not run', () => {
    const tests = [
      ...range(FIRST + 1, SUNDAY - 2).map((of) => selfTest('walk-forward', of, { late: of === FIRST + 1 })),
      selfTest('walk-forward', SUNDAY - 1, { state: 'failed', reason: 'the thread ended' }),
    ];
    const report = composeSelfReport(week({ tests }));
    expect(stepOf(report, 'backtest')).toMatchObject({ promised: 7, ran: 4, late: 1, failed: 1, missed: 1 });
    expect(stepOf(report, 'diagnostics')).toMatchObject({ promised: 1, missed: 1 });
    expect(report.incidents).toContainEqual({
      date: '2026-03-09',
      step: 'backtest',
      state: 'late',
      detail: 'run at 2026-03-09T14:00:00.000Z',
    });
  });

  it('include a wager decided late, and one after the window opened', () => {
    const wagers = new Map(week().wagers);
    wagers.set(FIRST, new Date(toInstantMs(FIRST + 1) - 1));
    wagers.set(FIRST + 1, new Date(toInstantMs(FIRST + 2)));
    const report = composeSelfReport(week({ wagers }));
    expect(stepOf(report, 'wager')).toMatchObject({ promised: 7, ran: 5, late: 1, missed: 1 });
    expect(report.incidents).toContainEqual({ date: '2026-03-09', step: 'wager', state: 'missed', detail: 'the window had opened' });
  });

  it('include inputs that were missing or too old', () => {
    const days = week().days.map((doc, index) => (index < 2 ? { ...doc, metadata: metadata(['gold']) as DayDoc['metadata'] } : doc));
    expect(composeSelfReport(week({ days })).dataGaps).toEqual([{ series: 'gold', days: 2, dates: ['2026-03-08', '2026-03-09'] }]);
  });
});

describe('not promised', () => {
  it('is anything before the record began', () => {
    const report = composeSelfReport(week({ genesis: null, firstLive: null, days: [], forecasts: [] }));
    expect(report).toMatchObject({ verdict: 'the record had not begun: nothing was promised', incidents: [] });
    expect(report.steps.every(({ promised }) => promised === 0)).toBe(true);
  });

  it('are reports and self-tests on replayed days, and on the first day of the service', () => {
    const days = week().days.map((doc) => ({ ...doc, replayed: true }));
    const replayed = composeSelfReport(week({ days, firstLive: null, briefs: new Map(), weeklyLate: null, tests: [] }));
    expect(replayed).toMatchObject({ verdict: '56 of 56 promises kept in time, on replayed days', incidents: [] });
    const fresh = composeSelfReport(week({ firstLive: SUNDAY - 2, briefs: new Map([[SUNDAY - 1, false]]), weeklyLate: null, tests: [] }));
    expect(stepOf(fresh, 'brief')).toMatchObject({ promised: 2, ran: 1, missed: 1 });
    expect(stepOf(fresh, 'weekly-report').promised).toBe(0);
  });

  it('are forecasts beyond the end of the market data', () => {
    const report = composeSelfReport(week({ lastCovered: SUNDAY - 1 }));
    expect(stepOf(report, 'signal').promised).toBe(7);
    const cut = composeSelfReport(week({ lastCovered: SUNDAY - 4 }));
    const promised = ['signal', 'brief', 'backtest', 'weekly-report'].map((step) => stepOf(cut, step).promised);
    expect(promised).toEqual([4, 4, 4, 1]);
    expect(stepOf(composeSelfReport(week({ lastCovered: FIRST - 7 })), 'weekly-report').promised).toBe(0);
  });

  it('sums gas by purpose', () => {
    const gas = ['attest', 'resolve', 'feedback', 'identity', 'schema'].map((purpose, index) => ({
      ...{ purpose, transactions: 1, gasUsed: 10 ** index, costWei: 10n ** BigInt(20 + index) },
    }));
    expect(composeSelfReport(week({ gas })).gas).toEqual({
      attestations: { transactions: 1, gasUsed: 1, costWei: '100000000000000000000' },
      resolutions: { transactions: 1, gasUsed: 10, costWei: '1000000000000000000000' },
      feedback: { transactions: 1, gasUsed: 100, costWei: '10000000000000000000000' },
      others: { transactions: 2, gasUsed: 11_000, costWei: '1100000000000000000000000' },
    });
  });
});
