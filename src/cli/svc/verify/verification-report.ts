import { listDifferences, listGaps } from '../../../audit/report/differences.ts';
import { formatDay } from '../../../forecast/day.ts';
import type { CheckedRow } from '../../../verify/checks/forecast.ts';
import type { Finding, Findings } from '../../../verify/findings.ts';
import { formatInstant } from '../../../verify/format-instant.ts';
import { formatForecastVerdict, getVerdict, tallyChecks } from '../../../verify/summary.ts';
import { formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines, formatFacts, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';
import type { RecordLocation } from './record-location.ts';
import type { ForecastVerification } from './verify-forecast.ts';

/** Words of a verdict, with the colour of its line. */
export const VERDICTS = {
  pass: { name: 'verified', style: 'green' },
  fail: { name: 'differs', style: 'red' },
  unknown: { name: 'incomplete', style: 'yellow' },
} as const satisfies Record<Finding['outcome'], object>;

function formatSummary({ row, findings: { list } }: ForecastVerification): string {
  const missing = row === null ? list.find(({ outcome }) => outcome === 'fail') : undefined;
  const sentence = missing?.because ?? formatForecastVerdict(list, row);
  const verdict = getVerdict(list);
  const soFar = verdict === 'pass' && row?.status === 'PENDING' ? ' so far' : '';
  return `${VERDICTS[verdict].name.toUpperCase()}${soFar}: ${sentence}.`;
}

/** One line a check, in the order of the catalogue. A late forecast is no failure, but its check does not hold. */
function listChecks({ list }: Findings) {
  const made = tallyChecks(list).filter(({ check, passed, failed, unknown }) => passed + failed > 0 || (check === 'inTime' && unknown > 0));
  return made.map(({ check, rule, failed, passed }) => ({ check, what: rule, ok: failed === 0 && passed > 0 }));
}

function listUnchecked({ list }: Findings): string[] {
  return [...new Set(list.filter(({ outcome, isDue }) => outcome === 'unknown' && !isDue).map(({ because }) => because))];
}

export function toVerificationJson(verification: ForecastVerification, location: RecordLocation) {
  const { chain, attester, endpoint, takenFromService } = location;
  const { row, findings } = verification;
  return {
    verdict: VERDICTS[getVerdict(findings.list)].name,
    words: formatSummary(verification),
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row === null ? null : toPredictionJson(row),
    resolution: row === null ? null : toResolutionJson(row),
    checks: listChecks(findings),
    differences: listDifferences(findings.list),
    notes: findings.notes,
    incomplete: listGaps(findings.list, []),
    unchecked: listUnchecked(findings),
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: CheckedRow) {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = data;
  return {
    predictionId: `${formatDay(day)}:${horizonDays}d`,
    uid,
    date: formatDay(day),
    horizon: `${horizonDays}d`,
    sequence,
    attestedAt: formatInstant(at),
    windowOpensAt: formatInstant(windowOpensAt),
    resolvesAt: formatInstant(resolvesAt),
    commitment,
    status,
    late,
    missed,
  };
}

function toResolutionJson({ resolution }: CheckedRow) {
  if (resolution === null) return null;
  const { uid, at, data } = resolution;
  return { uid, attestedAt: formatInstant(at), ...data };
}

export function formatVerification(verification: ForecastVerification, location: RecordLocation, writer: TerminalWriter): string[] {
  const { row, findings } = verification;
  const { chain, attester, endpoint, takenFromService } = location;
  const asNamed = (what: RecordLocation['takenFromService'][number]) => (takenFromService.includes(what) ? ', named by the service' : '');
  const failed = listDifferences(findings.list).map(({ check, message }) => `[${check}] ${message}`);
  const { style } = VERDICTS[getVerdict(findings.list)];
  return [
    ...(row === null ? [] : [...formatForecast(row, writer), '']),
    ...formatFacts(
      [
        ['Chain', `${chain.chainId}, read by ${endpoint}${asNamed('endpoint')}`],
        ['EAS', `${chain.addresses.eas}${asNamed('eas')}`],
        ['Attester', `${attester}${asNamed('attester')}`],
      ],
      writer,
    ),
    '',
    ...formatCheckLines(listChecks(findings), writer),
    ...formatSection('Notes:', findings.notes, writer),
    ...formatSection('Could not be checked:', listGaps(findings.list, []), writer),
    ...formatSection('Failed:', failed, writer),
    ...formatSection('Not checked:', listUnchecked(findings), writer),
    '',
    ...wrapText(formatSummary(verification), writer.width).map((line) => writer.paint(style, line)),
  ];
}

function formatForecast({ prediction, resolution, status }: CheckedRow, writer: TerminalWriter): string[] {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = prediction.data;
  const opened = resolution?.data;
  return [
    writer.paint('bold', `Forecast ${formatDay(day)}:${horizonDays}d, number ${sequence}`),
    ...formatFacts(
      [
        ['Prediction', prediction.uid],
        ['Committed', `${formatMinute(formatInstant(prediction.at))} UTC, ${commitment}`],
        ['Window', `${formatMinute(formatInstant(windowOpensAt))} to ${formatMinute(formatInstant(resolvesAt))} UTC`],
        ['Resolution', resolution?.uid ?? null],
        [
          'Call',
          opened === undefined ? null : `${opened.signal} ${opened.direction}, P(up) ${formatPercentOrDash(opened.pUpBps / 10_000, 2)}`,
        ],
        ['Closes', opened === undefined ? null : formatCloses(opened)],
        ['Result', styleValue(status)],
      ],
      writer,
    ),
  ];
}

function formatCloses({ btcAtSignalCents, btcAtResolutionCents, returnBps }: NonNullable<CheckedRow['resolution']>['data']): string {
  return `${formatUsdAmount(btcAtSignalCents / 100)} to ${formatUsdAmount(btcAtResolutionCents / 100)} USD, ${formatReturn(returnBps)}`;
}

function formatSection(title: string, lines: readonly string[], writer: TerminalWriter): string[] {
  if (lines.length === 0) return [];
  return ['', title, ...lines.flatMap((line) => wrapText(line, writer.width - 2).map((part) => `  ${part}`))];
}
