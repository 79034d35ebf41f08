import type { GasCosts } from '../chain/contracts.ts';
import { type Day, formatDay, getLastDayOfWeek, toDay, toWeek } from '../forecast/day.ts';
import { REGIME_NAMES } from '../forecast/regime.ts';
import { sanitizeText } from '../platform/validation.ts';
import type { DayDoc, ForecastDoc, InputSource } from '../record/forecast-doc.ts';
import { PROMISED_STEPS, type PromisedStep, type PromiseState, type SelfReport } from '../record/schemas/self-tests.ts';
import { getSelfTestDueMs } from '../record/self-tests.ts';
import { getStepDueMs, getWindowOpensMs, isLateForDue, isStepLate, OUTCOME_CHECK_HOURS, type PipelineContext } from './forecaster.ts';
import { toPublicStepReason } from './step-runs.ts';

const REPLAYED_NOTE =
  "Some of these days were replayed when this demonstration first started: their promises were kept by the replay's clock.";
const NOT_BEGUN_NOTE = 'The record had not begun: nothing was promised in these days.';
const REPLAY_SCOPE_NOTE =
  'Briefs, weekly reports and self-tests are promised from the day after the first that the service forecast itself: a replay makes none.';
const MAX_SERIES_CHARS = 60;

/** What the week's timetable promised and what ran. It holds only public data: nothing of unresolved forecasts or wagers. */
export function composeSelfReport(week: SelfReportData): SelfReport {
  const promises = listPromises(week);
  const replayed = week.days.filter((day) => day.replayed).length;
  const forecast = week.days.filter(({ missedBecause }) => missedBecause === null);
  return {
    verdict: formatPromiseVerdict(promises, replayed > 0),
    from: week.from.toISOString(),
    to: week.to.toISOString(),
    asOf: week.asOf.toISOString(),
    steps: buildStepTable(promises),
    incidents: listBrokenPromises(promises),
    record: {
      days: week.days.length,
      forecast: forecast.length,
      missed: week.days.length - forecast.length,
      late: forecast.filter(({ late }) => late).length,
      replayed,
    },
    outcomes: countOutcomes(week),
    dataGaps: listDataGaps(forecast),
    modelVersions: countByValue(forecast.map(({ modelVersion }) => modelVersion!)).map(([modelVersion, days]) => ({ modelVersion, days })),
    regimes: REGIME_NAMES.map((regime) => ({ regime, days: forecast.filter((day) => day.regime === regime).length })).filter(
      ({ days }) => days > 0,
    ),
    gas: sumGasByPurpose(week.gas),
    notes: [...(replayed > 0 ? [REPLAYED_NOTE] : []), ...(promises.length === 0 ? [NOT_BEGUN_NOTE] : []), REPLAY_SCOPE_NOTE],
  };
}

function formatPromiseVerdict(promises: readonly PromiseOutcome[], replayed: boolean): string {
  if (promises.length === 0) return 'the record had not begun: nothing was promised';
  const broken = promises.filter(({ state }) => state !== 'ran');
  const kept = `${promises.length - broken.length} of ${promises.length} promises kept in time${replayed ? ', on replayed days' : ''}`;
  if (broken.length === 0) return kept;
  return `${kept}; ${countByValue(broken.map(({ step, state }) => `${step} ${state}`))
    .map(([what, count]) => `${count} x ${what}`)
    .join(', ')}`;
}

/** Counts outcomes from their reveal on chain only: earlier, they would disclose the direction. */
function countOutcomes(week: SelfReportData): SelfReport['outcomes'] {
  const over = listEndedForecasts(week);
  const count = (state: string) => over.filter((doc) => doc.reveal !== null && doc.state === state).length;
  const voids = week.forecasts.filter(
    ({ state, missed, resolvesAt }) => (state === 'VOID' || missed) && resolvesAt >= week.from && resolvesAt < week.to,
  ).length;
  const open = over.filter(({ reveal }) => reveal === null).length;
  return { wins: count('WIN'), losses: count('LOSS'), holds: count('HOLD'), voids, open };
}

function listDataGaps(days: readonly DayDoc[]): SelfReport['dataGaps'] {
  const gaps = days.flatMap(({ _id: date, metadata }) => {
    const { inputs } = JSON.parse(metadata.json) as { inputs: InputSource[] };
    return inputs
      .filter(({ observedDay }) => observedDay === null)
      .map(({ series }) => ({ series: sanitizeText(series, MAX_SERIES_CHARS), date }));
  });
  return [...Map.groupBy(gaps, ({ series }) => series)].map(([series, members]) => {
    const dates = members.map(({ date }) => date);
    return { series, days: dates.length, dates };
  });
}

function sumGasByPurpose(costs: readonly GasCosts[]): SelfReport['gas'] {
  const named = ['attest', 'resolve', 'feedback'];
  const of = (isMatching: (purpose: string) => boolean) => {
    const matching = costs.filter(({ purpose }) => isMatching(purpose));
    return {
      transactions: matching.reduce((sum, { transactions }) => sum + transactions, 0),
      gasUsed: matching.reduce((sum, { gasUsed }) => sum + gasUsed, 0),
      costWei: matching.reduce((sum, { costWei }) => sum + costWei, 0n).toString(),
    };
  };
  return {
    attestations: of((purpose) => purpose === 'attest'),
    resolutions: of((purpose) => purpose === 'resolve'),
    feedback: of((purpose) => purpose === 'feedback'),
    others: of((purpose) => !named.includes(purpose)),
  };
}

function countByValue(values: readonly string[]): [string, number][] {
  return [...Map.groupBy(values, (value) => value)].map(([value, members]) => [value, members.length]);
}

const WEEK_DAYS = 7;

export type SelfReportData = Awaited<ReturnType<typeof gatherSelfReportData>>;

const MAX_WINDOW_DAYS = 8;

export async function gatherSelfReportData(deps: PipelineContext, sunday: Day, now: Date) {
  const { record, market, selfTests } = deps;
  const first = sunday - WEEK_DAYS;
  // From 15:00 UTC of one Sunday to 15:00 UTC of the next.
  const [from, to] = [first, sunday].map((day) => new Date(getSelfTestDueMs('diagnostics', day)));
  const [{ lastDay }, gas, days] = await Promise.all([
    market.coverage(),
    selfTests.gasCosts(from, to),
    // With their metadata, which names their inputs.
    record.days.find({ day: { $gte: first, $lt: sunday } }, { sort: { day: 1 }, projection: { distributions: 0 } }).toArray(),
  ]);
  const all = record.known.listDays();
  // The first day that was not replayed: what a replay skips is promised only after it.
  const firstLive = all.find(({ replayed }) => !replayed)?.day ?? null;
  const genesis = all.at(0)?.day ?? null;
  const common = { sunday, from, to, asOf: now, genesis, firstLive, lastCovered: lastDay };
  const forecasts = record.known.listAll().filter(({ day }) => day >= first - MAX_WINDOW_DAYS && day <= sunday);
  return { ...common, days, forecasts, gas, ...(await gatherReports(deps, sunday)) };
}

async function gatherReports({ record, reports, runs, selfTests: { store } }: PipelineContext, sunday: Day) {
  const first = sunday - WEEK_DAYS;
  const briefDays = Array.from({ length: WEEK_DAYS }, (_, index) => first + 1 + index);
  const decided = record.known.listWagers().filter(({ day }) => day >= first && day < sunday);
  const [briefs, weekly, daily, before, stepRuns] = await Promise.all([
    Promise.all(briefDays.map((day) => reports.briefs.findByDay(day))),
    reports.weekly.findByDay(toWeek(first)),
    store.listBetween('walk-forward', first + 1, sunday),
    store.listBetween('stability', first, first),
    runs.listBetween(PROMISED_STEPS, first, sunday),
  ]);
  return {
    // Time of decision by day.
    wagers: new Map(decided.map(({ day, decidedAt }) => [day, decidedAt])),
    // Lateness by day, of days with a brief.
    briefs: new Map(briefs.flatMap((brief, index) => (brief === null ? [] : [[briefDays[index], brief.late] as const]))),
    weeklyLate: weekly?.late ?? null,
    tests: [...daily, ...before],
    runs: stepRuns,
  };
}

type PromiseOutcome = ReturnType<typeof toPromiseOutcome>;

const MAX_DETAIL_CHARS = 200;
const OUTCOME_CHECK_MS = OUTCOME_CHECK_HOURS * 3_600_000;

function listPromises(week: SelfReportData): PromiseOutcome[] {
  const forecastDays = listDaysFrom(week.sunday - WEEK_DAYS, week).filter((day) => isCovered(week, day));
  const liveDays = listDaysFrom(week.sunday - WEEK_DAYS + 1, week).filter((day) => isLive(week, day) && isCovered(week, day - 1));
  const before = week.sunday - WEEK_DAYS;
  return [
    ...forecastDays.flatMap((day) => [
      checkSignal(week, day),
      checkCommitment(week, day),
      checkWager(week, day),
      checkOpenWindow(week, day),
    ]),
    ...listEndedForecasts(week).map((doc) => checkResolution(week, doc)),
    ...liveDays.flatMap((day) => [checkBrief(week, day), checkSelfTest(week, 'backtest', day)]),
    ...(isLive(week, before + 1) && isCovered(week, toWeek(before)) ? [checkWeeklyReport(week)] : []),
    ...(isLive(week, before) ? [checkSelfTest(week, 'diagnostics', before)] : []),
  ];
}

/** The seven days from `first` on that are in the record. */
function listDaysFrom(first: Day, { genesis }: SelfReportData): Day[] {
  const days = Array.from({ length: WEEK_DAYS }, (_, index) => first + index);
  return genesis === null ? [] : days.filter((day) => day >= genesis);
}

/** A feed that ends promises nothing for days after its last. */
function isCovered({ lastCovered }: SelfReportData, day: Day): boolean {
  return lastCovered === null || day <= lastCovered;
}

/** Steps that a replay skips are promised from the day after the first live forecast. */
function isLive({ firstLive }: SelfReportData, day: Day): boolean {
  return firstLive !== null && day > firstLive;
}

/** Valid forecasts whose window ended in the week; beyond the end of the data they stay open. */
function listEndedForecasts({ forecasts, from, to, lastCovered }: SelfReportData): ForecastDoc[] {
  const isKnown = ({ resolvesAt }: ForecastDoc) => lastCovered === null || toDay(resolvesAt.getTime()) - 1 <= lastCovered;
  const inWeek = forecasts.filter(({ resolvesAt }) => resolvesAt >= from && resolvesAt < to);
  return inWeek.filter((doc) => doc.state !== 'VOID' && !doc.missed && isKnown(doc));
}

function checkSignal(week: SelfReportData, day: Day): PromiseOutcome {
  const doc = week.days.find((one) => one.day === day);
  if (doc === undefined) return explainUndone(week, 'signal', day);
  if (doc.missedBecause !== null) return toPromiseOutcome('signal', day, 'missed', sanitizeText(doc.missedBecause, MAX_DETAIL_CHARS));
  return toPromiseOutcome('signal', day, doc.late ? 'late' : 'ran', doc.late ? `forecast at ${doc.signalAt.toISOString()}` : null);
}

function checkCommitment(week: SelfReportData, day: Day): PromiseOutcome {
  const times = week.forecasts.filter((doc) => doc.day === day).map(({ attestation }) => attestation?.at.getTime() ?? null);
  if (times.length === 0 || times.includes(null)) return explainUndone(week, 'attest', day);
  const at = Math.max(...(times as number[]));
  if (at >= getWindowOpensMs(day))
    return toPromiseOutcome('attest', day, 'missed', 'on chain after the window had opened: it does not count');
  const late = isLateForDue(getStepDueMs('attest', day), new Date(at));
  return toPromiseOutcome('attest', day, late ? 'late' : 'ran', late ? `on chain at ${new Date(at).toISOString()}` : null);
}

function checkWager(week: SelfReportData, day: Day): PromiseOutcome {
  const decidedAt = week.wagers.get(day);
  if (decidedAt === undefined) return explainUndone(week, 'wager', day);
  if (decidedAt.getTime() >= getWindowOpensMs(day)) return toPromiseOutcome('wager', day, 'missed', 'the window had opened');
  return toPromiseOutcome('wager', day, isStepLate('wager', day, decidedAt) ? 'late' : 'ran');
}

function checkOpenWindow(week: SelfReportData, day: Day): PromiseOutcome {
  const docs = week.forecasts.filter((doc) => doc.day === day);
  const isOpen = docs.length > 0 && docs.every(({ btcAtSignalCents }) => btcAtSignalCents !== null);
  return isOpen ? toPromiseOutcome('open-window', day, 'ran') : explainUndone(week, 'open-window', day);
}

function checkResolution(week: SelfReportData, { _id, day, resolvesAt, reveal }: ForecastDoc): PromiseOutcome {
  if (reveal === null) {
    const last = week.runs.filter(({ step }) => step === 'resolve').toSorted((a, b) => b.day - a.day)[0];
    const state = last === undefined || last.state === 'done' ? 'missed' : last.state;
    return toPromiseOutcome('resolve', day, state, `${_id} is not resolved on chain`);
  }
  const late = isLateForDue(resolvesAt.getTime() + OUTCOME_CHECK_MS, reveal.at);
  return toPromiseOutcome('resolve', day, late ? 'late' : 'ran', late ? `${_id} was resolved at ${reveal.at.toISOString()}` : null);
}

function checkBrief(week: SelfReportData, day: Day): PromiseOutcome {
  const late = week.briefs.get(day);
  return late === undefined ? explainUndone(week, 'brief', day) : toPromiseOutcome('brief', day, late ? 'late' : 'ran');
}

function checkWeeklyReport(week: SelfReportData): PromiseOutcome {
  const monday = getLastDayOfWeek(toWeek(week.sunday - WEEK_DAYS)) + 1;
  if (week.weeklyLate === null) return explainUndone(week, 'weekly-report', monday);
  return toPromiseOutcome('weekly-report', monday, week.weeklyLate ? 'late' : 'ran');
}

function checkSelfTest(week: SelfReportData, step: 'backtest' | 'diagnostics', day: Day): PromiseOutcome {
  const run = week.tests.find((one) => one.day === day && (one.test === 'stability') === (step === 'diagnostics'));
  if (run === undefined) return explainUndone(week, step, day);
  if (run.state === 'failed')
    return toPromiseOutcome(step, day, 'failed', sanitizeText(run.reason ?? 'it could not be run', MAX_DETAIL_CHARS));
  return toPromiseOutcome(step, day, run.late ? 'late' : 'ran', run.late ? `run at ${run.firstRanAt.toISOString()}` : null);
}

/** Reports the last run of a step without a result. A wager step that found nothing to do kept its promise. */
function explainUndone({ runs }: SelfReportData, step: PromisedStep, day: Day): PromiseOutcome {
  const run = runs.find((one) => one.step === step && one.day === day);
  if (run === undefined) return toPromiseOutcome(step, day, 'missed');
  if (run.state === 'done') return toPromiseOutcome(step, day, step === 'wager' ? 'ran' : 'missed');
  const reason = toPublicStepReason(run);
  return toPromiseOutcome(step, day, run.state, reason === null ? null : sanitizeText(reason, MAX_DETAIL_CHARS));
}

function toPromiseOutcome(step: PromisedStep, day: Day, state: PromiseState, detail: string | null = null) {
  return { step, day, state, detail };
}

function buildStepTable(promises: readonly PromiseOutcome[]): SelfReport['steps'] {
  return PROMISED_STEPS.map((step) => {
    const states = promises.filter((promise) => promise.step === step).map(({ state }) => state);
    const count = (state: PromiseState) => states.filter((one) => one === state).length;
    return {
      step,
      promised: states.length,
      ran: count('ran'),
      late: count('late'),
      waiting: count('waiting'),
      failed: count('failed'),
      missed: count('missed'),
    };
  });
}

function listBrokenPromises(promises: readonly PromiseOutcome[]): SelfReport['incidents'] {
  return promises
    .flatMap(({ step, day, state, detail }) => (state === 'ran' ? [] : [{ date: formatDay(day), step, state, detail }]))
    .toSorted((a, b) => a.date.localeCompare(b.date));
}
