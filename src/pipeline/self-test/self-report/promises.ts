import { type Day, formatDay, toDay } from '../../../forecast/day.ts';
import { getLastDayOfWeek, toWeek } from '../../../forecast/week.ts';
import type { ForecastDoc } from '../../../record/forecast-doc.ts';
import { sanitizeText } from '../../../record/sanitize-text.ts';
import { PROMISED_STEPS, type PromisedStep, type PromiseState, type SelfReport } from '../../../record/self-test/schemas/self-report.ts';
import { getStepDueMs, getWindowOpensMs, isLateForDue, isStepLate, OUTCOME_CHECK_HOURS } from '../../schedule/step-times.ts';
import { toPublicStepReason } from '../../step-run-store.ts';
import { type SelfReportData, WEEK_DAYS } from './gather-data.ts';

export type PromiseOutcome = ReturnType<typeof toPromiseOutcome>;

const MAX_DETAIL_CHARS = 200;
const OUTCOME_CHECK_MS = OUTCOME_CHECK_HOURS * 3_600_000;

export function listPromises(week: SelfReportData): PromiseOutcome[] {
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
export function listEndedForecasts({ forecasts, from, to, lastCovered }: SelfReportData): ForecastDoc[] {
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

export function buildStepTable(promises: readonly PromiseOutcome[]): SelfReport['steps'] {
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

export function listBrokenPromises(promises: readonly PromiseOutcome[]): SelfReport['incidents'] {
  return promises
    .flatMap(({ step, day, state, detail }) => (state === 'ran' ? [] : [{ date: formatDay(day), step, state, detail }]))
    .toSorted((a, b) => a.date.localeCompare(b.date));
}
