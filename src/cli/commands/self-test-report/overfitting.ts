import type { HorizonOverfitting } from '../../../forecast/backtest/overfitting/horizon-overfitting.ts';
import type { OverfittingReport } from '../../../forecast/backtest/overfitting/report.ts';
import type { LedgerRow } from '../../../forecast/backtest/overfitting/trial-ledger.ts';
import { formatCell, formatCells, formatPercentCell, formatTextTable, wrapParagraph } from './table.ts';

export function formatOverfitting({ trials, horizons, ledger, note, verdict }: OverfittingReport): string {
  return [
    `Overfitting, discounted for ${trials} trials`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    formatHorizonTable(horizons),
    formatLedgerTable(ledger),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatHorizonTable(horizons: readonly HorizonOverfitting[]): string {
  const titles = ['horizon', 'days', 'Brier', 'rank', 'PBO', 'splits', 'Sharpe followed', 'held', 'excess', 'best of luck', 'deflated'];
  const rows = horizons.map(({ horizonDays, days, modelBrier, modelRank, pbo, deflatedSharpe: sharpe }) => [
    `${horizonDays}d`,
    String(days),
    formatCell(modelBrier, 5),
    formatCell(modelRank, 0),
    formatCell(pbo?.probability, 2),
    formatCell(pbo?.splits, 0),
    ...formatCells([sharpe?.followedSharpe, sharpe?.heldSharpe, sharpe?.excessSharpe, sharpe?.expectedBest], 4),
    formatCell(sharpe?.probability, 3),
  ]);
  return formatTextTable(titles, rows);
}

/** Accuracy and Brier score of each reproducible trial, one pair of columns per horizon. */
function formatLedgerTable(ledger: readonly LedgerRow[]): string {
  const judged = ledger.find(({ figures }) => figures.length > 0)?.figures ?? [];
  const titles = ['trial', 'counts', ...judged.flatMap(({ horizonDays }) => [`${horizonDays}d Brier`, `${horizonDays}d right`])];
  const rows = ledger.map(({ id, trials, figures }) => [
    id,
    String(trials),
    ...judged.flatMap((_, index) => [formatCell(figures[index]?.brier, 5), formatPercentCell(figures[index]?.accuracy)]),
  ]);
  return `Ledger of trials\n${formatTextTable(titles, rows)}`;
}
