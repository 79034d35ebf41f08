import { formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Prediction } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { checkLink, checkOnePrediction, checkWindow, toSubject } from './prediction.ts';

/**
 * Checks numbers, days, windows and references of each horizon for gaps and changes. `predictions` are in chain order.
 * @returns by horizon, the valid forecasts: the first of each sequence number, ascending
 */
export function checkSequences(predictions: readonly Prediction[], findings: Findings): Prediction[][] {
  const known = predictions.filter((prediction) => checkHorizon(prediction, findings));
  const groups = [...Map.groupBy(known, ({ data }) => data.horizonDays)].sort(([a], [b]) => a - b);
  const sequences = groups.map(([, members]) => {
    for (const rivals of Map.groupBy(members, ({ data }) => data.day).values()) checkOnePrediction(rivals[0], rivals, findings);
    const ordered = keepFirstOfSequence(members, findings);
    for (const [index, prediction] of ordered.entries()) {
      checkWindow(prediction, findings);
      checkFollows(prediction, ordered[index - 1], findings);
    }
    return ordered;
  });
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

/** Checks that a number is of one day. */
function keepFirstOfSequence(members: readonly Prediction[], findings: Findings): Prediction[] {
  const first = [...Map.groupBy(members, ({ data }) => data.sequence)].map(([sequence, [kept, ...more]]) => {
    for (const prediction of more.filter(({ data }) => data.day !== kept.data.day)) {
      const [before, again] = [kept, prediction].map(({ data }) => formatDay(data.day));
      const because = `sequence ${sequence} is there twice: ${before} has it in ${kept.uid}, and ${again} again`;
      findings.fail('sequence', toSubject(prediction), { field: 'sequence', expected: 'once', actual: 'twice', because });
    }
    return kept;
  });
  return first.sort((a, b) => a.data.sequence - b.data.sequence);
}

/** Checks day, number and reference against the forecast before it; undefined: it is the first. */
export function checkFollows(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { sequence, day } = prediction.data;
  const missing = sequence - (before?.data.sequence ?? 0) - 1;
  if (before !== undefined) {
    const expected = formatDay(before.data.day + missing + 1);
    const because = `sequence ${sequence} is not the next day`;
    findings.compare('sequence', toSubject(prediction), { field: 'day', expected, actual: formatDay(day), because });
  }
  // The uid of a missing forecast is unknown.
  if (missing > 0) reportGap(prediction, { missing, isFirst: before === undefined }, findings);
  else checkLink(prediction, before, findings);
}

function reportGap({ data }: Prediction, { missing, isFirst }: { missing: number; isFirst: boolean }, findings: Findings): void {
  const [sequence, day] = [data.sequence - missing, data.day - missing];
  const numbers = missing === 1 ? `${sequence} is` : `${sequence} to ${data.sequence - 1} are`;
  const days = missing === 1 ? formatDay(day) : `${formatDay(day)} to ${formatDay(data.day - 1)}`;
  const hint = isFirst ? ', unless the first block that was read is too late' : '';
  const because = `sequence ${numbers} missing on chain (${days})${hint}`;
  const subject = { ...NO_SUBJECT, horizonDays: data.horizonDays, day, sequence };
  findings.fail('sequence', subject, { field: 'sequence', expected: sequence, actual: null, because });
}

const ENDS = [
  ['first day', 0, Math.min, 'the horizon begins later than others'],
  ['last day', -1, Math.max, 'the horizon ends while others go on: its last forecasts are missing on chain'],
] as const;

/** All horizons of a day are committed in one transaction, so they start and end on the same days. */
function checkEnds(sequences: readonly Prediction[][], findings: Findings): void {
  for (const [field, index, choose, because] of ENDS) {
    const ends = sequences.map((predictions) => predictions.at(index)!.data);
    const expected = choose(...ends.map(({ day }) => day));
    for (const { horizonDays, day } of ends) {
      const subject = { ...NO_SUBJECT, horizonDays, day: expected };
      findings.compare('sequence', subject, { field, expected: formatDay(expected), actual: formatDay(day), because });
    }
  }
}
