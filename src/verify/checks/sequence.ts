import { type Day, formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Prediction } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { checkLink, checkOnePrediction, checkWindow, toSubject } from './prediction.ts';

/** The valid forecasts of one horizon: the first of each sequence number, ascending. */
interface HorizonSequence {
  horizonDays: number;
  predictions: Prediction[];
}

/** Checks numbers, days, windows and references of each horizon for gaps and changes. `predictions` are in chain order. */
export function checkSequences(predictions: readonly Prediction[], findings: Findings): HorizonSequence[] {
  const known = predictions.filter((prediction) => checkHorizon(prediction, findings));
  checkDuplicates(known, findings);
  const groups = [...Map.groupBy(known, ({ data }) => data.horizonDays)].sort(([a], [b]) => a - b);
  const sequences = groups.map(([horizonDays, members]) => ({ horizonDays, predictions: keepFirstOfSequence(members) }));
  for (const { predictions: ordered } of sequences) {
    ordered.forEach((prediction, index) => void checkPlace(prediction, ordered[index - 1], findings));
  }
  if (sequences.length > 0) checkEnds(sequences, findings);
  return sequences;
}

/** @returns whether its horizon is one of the record */
export function checkHorizon(prediction: Prediction, findings: Findings): boolean {
  const actual = prediction.data.horizonDays;
  if ((HORIZONS as readonly number[]).includes(actual)) return true;
  const because = `a forecast over ${actual} days has no horizon of this record`;
  findings.fail('sequence', toSubject(prediction), { field: 'horizonDays', expected: HORIZONS.join(', '), actual, because });
  return false;
}

function checkDuplicates(predictions: readonly Prediction[], findings: Findings): void {
  for (const members of Map.groupBy(predictions, ({ data }) => `${data.horizonDays}:${data.day}`).values())
    checkOnePrediction(members[0], members, findings);
  const first = new Map<string, Prediction>();
  for (const prediction of predictions) {
    const { sequence, day, horizonDays } = prediction.data;
    const before = first.get(`${horizonDays}:${sequence}`);
    if (before === undefined) first.set(`${horizonDays}:${sequence}`, prediction);
    else if (before.data.day !== day) {
      const because = `sequence ${sequence} is there twice: ${formatDay(before.data.day)} has it in ${before.uid}, and ${formatDay(day)} again`;
      findings.fail('sequence', toSubject(prediction), { field: 'sequence', expected: 'once', actual: 'twice', because });
    }
  }
}

function keepFirstOfSequence(members: readonly Prediction[]): Prediction[] {
  const byNumber = new Map<number, Prediction>();
  for (const prediction of members) if (!byNumber.has(prediction.data.sequence)) byNumber.set(prediction.data.sequence, prediction);
  return [...byNumber.values()].sort((a, b) => a.data.sequence - b.data.sequence);
}

function checkPlace(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { sequence } = prediction.data;
  const missing = sequence - (before?.data.sequence ?? 0) - 1;
  checkWindow(prediction, findings);
  if (missing > 0) reportGap(prediction, { missing, isFirst: before === undefined }, findings);
  if (before !== undefined && missing > 0) checkNextDay(prediction, before, findings);
  // The uid of a missing forecast is unknown.
  if (missing === 0) checkFollows(prediction, before, findings);
}

/** Checks day and reference against the forecast before it; undefined: it is the first. */
export function checkFollows(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  if (before !== undefined) checkNextDay(prediction, before, findings);
  checkLink(prediction, before, findings);
}

function checkNextDay(prediction: Prediction, before: Prediction, findings: Findings): void {
  const { sequence, day } = prediction.data;
  const expected = formatDay(before.data.day + sequence - before.data.sequence);
  const because = `sequence ${sequence} is not the next day`;
  findings.compare('sequence', toSubject(prediction), { field: 'day', expected, actual: formatDay(day), because });
}

function reportGap(
  { data: { sequence, day, horizonDays } }: Prediction,
  { missing, isFirst }: { missing: number; isFirst: boolean },
  findings: Findings,
): void {
  const first = sequence - missing;
  const days = missing === 1 ? formatDay(day - 1) : `${formatDay(day - missing)} to ${formatDay(day - 1)}`;
  const numbers = missing === 1 ? `${first} is` : `${first} to ${sequence - 1} are`;
  const hint = isFirst ? ', unless the first block that was read is too late' : '';
  const because = `sequence ${numbers} missing on chain (${days})${hint}`;
  const subject = { ...NO_SUBJECT, horizonDays, day: day - missing, sequence: first };
  findings.fail('sequence', subject, { field: 'sequence', expected: first, actual: null, because });
}

/** All horizons of a day are committed in one transaction, so they start and end on the same days. */
function checkEnds(sequences: readonly HorizonSequence[], findings: Findings): void {
  const ends = sequences.map(({ horizonDays, predictions }) => {
    return { horizonDays, first: predictions[0].data.day, last: predictions.at(-1)!.data.day };
  });
  const first = Math.min(...ends.map((end) => end.first));
  const last = Math.max(...ends.map((end) => end.last));
  for (const { horizonDays, ...end } of ends) {
    const at = (day: Day) => ({ ...NO_SUBJECT, horizonDays, day });
    const begins = { field: 'first day', expected: formatDay(first), actual: formatDay(end.first) };
    findings.compare('sequence', at(first), { ...begins, because: 'the horizon begins later than others' });
    const because = 'the horizon ends while others go on: its last forecasts are missing on chain';
    findings.compare('sequence', at(last), { field: 'last day', expected: formatDay(last), actual: formatDay(end.last), because });
  }
}
