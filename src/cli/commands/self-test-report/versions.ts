import {
  COVERED_SHARES,
  LAST_LOOK_FOLDS,
  type VersionHorizonReport,
  type VersionReport,
} from '../../../forecast/backtest/walk-forward/versions.ts';
import { formatCell, formatPercentCell, formatSkillCell, formatTextTable, wrapParagraph } from './table.ts';

/** CRPS of every version by fold, its gain over the first one, and coverage. */
export function formatVersions(versions: readonly VersionReport[]): string {
  const [reference] = versions;
  const head = versions.map(({ name, title, distributionTrials }) => `${name}: ${title}; ${distributionTrials} distributions were tried`);
  return [
    `Versions of the model, which share P(up); gain: CRPS below that of ${reference.name}\n${head.join('\n')}`,
    ...reference.horizons.map((_, index) => formatHorizon(versions.map(({ name, horizons }) => ({ name, ...horizons[index] })))),
    formatPooled(versions),
    wrapParagraph(
      `Folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}: looked at once. Versions after the first were chosen on the folds before them.`,
    ),
  ].join('\n\n');
}

type NamedHorizon = VersionHorizonReport & { name: string };

function formatHorizon(versions: readonly NamedHorizon[]): string {
  const titles = versions.flatMap(({ name }, index) => [`${name} CRPS`, ...(index === 0 ? [] : ['gain']), '50 %', '80 %', '90 %']);
  const rows = versions[0].folds.map(({ fold }, at) => [
    String(fold),
    ...versions.flatMap(({ folds }) => {
      const { crps, gain, coverage50, coverage80, coverage90 } = folds[at];
      const shares = [coverage50, coverage80, coverage90].map((share) => formatCell(share, 3));
      return [formatCell(crps, 6), ...(gain === null ? [] : [formatPercentCell(gain, 2)]), ...shares];
    }),
  ]);
  return `Versions at ${versions[0].horizon}\n${formatTextTable(['fold', ...titles], rows)}`;
}

function formatPooled(versions: readonly VersionReport[]): string {
  const titles = ['', 'days', 'CRPS', 'gain', 'folds better', `folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}`];
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.map(({ horizon, folds, foldsBetter, pooled, lastLook }) => [
      `${name} ${horizon}`,
      formatCell(pooled?.n, 0),
      formatCell(pooled?.crps, 6),
      formatGain(pooled),
      foldsBetter === null ? '-' : `${foldsBetter} of ${folds.length}`,
      formatGain(lastLook),
      ...COVERED_SHARES.map((_, index) => (pooled === null ? '-' : formatSkillCell(pooled.coverage[index]))),
    ]),
  );
  const ranges = COVERED_SHARES.map((nominal) => `${formatPercentCell(nominal, 0)} holds`);
  return `Versions, all folds together\n${formatTextTable([...titles, ...ranges], rows)}`;
}

function formatGain(folds: VersionHorizonReport['lastLook']): string {
  return folds?.gain ? formatSkillCell(folds.gain) : '-';
}
