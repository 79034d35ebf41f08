import type { EraFigures, HorizonEras } from '../../../forecast/backtest/contamination/eras.ts';
import type { LagMutant } from '../../../forecast/backtest/contamination/lag-mutants.ts';
import type { ContaminationReport } from '../../../forecast/backtest/contamination/report.ts';
import { formatCell, formatIntervalCell, formatSkillCell, formatTextTable, wrapParagraph } from './table.ts';

export function formatContamination(report: ContaminationReport): string {
  const { splitDay, folds, expectedFolds, note, horizons, suspicions, verdict } = report;
  return [
    `Contamination: ${folds} of ${expectedFolds} folds, the ETF era begins on ${splitDay}`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    ...horizons.map(formatEraTable),
    formatAudit(report),
    formatMutantTable(report.lagMutants),
    ...suspicions.map(({ horizonDays, where, why }) => `SUSPICIOUS, ${horizonDays}d ${where}: ${why}`),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatEraTable({ horizonDays, preEtf, postEtf, regimes }: HorizonEras): string {
  const titles = [`${horizonDays}d`, 'n', 'worth', 'right', '95 %', 'always UP', 'difference', 'Brier skill', 'CRPS skill', 'recent'];
  const rows = [
    ['before the ETFs', ...formatEra(preEtf)],
    ['since the ETFs', ...formatEra(postEtf)],
    ...regimes.map((one) => [one.regime, ...formatEra(one)]),
  ];
  return formatTextTable(titles, rows);
}

function formatEra({ n, effectiveN, accuracy, accuracy95, alwaysUp, ...differences }: EraFigures): string[] {
  const { edge, brierSkill, crpsSkill, recentCrpsSkill } = differences;
  const formatDifference = (difference: EraFigures['edge']) => (difference === null ? '-' : formatSkillCell(difference));
  return [
    String(n),
    formatCell(effectiveN, 0),
    formatCell(accuracy, 3),
    formatIntervalCell(accuracy95),
    formatCell(alwaysUp, 3),
    ...[edge, brierSkill, crpsSkill, recentCrpsSkill].map(formatDifference),
  ];
}

function formatAudit({ pointInTime: { days, differences } }: ContaminationReport): string {
  const found = differences.map(
    ({ day, feature, known, computed }) => `  ${day} ${feature}: ${known ?? 'masked'} then, ${computed ?? 'masked'} now`,
  );
  const head = `As known at 21:35 UTC of ${days.length} days: ${differences.length} features differ from those of the whole history`;
  return [head, ...found].join('\n');
}

const MAX_FEATURES = 3;

function formatMutantTable(mutants: readonly LagMutant[]): string {
  const rows = mutants.map(({ input, applicable, caught, features, days }) => {
    const result = applicable ? (caught ? 'caught' : 'NOT CAUGHT') : 'not applicable';
    return [input, result, String(days), formatFeatures(features)];
  });
  const reasons = mutants.flatMap(({ input, reason }) => (reason === null ? [] : [wrapParagraph(`${input}: ${reason}`)]));
  return ['Inputs known a day too early, planted', formatTextTable(['input', '', 'days', 'caught by'], rows), ...reasons].join('\n');
}

function formatFeatures(features: readonly string[]): string {
  const more = features.length - MAX_FEATURES;
  return features.length === 0 ? '-' : `${features.slice(0, MAX_FEATURES).join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
}
