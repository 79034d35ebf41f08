import { type Day, dayOf, formatDay } from '../../../forecast/day.ts';
import { lastDayOfWeek, weekOf } from '../../../forecast/week.ts';
import type { ForecastDoc } from '../../../record/forecast.ts';
import { plainText } from '../../../record/plain-text.ts';
import { PROMISED_STEPS } from '../../../record/self-test/schemas/self-report.ts';
import type { PromisedStep, PromiseState, SelfReport } from '../../../record/self-test/self-report.ts';
import type { SelfTestRun } from '../../../record/self-test/store.ts';
import { publicReason } from '../../step-runs.ts';
import { isLate, isLateFor, OUTCOME_CHECK_HOURS, stepInstant, windowOpensAt } from '../../times.ts';
import { WEEK_DAYS, type WeekMaterial } from './material.ts';

/** One thing that was promised for a day, and what became of it. */
export interface Kept {
  step: PromisedStep;
  day: Day;
  state: PromiseState;
  detail: string | null;
}

const MAX_DETAIL = 200;
const OUTCOME_CHECK_MS = OUTCOME_CHECK_HOURS * 3_600_000;

/** Everything that the timetable promised in a week, and what became of it. */
export function promisesOf(week: WeekMaterial): Kept[] {
  const forecastDays = daysFrom(week.sunday - WEEK_DAYS, week).filter((day) => isCovered(week, day));
  const liveDays = daysFrom(week.sunday - WEEK_DAYS + 1, week).filter((day) => isLive(week, day) && isCovered(week, day - 1));
  const before = week.sunday - WEEK_DAYS;
  return [
    ...forecastDays.flatMap((day) => [signal(week, day), attest(week, day), wager(week, day), openWindow(week, day)]),
    ...ended(week).map((doc) => resolution(week, doc)),
    ...liveDays.flatMap((day) => [brief(week, day), selfTest(week, 'backtest', day)]),
    ...(isLive(week, before + 1) && isCovered(week, weekOf(before)) ? [weeklyReport(week)] : []),
    ...(isLive(week, before) ? [selfTest(week, 'diagnostics', before)] : []),
  ];
}

/** Seven days on end, as far as the record had begun. */
function daysFrom(first: Day, { genesis }: WeekMaterial): Day[] {
  const days = Array.from({ length: WEEK_DAYS }, (_, index) => first + index);
  return genesis === null ? [] : days.filter((day) => day >= genesis);
}

/** A feed that ends promises nothing of later days, and what tells of a day is promised for the one after it. */
function isCovered({ lastCovered }: WeekMaterial, day: Day): boolean {
  return lastCovered === null || day <= lastCovered;
}

/** What no replay does is promised from the day after the first that the service itself has forecast. */
function isLive({ firstLive }: WeekMaterial, day: Day): boolean {
  return firstLive !== null && day > firstLive;
}

/** Forecasts that count and whose window ended in the week; where the data ends before, they stay open for good. */
export function ended({ forecasts, from, to, lastCovered }: WeekMaterial): ForecastDoc[] {
  const isKnown = ({ resolvesAt }: ForecastDoc) => lastCovered === null || dayOf(resolvesAt.getTime()) - 1 <= lastCovered;
  const inWeek = forecasts.filter(({ resolvesAt }) => resolvesAt >= from && resolvesAt < to);
  return inWeek.filter((doc) => doc.state !== 'VOID' && !doc.missed && isKnown(doc));
}

function signal(week: WeekMaterial, day: Day): Kept {
  const doc = week.days.find((one) => one.day === day);
  if (doc === undefined) return undone(week, 'signal', day);
  if (doc.missedBecause !== null) return kept('signal', day, 'missed', plainText(doc.missedBecause, MAX_DETAIL));
  return kept('signal', day, doc.late ? 'late' : 'ran', doc.late ? `forecast at ${doc.signalAt.toISOString()}` : null);
}

function attest(week: WeekMaterial, day: Day): Kept {
  const times = week.forecasts.filter((doc) => doc.day === day).map(({ attestation }) => attestation?.at.getTime() ?? null);
  if (times.length === 0 || times.includes(null)) return undone(week, 'attest', day);
  const at = Math.max(...(times as number[]));
  if (at >= windowOpensAt(day)) return kept('attest', day, 'missed', 'on chain after the window had opened: it does not count');
  const late = isLateFor(stepInstant('attest', day), new Date(at));
  return kept('attest', day, late ? 'late' : 'ran', late ? `on chain at ${new Date(at).toISOString()}` : null);
}

function wager(week: WeekMaterial, day: Day): Kept {
  const decidedAt = week.wagers.get(day);
  if (decidedAt === undefined) return undone(week, 'wager', day);
  if (decidedAt.getTime() >= windowOpensAt(day)) return kept('wager', day, 'missed', 'the window had opened');
  return kept('wager', day, isLate('wager', day, decidedAt) ? 'late' : 'ran');
}

function openWindow(week: WeekMaterial, day: Day): Kept {
  const docs = week.forecasts.filter((doc) => doc.day === day);
  const isOpen = docs.length > 0 && docs.every(({ btcAtSignalCents }) => btcAtSignalCents !== null);
  return isOpen ? kept('open-window', day, 'ran') : undone(week, 'open-window', day);
}

function resolution(week: WeekMaterial, { _id, day, resolvesAt, reveal }: ForecastDoc): Kept {
  if (reveal === null) {
    const last = week.runs.filter(({ step }) => step === 'resolve').toSorted((a, b) => b.day - a.day)[0];
    const state = last === undefined || last.state === 'done' ? 'missed' : last.state;
    return kept('resolve', day, state, `${_id} is not resolved on chain`);
  }
  const late = isLateFor(resolvesAt.getTime() + OUTCOME_CHECK_MS, reveal.at);
  return kept('resolve', day, late ? 'late' : 'ran', late ? `${_id} was resolved at ${reveal.at.toISOString()}` : null);
}

function brief(week: WeekMaterial, day: Day): Kept {
  const late = week.briefs.get(day);
  return late === undefined ? undone(week, 'brief', day) : kept('brief', day, late ? 'late' : 'ran');
}

/** On the calendar week that ended with the first day of these seven; due on the day after. */
function weeklyReport(week: WeekMaterial): Kept {
  const monday = lastDayOfWeek(weekOf(week.sunday - WEEK_DAYS)) + 1;
  if (week.weeklyLate === null) return undone(week, 'weekly-report', monday);
  return kept('weekly-report', monday, week.weeklyLate ? 'late' : 'ran');
}

function selfTest(week: WeekMaterial, step: 'backtest' | 'diagnostics', day: Day): Kept {
  const run = week.tests.find((one: SelfTestRun) => one.day === day && (one.test === 'stability') === (step === 'diagnostics'));
  if (run === undefined) return undone(week, step, day);
  if (run.state === 'failed') return kept(step, day, 'failed', plainText(run.reason ?? 'it could not be run', MAX_DETAIL));
  return kept(step, day, run.late ? 'late' : 'ran', run.late ? `run at ${run.firstRanAt.toISOString()}` : null);
}

/** Nothing came of it: what its last run said of that. A step that found nothing to do has kept its promise. */
function undone({ runs }: WeekMaterial, step: PromisedStep, day: Day): Kept {
  const run = runs.find((one) => one.step === step && one.day === day);
  if (run === undefined) return kept(step, day, 'missed');
  if (run.state === 'done') return kept(step, day, step === 'wager' ? 'ran' : 'missed');
  const reason = publicReason(run);
  return kept(step, day, run.state, reason === null ? null : plainText(reason, MAX_DETAIL));
}

function kept(step: PromisedStep, day: Day, state: PromiseState, detail: string | null = null): Kept {
  return { step, day, state, detail };
}

/** How often each step was promised, and what became of it. */
export function stepTable(promises: readonly Kept[]): SelfReport['steps'] {
  return PROMISED_STEPS.map((step) => {
    const states = promises.filter((promise) => promise.step === step).map(({ state }) => state);
    const count = (state: PromiseState) => states.filter((one) => one === state).length;
    return {
      ...{ step, promised: states.length, ran: count('ran'), late: count('late') },
      ...{ waiting: count('waiting'), failed: count('failed'), missed: count('missed') },
    };
  });
}

/** The promises that were not kept in time, by date. */
export function incidentsOf(promises: readonly Kept[]): SelfReport['incidents'] {
  return promises
    .flatMap(({ step, day, state, detail }) => (state === 'ran' ? [] : [{ date: formatDay(day), step, state, detail }]))
    .toSorted((a, b) => (a.date === b.date ? 0 : a.date < b.date ? -1 : 1));
}
