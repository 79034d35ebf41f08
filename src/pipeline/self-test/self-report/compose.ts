import type { GasCosts } from '../../../chain/gas-costs.ts';
import { REGIME_NAMES } from '../../../forecast/regime.ts';
import type { DayDoc, InputSource } from '../../../record/day-record.ts';
import { plainText } from '../../../record/plain-text.ts';
import type { SelfReport } from '../../../record/self-test/self-report.ts';
import type { WeekMaterial } from './material.ts';
import { ended, incidentsOf, type Kept, promisesOf, stepTable } from './promises.ts';

const REPLAYED = "Some of these days were replayed when this demonstration first started: their promises were kept by the replay's clock.";
const NOT_BEGUN = 'The record had not begun: nothing was promised in these days.';
const OF_A_REPLAY =
  'Briefs, weekly reports and self-tests are promised from the day after the first that the service forecast itself: a replay makes none.';
const MAX_SERIES = 60;

/** What a week promised and what became of it. Nothing of an unresolved forecast or wager goes in: an anonymous reader may know all of it. */
export function composeSelfReport(week: WeekMaterial): SelfReport {
  const promises = promisesOf(week);
  const replayed = week.days.filter((day) => day.replayed).length;
  const forecast = week.days.filter(({ missedBecause }) => missedBecause === null);
  return {
    verdict: verdictOf(promises, replayed > 0),
    from: week.from.toISOString(),
    to: week.to.toISOString(),
    asOf: week.asOf.toISOString(),
    steps: stepTable(promises),
    incidents: incidentsOf(promises),
    record: {
      days: week.days.length,
      forecast: forecast.length,
      missed: week.days.length - forecast.length,
      late: forecast.filter(({ late }) => late).length,
      replayed,
    },
    outcomes: outcomesOf(week),
    dataGaps: gapsOf(forecast),
    modelVersions: countsOf(forecast.map(({ modelVersion }) => modelVersion!)).map(([modelVersion, days]) => ({ modelVersion, days })),
    regimes: REGIME_NAMES.map((regime) => ({ regime, days: forecast.filter((day) => day.regime === regime).length })).filter(
      ({ days }) => days > 0,
    ),
    gas: gasOf(week.gas),
    notes: [...(replayed > 0 ? [REPLAYED] : []), ...(promises.length === 0 ? [NOT_BEGUN] : []), OF_A_REPLAY],
  };
}

function verdictOf(promises: readonly Kept[], replayed: boolean): string {
  if (promises.length === 0) return 'the record had not begun: nothing was promised';
  const broken = promises.filter(({ state }) => state !== 'ran');
  const kept = `${promises.length - broken.length} of ${promises.length} promises kept in time${replayed ? ', on replayed days' : ''}`;
  if (broken.length === 0) return kept;
  return `${kept}; ${countsOf(broken.map(({ step, state }) => `${step} ${state}`))
    .map(([what, count]) => `${count} x ${what}`)
    .join(', ')}`;
}

/** An outcome counts from the moment that it is on chain: before, it would tell the direction. */
function outcomesOf(week: WeekMaterial): SelfReport['outcomes'] {
  const over = ended(week);
  const count = (state: string) => over.filter((doc) => doc.reveal !== null && doc.state === state).length;
  const voids = week.forecasts.filter(
    ({ state, missed, resolvesAt }) => (state === 'VOID' || missed) && resolvesAt >= week.from && resolvesAt < week.to,
  ).length;
  const open = over.filter(({ reveal }) => reveal === null).length;
  return { wins: count('WIN'), losses: count('LOSS'), holds: count('HOLD'), voids, open };
}

/** Inputs that were left out, from the public description of each day's forecast. */
function gapsOf(days: readonly DayDoc[]): SelfReport['dataGaps'] {
  const gaps = days.flatMap(({ _id: date, metadata }) => {
    const { inputs } = JSON.parse(metadata.json) as { inputs: InputSource[] };
    return inputs.filter(({ observedDay }) => observedDay === null).map(({ series }) => ({ series: plainText(series, MAX_SERIES), date }));
  });
  return [...Map.groupBy(gaps, ({ series }) => series)].map(([series, members]) => {
    const dates = members.map(({ date }) => date);
    return { series, days: dates.length, dates };
  });
}

function gasOf(costs: readonly GasCosts[]): SelfReport['gas'] {
  const named = ['attest', 'resolve', 'feedback'];
  const of = (isMeant: (purpose: string) => boolean) => {
    const meant = costs.filter(({ purpose }) => isMeant(purpose));
    return {
      transactions: meant.reduce((sum, { transactions }) => sum + transactions, 0),
      gasUsed: meant.reduce((sum, { gasUsed }) => sum + gasUsed, 0),
      costWei: meant.reduce((sum, { costWei }) => sum + costWei, 0n).toString(),
    };
  };
  return {
    attestations: of((purpose) => purpose === 'attest'),
    resolutions: of((purpose) => purpose === 'resolve'),
    feedback: of((purpose) => purpose === 'feedback'),
    others: of((purpose) => !named.includes(purpose)),
  };
}

/** How often each comes, in the order of their first. */
function countsOf(values: readonly string[]): [string, number][] {
  return [...Map.groupBy(values, (value) => value)].map(([value, members]) => [value, members.length]);
}
