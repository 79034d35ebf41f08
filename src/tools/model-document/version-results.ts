import { COVERED_SHARES, LAST_LOOK_FOLDS, type VersionReport } from '../../forecast/backtest/walk-forward/versions.ts';
import { formatPercent } from '../../forecast/math/format-percent.ts';
import { renderMarkdownTable, renderNumber, renderWithInterval } from './markdown.ts';

const LAST_LOOK = `folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}`;

/** CRPS and coverage of every version, all folds together and fold by fold. */
export function renderVersionResults(versions: readonly VersionReport[]): string {
  const [reference] = versions;
  return [
    `Versions on the same days with the same P(up). CRPS in log-return units times 1000, lower is better. Gain: CRPS below that of \`${reference.name}\`, with the interval of the paired block bootstrap. Versions after the first were chosen on earlier folds; ${LAST_LOOK} were looked at once.`,
    renderPooledTable(versions),
    'By fold:',
    renderFoldTable(versions),
  ].join('\n\n');
}

function renderPooledTable(versions: readonly VersionReport[]): string {
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.flatMap(({ horizon, folds, foldsBetter, pooled, lastLook }) => {
      if (pooled === null) return [];
      const gains = [pooled.gain, lastLook?.gain ?? null].map((gain) => (gain === null ? 'none' : renderWithInterval(gain)));
      const better = foldsBetter === null ? 'none' : `${foldsBetter} of ${folds.length}`;
      return [[name, horizon, formatCrps(pooled.crps), gains[0], better, gains[1], ...pooled.coverage.map(renderWithInterval)]];
    }),
  );
  const head = ['Version', 'Horizon', 'CRPS', 'Gain, all folds, % (95 %)', 'Folds better', `Gain, ${LAST_LOOK}, % (95 %)`];
  return renderMarkdownTable([...head, ...COVERED_SHARES.map((nominal) => `${100 * nominal} % holds, % (95 %)`)], rows);
}

function renderFoldTable(versions: readonly VersionReport[]): string {
  const [{ horizons }] = versions;
  const columns = horizons.flatMap(({ horizon }, at) =>
    versions.flatMap(({ name, horizons: own }, index) => {
      const { folds } = own[at];
      const crps = { head: `${name}, ${horizon}`, cells: folds.map((fold) => formatCrps(fold.crps)) };
      if (index === 0) return [crps];
      return [crps, { head: `Gain, ${horizon}`, cells: folds.map(({ gain }) => formatPercent(gain!, 2).replace(/^-(0\.00 )/, '$1')) }];
    }),
  );
  const rows = horizons[0].folds.map(({ fold }, index) => [`${fold}`, ...columns.map(({ cells }) => cells[index])]);
  return renderMarkdownTable(['Fold', ...columns.map(({ head }) => head)], rows);
}

function formatCrps(crps: number): string {
  return renderNumber(1_000 * crps, 3);
}
