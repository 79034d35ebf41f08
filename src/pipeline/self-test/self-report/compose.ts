import type { GasCosts } from '../../../chain/gas-costs.ts';
import { REGIME_NAMES } from '../../../forecast/regime/regime.ts';
import type { DayDoc, InputSource } from '../../../record/day-doc.ts';
import { sanitizeText } from '../../../record/sanitize-text.ts';
import type { SelfReport } from '../../../record/self-test/schemas/self-report.ts';
import type { SelfReportData } from './gather-data.ts';
import { buildStepTable, listBrokenPromises, listEndedForecasts, listPromises, type PromiseOutcome } from './promises.ts';

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
