import { type AuditReport, listDifferences, listGaps } from '../../../audit/report/audit-report.ts';
import { formatDay } from '../../../forecast/day.ts';
import type { CheckedRow } from '../../../verify/checks/forecast.ts';
import { formatInstant } from '../../../verify/findings.ts';
import { formatForecastVerdict, getVerdict, tallyChecks } from '../../../verify/summary.ts';
import type { RecordLocation } from '../record-location.ts';
import { formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines, formatFacts, formatSections, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';
import type { ForecastVerification } from './verify-forecast.ts';

const VERDICTS = { pass: 'verified', fail: 'differs', unknown: 'incomplete' } as const;

export type VerificationReport = ReturnType<typeof buildVerificationReport>;

/** What `--json` prints, and the text is rendered from. */
export function buildVerificationReport({ row, findings: { list, notes } }: ForecastVerification, location: RecordLocation) {
  const { chain, attester, endpoint, takenFromService } = location;
  const verdict = VERDICTS[getVerdict(list)];
  const resolution = row?.resolution ?? null;
  const soFar = verdict === 'verified' && row?.status === 'PENDING' ? ' so far' : '';
  const missing = row === null ? list.find(({ outcome }) => outcome === 'fail')?.because : undefined;
  const notDue = list.filter(({ outcome, isDue }) => outcome === 'unknown' && !isDue);
  // A late forecast is no failure, but its check does not hold.
  const made = tallyChecks(list).filter(({ check, passed, failed, unknown }) => passed + failed > 0 || (check === 'inTime' && unknown > 0));
  return {
    verdict,
    words: `${verdict.toUpperCase()}${soFar}: ${missing ?? formatForecastVerdict(list, row)}.`,
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row && toPredictionJson(row),
    resolution: resolution && { uid: resolution.uid, attestedAt: formatInstant(resolution.at), ...resolution.data },
    checks: made.map(({ check, what, failed, passed }) => ({ check, what, ok: failed === 0 && passed > 0 })),
    differences: listDifferences(list),
    notes,
    incomplete: listGaps(list, []),
    unchecked: [...new Set(notDue.map(({ because }) => because))],
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: CheckedRow) {
  const [date, horizon] = [formatDay(data.day), `${data.horizonDays}d`];
  return {
    ...{ predictionId: `${date}:${horizon}`, uid, date, horizon, sequence: data.sequence, attestedAt: formatInstant(at) },
    ...{ windowOpensAt: formatInstant(data.windowOpensAt), resolvesAt: formatInstant(data.resolvesAt) },
    ...{ commitment: data.commitment, status, late, missed },
  };
}

export function formatVerification(report: VerificationReport, writer: TerminalWriter): string[] {
  const { where, checks } = report;
  const name = (part: RecordLocation['takenFromService'][number]) =>
    where.takenFromService.includes(part) ? ', named by the service' : '';
  const facts = [
    ['Chain', `${where.chainId}, read by ${where.endpoint}${name('endpoint')}`],
    ['EAS', `${where.eas}${name('eas')}`],
    ['Attester', `${where.attester}${name('attester')}`],
  ] as const;
  const subject = [...formatForecast(report, writer), ...formatFacts(facts, writer)];
  return [...subject, '', ...formatCheckLines(checks, writer), ...formatConclusion(report, writer)];
}

const STYLES = { agrees: 'green', verified: 'green', differs: 'red', incomplete: 'yellow' } as const;

interface Conclusion extends Pick<AuditReport, 'differences'>, Record<'notes' | 'incomplete', readonly string[]> {
  verdict: keyof typeof STYLES;
  words: string;
  unchecked?: readonly string[];
}

/** Differences and gaps, then the verdict. */
export function formatConclusion(conclusion: Conclusion, writer: TerminalWriter): string[] {
  const { verdict, words, differences, incomplete, notes, unchecked = [] } = conclusion;
  const failed = differences.map(({ check, message }) => `[${check}] ${message}`);
  return [
    ...formatSections({ Notes: notes, 'Could not be checked': incomplete, Failed: failed, 'Not checked': unchecked }, writer),
    ...['', ...wrapText(words, writer.width).map((line) => writer.paint(STYLES[verdict], line))],
  ];
}

function formatForecast({ prediction, resolution }: VerificationReport, writer: TerminalWriter): string[] {
  if (prediction === null) return [];
  const { uid, attestedAt, commitment, windowOpensAt, resolvesAt } = prediction;
  const title = writer.paint('bold', `Forecast ${prediction.predictionId}, number ${prediction.sequence}`);
  const facts = [
    ['Prediction', uid],
    ['Committed', `${formatMinute(attestedAt)} UTC, ${commitment}`],
    ['Window', `${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`],
    ...(resolution === null ? [] : listRevealed(resolution)),
    ['Result', styleValue(prediction.status)],
  ] as const;
  return [title, ...formatFacts(facts, writer), ''];
}

function listRevealed(resolution: NonNullable<VerificationReport['resolution']>) {
  const { uid, signal, direction, pUpBps, btcAtSignalCents, btcAtResolutionCents, returnBps } = resolution;
  const closes = `${formatUsdAmount(btcAtSignalCents / 100)} to ${formatUsdAmount(btcAtResolutionCents / 100)} USD`;
  return [
    ['Resolution', uid],
    ['Call', `${signal} ${direction}, P(up) ${formatPercentOrDash(pUpBps / 10_000, 2)}`],
    ['Closes', `${closes}, ${formatReturn(returnBps)}`],
  ] as const;
}
