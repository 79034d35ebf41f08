import type { ForecastReport } from '../../../audit/forecast/forecast-report.ts';
import type { AuditReport } from '../../../audit/report/audit-report.ts';
import type { RecordLocation } from '../record-location.ts';
import { formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines, formatFacts, formatSections, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';

export function formatVerification(report: ForecastReport, writer: TerminalWriter): string[] {
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

function formatForecast({ prediction, resolution }: ForecastReport, writer: TerminalWriter): string[] {
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

function listRevealed(resolution: NonNullable<ForecastReport['resolution']>) {
  const { uid, signal, direction, pUpBps, btcAtSignalCents, btcAtResolutionCents, returnBps } = resolution;
  const closes = `${formatUsdAmount(btcAtSignalCents / 100)} to ${formatUsdAmount(btcAtResolutionCents / 100)} USD`;
  return [
    ['Resolution', uid],
    ['Call', `${signal} ${direction}, P(up) ${formatPercentOrDash(pUpBps / 10_000, 2)}`],
    ['Closes', `${closes}, ${formatReturn(returnBps)}`],
  ] as const;
}
