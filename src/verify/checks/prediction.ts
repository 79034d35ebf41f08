import { zeroHash } from 'viem';
import { type Day, toInstantMs } from '../../forecast/day.ts';
import type { Prediction, RivalSearch } from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant, formatSubject } from '../findings.ts';

export function toSubject({ uid, data: { horizonDays, day, sequence } }: Prediction): FindingSubject {
  return { attestation: 'prediction', horizonDays, day, sequence, uid };
}

export function toResolutionSubject(prediction: Prediction): FindingSubject {
  return { ...toSubject(prediction), attestation: 'resolution' };
}

/** Zero commitment: nothing was forecast. */
export function isMissedPrediction({ data }: Prediction): boolean {
  return data.commitment === zeroHash;
}

/** Not on chain before its window opened. */
export function isLatePrediction({ at, data }: Prediction): boolean {
  return at >= data.windowOpensAt;
}

/** The days whose closes decide a forecast: the day before its window, and the window's last day. */
export function getCloseDays({ data: { day, horizonDays } }: Prediction): { from: Day; to: Day } {
  return { from: day, to: day + horizonDays };
}

/** The outcome window follows from day and horizon, so that the compared closes cannot be chosen later. */
export function checkWindow(prediction: Prediction, findings: Findings): void {
  const { day, horizonDays, windowOpensAt, resolvesAt } = prediction.data;
  const subject = toSubject(prediction);
  const compare = (field: string, expected: number, actual: Date) =>
    findings.compare('windows', subject, { field, expected: formatInstant(expected), actual: formatInstant(actual) });
  compare('windowOpensAt', toInstantMs(day + 1), windowOpensAt);
  compare('resolvesAt', toInstantMs(day + 1 + horizonDays), resolvesAt);
  if (prediction.at.getTime() >= toInstantMs(day)) return;
  findings.note(`${formatSubject(subject)}: attested at ${formatInstant(prediction.at)}, before its day had begun`);
}

/** @param claimedVoid what the record says of it; undefined: nothing is claimed, and a late prediction is void */
export function checkInTime(prediction: Prediction, claimedVoid: boolean | undefined, findings: Findings): void {
  if (isMissedPrediction(prediction)) return;
  const subject = toSubject(prediction);
  const [actual, opens] = [formatInstant(prediction.at), formatInstant(prediction.data.windowOpensAt)];
  const isLate = isLatePrediction(prediction);
  const because = `its block is of ${actual}, its window opened at ${opens}`;
  if (claimedVoid === undefined && isLate) {
    findings.leave('inTime', subject, `${because}: it is void and never counts`, false);
    return;
  }
  const rule = claimedVoid === true ? `void: not before ${opens}` : `before ${opens}`;
  const expected = isLate === (claimedVoid ?? false) ? actual : rule;
  findings.compare('inTime', subject, { field: 'time', expected, actual, because });
}

/** @param before the prediction of the day before; undefined: there is none that fits */
export function checkLink(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { data, refUid } = prediction;
  const [subject, field, number] = [toSubject(prediction), 'refUid', data.sequence - 1];
  if (number > 0 && before === undefined) {
    const because = `it does not refer to a forecast with sequence ${number} over ${data.horizonDays} days of this attester`;
    findings.fail('link', subject, { field, expected: `sequence ${number}`, actual: refUid === zeroHash ? null : refUid, because });
    return;
  }
  const because = before === undefined ? 'the first forecast has a reference' : 'it does not refer to the previous forecast';
  findings.compare('link', subject, { field, expected: before?.uid ?? zeroHash, actual: refUid, because });
}

/** An attester that commits to both directions and reveals the winning one has forecast nothing. @param rivals for its day and horizon */
export function checkOnePrediction(prediction: Prediction, rivals: readonly Prediction[], findings: Findings): void {
  const uids = [...new Set([prediction, ...rivals].map(({ uid }) => uid))];
  const because = `committed ${uids.length} times for one day and horizon, which leaves open which one counts: ${uids.join(', ')}`;
  findings.compare('onePrediction', toSubject(prediction), { field: 'commitments', expected: 1, actual: uids.length, because });
}

/** Checks a search for other predictions. Late ones count for nothing, unless all are late. */
export function checkRivals(prediction: Prediction, { committed, since, newest, tooMany }: RivalSearch, findings: Findings): void {
  const leave = (because: string) => findings.leave('onePrediction', toSubject(prediction), because, false);
  const { windowOpensAt, day, horizonDays } = prediction.data;
  const isLate = isLatePrediction(prediction);
  const alike = committed.filter(({ data }) => data.day === day && data.horizonDays === horizonDays);
  const inTime = alike.filter(({ at }) => at < windowOpensAt);
  if (tooMany !== undefined) {
    const because = 'the wallet made too many predictions around this day to read each';
    const counts = { field: 'commitments', expected: `at most ${tooMany}`, actual: `more than ${tooMany}` };
    findings.compare('onePrediction', toSubject(prediction), { ...counts, because });
  } else if (inTime.length === 0 && prediction.at >= since && !isLate) leave('the endpoint omits this prediction from its list');
  else {
    checkOnePrediction(prediction, isLate && inTime.length === 0 ? alike : inTime, findings);
    if (newest < windowOpensAt) leave(`another one may come before its window opens: the newest block is from ${formatInstant(newest)}`);
  }
}
