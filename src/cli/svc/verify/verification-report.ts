import type { AuditedRow } from '../../../audit/checks/audited-row.ts';
import { formatInstant } from '../../../audit/checks/format-instant.ts';
import { formatDay } from '../../../forecast/day.ts';
import { formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines, formatFacts, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';
import type { RecordLocation } from './record-location.ts';
import type { ForecastVerification } from './verify-forecast.ts';

export function toVerificationJson({ row, verdict, summary, ...findings }: ForecastVerification, location: RecordLocation) {
  const { chain, attester, endpoint, takenFromService } = location;
  const { checks, differences, notes, incomplete, unchecked } = findings;
  return {
    verdict,
    words: summary,
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row === null ? null : toPredictionJson(row),
    resolution: row === null ? null : toResolutionJson(row),
    checks,
    differences,
    notes,
    incomplete,
    unchecked,
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: AuditedRow) {
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

function toResolutionJson({ revelation }: AuditedRow) {
  if (revelation === null) return null;
  const { uid, at, data } = revelation;
  return { uid, attestedAt: formatInstant(at), ...data };
}

export function formatVerification(verification: ForecastVerification, location: RecordLocation, writer: TerminalWriter): string[] {
  const { row, checks, differences, notes, incomplete, unchecked, summary, verdict } = verification;
  const { chain, attester, endpoint, takenFromService } = location;
  const asNamed = (what: RecordLocation['takenFromService'][number]) => (takenFromService.includes(what) ? ', named by the service' : '');
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
    ...formatCheckLines(checks, writer),
    ...formatSection('Notes:', notes, writer),
    ...formatSection('Could not be checked:', incomplete, writer),
    ...formatSection(
      'Failed:',
      differences.map(({ check, message }) => `[${check}] ${message}`),
      writer,
    ),
    ...formatSection('Not checked:', unchecked, writer),
    '',
    ...wrapText(summary, writer.width).map((line) => writer.paint(VERDICT_STYLES[verdict], line)),
  ];
}

const VERDICT_STYLES = { verified: 'green', differs: 'red', incomplete: 'yellow' } as const;

function formatForecast({ prediction, revelation, status }: AuditedRow, writer: TerminalWriter): string[] {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = prediction.data;
  const opened = revelation?.data;
  return [
    writer.paint('bold', `Forecast ${formatDay(day)}:${horizonDays}d, number ${sequence}`),
    ...formatFacts(
      [
        ['Prediction', prediction.uid],
        ['Committed', `${formatMinute(formatInstant(prediction.at))} UTC, ${commitment}`],
        ['Window', `${formatMinute(formatInstant(windowOpensAt))} to ${formatMinute(formatInstant(resolvesAt))} UTC`],
        ['Resolution', revelation?.uid ?? null],
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

function formatCloses({ btcAtSignalCents, btcAtResolutionCents, returnBps }: NonNullable<AuditedRow['revelation']>['data']): string {
  return `${formatUsdAmount(btcAtSignalCents / 100)} to ${formatUsdAmount(btcAtResolutionCents / 100)} USD, ${formatReturn(returnBps)}`;
}

function formatSection(title: string, lines: readonly string[], writer: TerminalWriter): string[] {
  if (lines.length === 0) return [];
  return ['', title, ...lines.flatMap((line) => wrapText(line, writer.width - 2).map((part) => `  ${part}`))];
}
