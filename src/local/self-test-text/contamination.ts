import type { EraFigures, HorizonEras } from '../../forecast/backtest/contamination/eras.ts';
import type { LagMutant } from '../../forecast/backtest/contamination/lag-mutants.ts';
import type { ContaminationReport } from '../../forecast/backtest/contamination.ts';
import { figure, interval, paragraph, skill, textTable } from './table.ts';

/** Eras, regimes, the audit of what was known then, and planted leaks, as a person reads them. */
export function contaminationText(report: ContaminationReport): string {
  const { splitDay, folds, expectedFolds, note, horizons, suspicions, verdict } = report;
  return [
    `Contamination: ${folds} of ${expectedFolds} folds, the ETF era begins on ${splitDay}`,
    ...(note === null ? [] : [paragraph(note)]),
    ...horizons.map(eraTable),
    auditText(report),
    mutantTable(report.lagMutants),
    ...suspicions.map(({ horizonDays, where, why }) => `SUSPICIOUS, ${horizonDays}d ${where}: ${why}`),
    paragraph(verdict),
  ].join('\n\n');
}

function eraTable({ horizonDays, preEtf, postEtf, regimes }: HorizonEras): string {
  const titles = [`${horizonDays}d`, 'n', 'worth', 'right', '95 %', 'always UP', 'difference', 'Brier skill', 'CRPS skill', 'recent'];
  const rows = [
    ['before the ETFs', ...cells(preEtf)],
    ['since the ETFs', ...cells(postEtf)],
    ...regimes.map((one) => [one.regime, ...cells(one)]),
  ];
  return textTable(titles, rows);
}

function cells({ n, effectiveN, accuracy, accuracy95, alwaysUp, edge, brierSkill, crpsSkill, recentCrpsSkill }: EraFigures): string[] {
  const inWords = (difference: EraFigures['edge']) => (difference === null ? '-' : skill(difference));
  return [
    ...[String(n), figure(effectiveN, 0), figure(accuracy, 3), interval(accuracy95), figure(alwaysUp, 3)],
    ...[edge, brierSkill, crpsSkill, recentCrpsSkill].map(inWords),
  ];
}

function auditText({ pointInTime: { days, differences } }: ContaminationReport): string {
  const found = differences.map(
    ({ day, feature, known, computed }) => `  ${day} ${feature}: ${known ?? 'masked'} then, ${computed ?? 'masked'} now`,
  );
  const head = `As known at 21:35 UTC of ${days.length} days: ${differences.length} features differ from those of the whole history`;
  return [head, ...found].join('\n');
}

const FEATURES_TOLD = 3;

function mutantTable(mutants: readonly LagMutant[]): string {
  const rows = mutants.map(({ input, applicable, caught, features, days }) => [
    ...[input, applicable ? (caught ? 'caught' : 'NOT CAUGHT') : 'not applicable', String(days), someOf(features)],
  ]);
  const reasons = mutants.flatMap(({ input, reason }) => (reason === null ? [] : [paragraph(`${input}: ${reason}`)]));
  return ['Inputs known a day too early, planted', textTable(['input', '', 'days', 'told by'], rows), ...reasons].join('\n');
}

function someOf(features: readonly string[]): string {
  const more = features.length - FEATURES_TOLD;
  return features.length === 0 ? '-' : `${features.slice(0, FEATURES_TOLD).join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
}
