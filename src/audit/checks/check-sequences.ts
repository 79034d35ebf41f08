import { zeroHash } from 'viem';
import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Prediction } from '../chain/chain-record.ts';
import { type FindingSubject, type Findings, formatSubject } from './findings.ts';
import { formatInstant } from './format-instant.ts';

/** The forecasts of one horizon that stand: the first of each number, by number. */
export interface HorizonSequence {
  horizonDays: number;
  predictions: Prediction[];
}

/** What a prediction is called when something about it is told. */
export function toSubject({ uid, data: { horizonDays, day, sequence } }: Prediction): FindingSubject {
  return { horizonDays, day, sequence, uid };
}

/**
 * Checks that nothing was dropped, added or moved: numbers, days, windows and the chain of references of each horizon. Predictions are
 * given in the order of the chain.
 */
export function checkSequences(predictions: readonly Prediction[], findings: Findings): HorizonSequence[] {
  const groups = Map.groupBy(predictions, ({ data }) => data.horizonDays);
  for (const [horizonDays, members] of groups) if (!isKnownHorizon(horizonDays)) reportUnknownHorizon(members, findings);
  const known = [...groups].filter(([horizonDays]) => isKnownHorizon(horizonDays)).sort(([a], [b]) => a - b);
  const sequences = known.map(([horizonDays, members]) => ({ horizonDays, predictions: keepFirstOfSequence(members, findings) }));
  for (const { horizonDays, predictions: predictionsInForce } of sequences) {
    reportGaps(horizonDays, predictionsInForce, findings);
    predictionsInForce.forEach((prediction, index) => void checkSequencePlace(prediction, predictionsInForce[index - 1], findings));
  }
  checkSequenceEnds(sequences, findings);
  return sequences;
}

function isKnownHorizon(horizonDays: number): boolean {
  return (HORIZONS as readonly number[]).includes(horizonDays);
}

function reportUnknownHorizon(members: readonly Prediction[], findings: Findings): void {
  for (const prediction of members) {
    const { horizonDays } = prediction.data;
    const because = `a forecast over ${horizonDays} days is of no horizon of this record`;
    findings.addDifference('sequence', toSubject(prediction), {
      field: 'horizonDays',
      expected: HORIZONS.join(', '),
      found: horizonDays,
      because,
    });
  }
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

function reportGaps(horizonDays: number, predictionsInForce: readonly Prediction[], findings: Findings): void {
  predictionsInForce.forEach(({ data: { sequence, day } }, index) => {
    const before = predictionsInForce[index - 1]?.data;
    const missing = sequence - (before?.sequence ?? 0) - 1;
    if (missing <= 0) return;
    const from = sequence - missing;
    const days = missing === 1 ? formatDay(day - 1) : `${formatDay(day - missing)} to ${formatDay(day - 1)}`;
    const numbers = missing === 1 ? `${from} is` : `${from} to ${sequence - 1} are`;
    const hint = before === undefined ? ', unless the block that was read from is too late' : '';
    findings.addDifference(
      'sequence',
      { horizonDays, day: day - missing, sequence: from, uid: null },
      { field: 'sequence', expected: from, found: null, because: `sequence ${numbers} missing on chain (${days})${hint}` },
    );
  });
}

/** What a forecast says of itself against its number, and against the one before it. */
export function checkSequencePlace(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { sequence, day, horizonDays, windowOpensAt, resolvesAt } = prediction.data;
  const subject = toSubject(prediction);
  const opens = toInstantMs(day + 1);
  findings.compare('windows', subject, { field: 'windowOpensAt', expected: formatInstant(opens), found: formatInstant(windowOpensAt) });
  findings.compare('windows', subject, {
    field: 'resolvesAt',
    expected: formatInstant(toInstantMs(day + 1 + horizonDays)),
    found: formatInstant(resolvesAt),
  });
  const early = prediction.at.getTime() < toInstantMs(day);
  if (early) findings.addNote(`${formatSubject(subject)}: attested at ${formatInstant(prediction.at)}, before its day had begun`);
  if (before !== undefined) {
    const expected = formatDay(before.data.day + sequence - before.data.sequence);
    const because = `sequence ${sequence} is not of the day that follows`;
    findings.compare('sequence', subject, { field: 'day', expected, found: formatDay(day), because });
  }
  // Of a forecast that is missing nobody knows the uid: the gap has been named.
  if (sequence > 1 && before?.data.sequence !== sequence - 1) return;
  const because = before === undefined ? 'the first forecast refers to another one' : 'it does not refer to the forecast of the day before';
  findings.compare('link', subject, { field: 'refUID', expected: before?.uid ?? zeroHash, found: prediction.refUid, because });
}

/** All horizons of a day are committed in one transaction: each begins and ends with the others. */
function checkSequenceEnds(sequences: readonly HorizonSequence[], findings: Findings): void {
  const ends = sequences.map(({ horizonDays, predictions: predictionsInForce }) => ({
    horizonDays,
    first: predictionsInForce[0].data.day,
    last: predictionsInForce.at(-1)!.data.day,
  }));
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
