import type { AuditedHorizon, AuditReport } from './audit-report.ts';

/** The report as `--json` prints it. */
export function formatReportJson(report: AuditReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Formats a report for a terminal. */
export function reportText(report: AuditReport): string {
  const { notes, incomplete, differences, checks, challenges } = report;
  const made = checks.filter(({ passed, failed }) => passed + failed > 0);
  const sections = [
    formatHeading(report),
    [formatHorizonTable(report.horizons)],
    challenges.length > 0 && ['Evidence:', ...challenges.map(formatChallenge)],
    ['Checks:', ...made.map(formatCheck)],
    notes.length > 0 && ['Notes:', ...shortenNotes(notes)],
    incomplete.length > 0 && ['Could not be checked:', ...incomplete],
    differences.length > 0 && ['WRONG:', ...differences.map(({ check, message }) => `[${check}] ${message}`)],
    [`${report.verdict.toUpperCase()}: ${report.summary}.`],
  ];
  return `${sections.flatMap((lines) => (lines === false ? [] : lines.join('\n  '))).join('\n\n')}\n`;
}

function formatHeading({ chainId, attester, eas, fromBlock, throughBlock, prices, service }: AuditReport): string[] {
  const tolerance = prices?.toleranceBps === 0 ? 'to the cent' : `within ${prices?.toleranceBps} basis points`;
  return [
    `Audit of ${attester} on chain ${chainId}`,
    `attestations  EAS ${eas}, blocks ${fromBlock} to ${throughBlock}`,
    `prices        ${prices === null ? 'none: closes are not compared' : `${prices.source}, ${tolerance}`}`,
    `claims        ${service ?? 'none: chain and prices alone'}`,
  ];
}

/** Columns of the table of horizons. The first three are aligned to the left. */
const COLUMNS: Record<string, (one: AuditedHorizon) => string | number> = {
  horizon: ({ horizonDays }) => `${horizonDays}d`,
  from: ({ firstDate }) => firstDate,
  to: ({ lastDate }) => lastDate,
  forecasts: ({ forecasts }) => forecasts,
  'in time': ({ inTime }) => inTime,
  void: ({ voids }) => voids,
  missed: ({ missed }) => missed,
  open: ({ pending }) => pending,
  wins: ({ wins }) => wins,
  losses: ({ losses }) => losses,
  holds: ({ holds }) => holds,
  accuracy: ({ accuracy }) => accuracy?.toFixed(3) ?? '-',
  '95 %': ({ accuracyInterval95: range }) => (range === null ? '-' : `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`),
  Brier: ({ brier }) => brier?.toFixed(4) ?? '-',
};
const TEXT_COLUMNS = 3;

function formatHorizonTable(horizons: readonly AuditedHorizon[]): string {
  const rows = [Object.keys(COLUMNS), ...horizons.map((one) => Object.values(COLUMNS).map((format) => String(format(one))))];
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const pad = (cell: string, index: number) => (index < TEXT_COLUMNS ? cell.padEnd(widths[index]) : cell.padStart(widths[index]));
  return rows.map((cells) => cells.map(pad).join('  ')).join('\n');
}

function formatChallenge({ challenger, against, horizonDays, ...one }: AuditReport['challenges'][number]): string {
  const figures = `e ${one.eBetter.toFixed(2)} that it is better, ${one.eWorse.toFixed(2)} that it is worse`;
  return `${horizonDays}d  ${challenger} against ${against}, ${one.days} days: ${figures}: ${one.verdict}`;
}

function formatCheck({ check, what, passed, failed }: AuditReport['checks'][number]): string {
  return `${check.padEnd(13)} ${what} ${failed > 0 ? `${failed} WRONG, ${passed} right` : `${passed} right.`}`;
}

/** A long record has many notes of one kind; the last ones concern the service as a whole. */
const [FIRST_NOTES, LAST_NOTES] = [17, 3];

function shortenNotes(notes: readonly string[]): readonly string[] {
  const hidden = notes.length - FIRST_NOTES - LAST_NOTES;
  if (hidden <= 0) return notes;
  return [...notes.slice(0, FIRST_NOTES), `... and ${hidden} more (all of them with --json)`, ...notes.slice(-LAST_NOTES)];
}
