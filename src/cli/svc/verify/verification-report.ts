import type { AuditedRow } from '../../../audit/checks/audited-row.ts';
import { formatInstant } from '../../../audit/checks/format-instant.ts';
import { formatDay } from '../../../forecast/day.ts';
import { formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines } from '../text/checks.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import { styleValue } from '../text/outcome-style.ts';
import type { TerminalWriter } from '../text/style.ts';
import type { RecordLocation } from './record-location.ts';
import type { ForecastVerification } from './verify-forecast.ts';

/** For programs. */
export function toVerificationJson(
  { row, checks, differences, notes, incomplete, unchecked, verdict, summary: words }: ForecastVerification,
  location: RecordLocation,
) {
  const { chain, attester, takenFromService } = location;
  return {
    ...{ verdict, words },
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint: location.endpoint, takenFromService: takenFromService },
    prediction: row === null ? null : toPredictionJson(row),
    resolution: row === null ? null : toResolutionJson(row),
    ...{ checks, differences, notes, incomplete, unchecked },
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: AuditedRow) {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = data;
  return {
    ...{ predictionId: `${formatDay(day)}:${horizonDays}d`, uid, date: formatDay(day), horizon: `${horizonDays}d`, sequence },
    ...{
      attestedAt: formatInstant(at),
      windowOpensAt: formatInstant(windowOpensAt),
      resolvesAt: formatInstant(resolvesAt),
      commitment,
      status,
      late,
      missed,
    },
  };
}

function toResolutionJson({ revelation }: AuditedRow) {
  if (revelation === null) return null;
  const { uid, at, data } = revelation;
  return { uid, attestedAt: formatInstant(at), ...data };
}

/** For people. */
export function formatVerification(verification: ForecastVerification, location: RecordLocation, writer: TerminalWriter): string[] {
  const { row, checks, differences, notes, incomplete, unchecked, summary: words, verdict } = verification;
  const { chain, attester, endpoint, takenFromService } = location;
  const asNamed = (what: RecordLocation['takenFromService'][number]) =>
    takenFromService.includes(what) ? ', as the service names it' : '';
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
    ...formatSection('Worth knowing:', notes, writer),
    ...formatSection('Could not be checked:', incomplete, writer),
    ...formatSection(
      'WRONG:',
      differences.map(({ check, message }) => `[${check}] ${message}`),
      writer,
    ),
    ...formatSection('Not looked at:', unchecked, writer),
    '',
    ...wrapText(words, writer.width).map((line) =>
      writer.paint(verdict === 'verified' ? 'green' : verdict === 'differs' ? 'red' : 'yellow', line),
    ),
  ];
}

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
          'Said',
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
