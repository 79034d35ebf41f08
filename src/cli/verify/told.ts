import { iso } from '../../audit/iso.ts';
import type { AuditedRow } from '../../audit/rows.ts';
import { formatDay } from '../../forecast/day.ts';
import { minute, money, percent, returnOf } from '../text/amounts.ts';
import { checkLines } from '../text/checks.ts';
import { facts, wrapped } from '../text/facts.ts';
import type { Pen } from '../text/style.ts';
import { wordOf } from '../text/words-of.ts';
import type { Place } from './chain-place.ts';
import type { Verification } from './verify-forecast.ts';

/** For programs. */
export function verificationJson({ row, checks, differences, notes, incomplete, unchecked, verdict, words }: Verification, place: Place) {
  const { chain, attester, told } = place;
  return {
    ...{ verdict, words },
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint: place.endpoint, takenFromService: told },
    prediction: row === null ? null : predictionJson(row),
    resolution: row === null ? null : resolutionJson(row),
    ...{ checks, differences, notes, incomplete, unchecked },
  };
}

function predictionJson({ prediction: { uid, at, data }, status, late, missed }: AuditedRow) {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = data;
  return {
    ...{ predictionId: `${formatDay(day)}:${horizonDays}d`, uid, date: formatDay(day), horizon: `${horizonDays}d`, sequence },
    ...{ attestedAt: iso(at), windowOpensAt: iso(windowOpensAt), resolvesAt: iso(resolvesAt), commitment, status, late, missed },
  };
}

function resolutionJson({ revelation }: AuditedRow) {
  if (revelation === null) return null;
  const { uid, at, data } = revelation;
  return { uid, attestedAt: iso(at), ...data };
}

/** For people. */
export function verificationText(verification: Verification, place: Place, pen: Pen): string[] {
  const { row, checks, differences, notes, incomplete, unchecked, words, verdict } = verification;
  const { chain, attester, endpoint, told } = place;
  const asNamed = (what: Place['told'][number]) => (told.includes(what) ? ', as the service names it' : '');
  return [
    ...(row === null ? [] : [...whatText(row, pen), '']),
    ...facts(
      [
        ['Chain', `${chain.chainId}, read by ${endpoint}${asNamed('endpoint')}`],
        ['EAS', `${chain.addresses.eas}${asNamed('eas')}`],
        ['Attester', `${attester}${asNamed('attester')}`],
      ],
      pen,
    ),
    '',
    ...checkLines(checks, pen),
    ...section('Worth knowing:', notes, pen),
    ...section('Could not be checked:', incomplete, pen),
    ...section(
      'WRONG:',
      differences.map(({ check, message }) => `[${check}] ${message}`),
      pen,
    ),
    ...section('Not looked at:', unchecked, pen),
    '',
    ...wrapped(words, pen.width).map((line) =>
      pen.paint(verdict === 'verified' ? 'green' : verdict === 'differs' ? 'red' : 'yellow', line),
    ),
  ];
}

function whatText({ prediction, revelation, status }: AuditedRow, pen: Pen): string[] {
  const { day, horizonDays, sequence, windowOpensAt, resolvesAt, commitment } = prediction.data;
  const opened = revelation?.data;
  return [
    pen.paint('bold', `Forecast ${formatDay(day)}:${horizonDays}d, number ${sequence}`),
    ...facts(
      [
        ['Prediction', prediction.uid],
        ['Committed', `${minute(iso(prediction.at))} UTC, ${commitment}`],
        ['Window', `${minute(iso(windowOpensAt))} to ${minute(iso(resolvesAt))} UTC`],
        ['Resolution', revelation?.uid ?? null],
        ['Said', opened === undefined ? null : `${opened.signal} ${opened.direction}, P(up) ${percent(opened.pUpBps / 10_000, 2)}`],
        ['Closes', opened === undefined ? null : closesOf(opened)],
        ['Result', wordOf(status)],
      ],
      pen,
    ),
  ];
}

function closesOf({ btcAtSignalCents, btcAtResolutionCents, returnBps }: NonNullable<AuditedRow['revelation']>['data']): string {
  return `${money(btcAtSignalCents / 100)} to ${money(btcAtResolutionCents / 100)} USD, ${returnOf(returnBps)}`;
}

function section(title: string, lines: readonly string[], pen: Pen): string[] {
  if (lines.length === 0) return [];
  return ['', title, ...lines.flatMap((line) => wrapped(line, pen.width - 2).map((part) => `  ${part}`))];
}
