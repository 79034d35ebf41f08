import { zeroHash } from 'viem';
import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Prediction } from '../chain/chain-record.ts';
import { type FindingSubject, type Findings, formatSubject } from './findings.ts';
import { formatInstant } from './format-instant.ts';

/** The valid forecasts of one horizon: the first of each sequence number, ascending. */
interface HorizonSequence {
  horizonDays: number;
  predictions: Prediction[];
}

export function toSubject({ uid, data: { horizonDays, day, sequence } }: Prediction): FindingSubject {
  return { horizonDays, day, sequence, uid };
}

/** Checks sequence numbers, days, windows and references of each horizon for gaps and changes. `predictions` are in chain order. */
export function checkSequences(predictions: readonly Prediction[], findings: Findings): HorizonSequence[] {
  const isKnown = (horizonDays: number) => (HORIZONS as readonly number[]).includes(horizonDays);
  for (const prediction of predictions) if (!isKnown(prediction.data.horizonDays)) reportUnknownHorizon(prediction, findings);
  const groups = Map.groupBy(predictions, ({ data }) => data.horizonDays);
  const known = [...groups].filter(([horizonDays]) => isKnown(horizonDays)).sort(([a], [b]) => a - b);
  const sequences = known.map(([horizonDays, members]) => ({ horizonDays, predictions: keepFirstOfSequence(members, findings) }));
  for (const { horizonDays, predictions: ordered } of sequences) {
    reportGaps(horizonDays, ordered, findings);
    ordered.forEach((prediction, index) => void checkSequencePlace(prediction, ordered[index - 1], findings));
  }
  checkSequenceEnds(sequences, findings);
  return sequences;
}

function reportUnknownHorizon(prediction: Prediction, findings: Findings): void {
  const found = prediction.data.horizonDays;
  const because = `a forecast over ${found} days has no horizon of this record`;
  findings.addDifference('sequence', toSubject(prediction), { field: 'horizonDays', expected: HORIZONS.join(', '), found, because });
}

function keepFirstOfSequence(members: readonly Prediction[], findings: Findings): Prediction[] {
  const byNumber = new Map<number, Prediction>();
  for (const prediction of members) {
    const { sequence, day } = prediction.data;
    const first = byNumber.get(sequence);
    if (first === undefined) {
      byNumber.set(sequence, prediction);
      continue;
    }
    const because = `sequence ${sequence} is there twice: ${formatDay(first.data.day)} has it in ${first.uid}, and ${formatDay(day)} again`;
    findings.addDifference('sequence', toSubject(prediction), { field: 'sequence', expected: 'once', found: 'twice', because });
  }
  return [...byNumber.values()].sort((a, b) => a.data.sequence - b.data.sequence);
}

function reportGaps(horizonDays: number, ordered: readonly Prediction[], findings: Findings): void {
  ordered.forEach(({ data: { sequence, day } }, index) => {
    const before = ordered[index - 1]?.data;
    const missing = sequence - (before?.sequence ?? 0) - 1;
    if (missing <= 0) return;
    const from = sequence - missing;
    const days = missing === 1 ? formatDay(day - 1) : `${formatDay(day - missing)} to ${formatDay(day - 1)}`;
    const numbers = missing === 1 ? `${from} is` : `${from} to ${sequence - 1} are`;
    const hint = before === undefined ? ', unless the block that was read from is too late' : '';
    const because = `sequence ${numbers} missing on chain (${days})${hint}`;
    const subject = { horizonDays, day: day - missing, sequence: from, uid: null };
    findings.addDifference('sequence', subject, { field: 'sequence', expected: from, found: null, because });
  });
}

/** Checks the window of a forecast, and its day and reference against the previous forecast. */
export function checkSequencePlace(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { sequence, day, horizonDays, windowOpensAt, resolvesAt } = prediction.data;
  const subject = toSubject(prediction);
  const compareTime = (field: string, expected: number, found: Date) =>
    findings.compare('windows', subject, { field, expected: formatInstant(expected), found: formatInstant(found) });
  compareTime('windowOpensAt', toInstantMs(day + 1), windowOpensAt);
  compareTime('resolvesAt', toInstantMs(day + 1 + horizonDays), resolvesAt);
  const early = prediction.at.getTime() < toInstantMs(day);
  if (early) findings.addNote(`${formatSubject(subject)}: attested at ${formatInstant(prediction.at)}, before its day had begun`);
  if (before !== undefined) {
    const expected = formatDay(before.data.day + sequence - before.data.sequence);
    const because = `sequence ${sequence} is not the next day`;
    findings.compare('sequence', subject, { field: 'day', expected, found: formatDay(day), because });
  }
  // The uid of a missing forecast is unknown; `reportGaps` has reported it.
  if (sequence > 1 && before?.data.sequence !== sequence - 1) return;
  const because = before === undefined ? 'the first forecast has a reference' : 'it does not refer to the previous forecast';
  findings.compare('link', subject, { field: 'refUID', expected: before?.uid ?? zeroHash, found: prediction.refUid, because });
}

/** All horizons of a day are committed in one transaction, so they start and end on the same days. */
function checkSequenceEnds(sequences: readonly HorizonSequence[], findings: Findings): void {
  const ends = sequences.map(({ horizonDays, predictions }) => {
    return { horizonDays, first: predictions[0].data.day, last: predictions.at(-1)!.data.day };
  });
  const first = Math.min(...ends.map((end) => end.first));
  const last = Math.max(...ends.map((end) => end.last));
  for (const { horizonDays, ...end } of ends) {
    const at = (day: Day) => ({ horizonDays, day, sequence: null, uid: null });
    const begins = { field: 'first day', expected: formatDay(first), found: formatDay(end.first) };
    findings.compare('sequence', at(first), { ...begins, because: 'the horizon begins later than others' });
    const because = 'the horizon ends while others go on: its last forecasts are missing on chain';
    findings.compare('sequence', at(last), { field: 'last day', expected: formatDay(last), found: formatDay(end.last), because });
  }
}
