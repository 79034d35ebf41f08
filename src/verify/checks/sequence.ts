import { formatDay } from '../../forecast/day.ts';
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
  const groups = [...Map.groupBy(known, ({ data }) => data.horizonDays)].sort(([a], [b]) => a - b);
  const sequences = groups.map(([horizonDays, members]) => {
    for (const rivals of Map.groupBy(members, ({ data }) => data.day).values()) checkOnePrediction(rivals[0], rivals, findings);
    const ordered = keepFirstOfSequence(members, findings);
    for (const [index, prediction] of ordered.entries()) {
      checkWindow(prediction, findings);
      checkFollows(prediction, ordered[index - 1], findings);
    }
    return { horizonDays, predictions: ordered };
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
  const first = new Map<number, Prediction>();
  for (const prediction of members) {
    const { sequence, day } = prediction.data;
    const before = first.get(sequence);
    if (before === undefined) first.set(sequence, prediction);
    else if (before.data.day !== day) {
      const because = `sequence ${sequence} is there twice: ${formatDay(before.data.day)} has it in ${before.uid}, and ${formatDay(day)} again`;
      findings.fail('sequence', toSubject(prediction), { field: 'sequence', expected: 'once', actual: 'twice', because });
    }
  }
  return [...first.values()].sort((a, b) => a.data.sequence - b.data.sequence);
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

/** All horizons of a day are committed in one transaction, so they start and end on the same days. */
function checkEnds(sequences: readonly HorizonSequence[], findings: Findings): void {
  const findEnd = ({ predictions }: HorizonSequence, index: 0 | -1) => predictions.at(index)!.data.day;
  for (const [field, index, choose, because] of ENDS) {
    const expected = choose(...sequences.map((one) => findEnd(one, index)));
    for (const one of sequences) {
      const subject = { ...NO_SUBJECT, horizonDays: one.horizonDays, day: expected };
      findings.compare('sequence', subject, { field, expected: formatDay(expected), actual: formatDay(findEnd(one, index)), because });
    }
  }
}

const ENDS = [
  ['first day', 0, Math.min, 'the horizon begins later than others'],
  ['last day', -1, Math.max, 'the horizon ends while others go on: its last forecasts are missing on chain'],
] as const;
