import type { LedgerRow } from '../../forecast/backtest/overfitting/trial-ledger.ts';
import type { HorizonOverfitting, OverfittingReport } from '../../forecast/backtest/overfitting.ts';
import { figure, paragraph, percent, textTable } from './table.ts';

/** PBO, deflated Sharpe ratio and the ledger of trials as a person reads them. */
export function overfittingText({ trials, horizons, ledger, note, verdict }: OverfittingReport): string {
  return [
    `Overfitting, discounted for ${trials} trials`,
    ...(note === null ? [] : [paragraph(note)]),
    horizonTable(horizons),
    ledgerTable(ledger),
    paragraph(verdict),
  ].join('\n\n');
}

function horizonTable(horizons: readonly HorizonOverfitting[]): string {
  const titles = ['horizon', 'days', 'Brier', 'rank', 'PBO', 'splits', 'Sharpe followed', 'held', 'excess', 'best of luck', 'deflated'];
  const rows = horizons.map(({ horizonDays, days, modelBrier, modelRank, pbo, deflatedSharpe: sharpe }) => [
    ...[`${horizonDays}d`, String(days), figure(modelBrier, 5), figure(modelRank, 0), figure(pbo?.probability, 2), figure(pbo?.splits, 0)],
    ...[figure(sharpe?.followedSharpe, 4), figure(sharpe?.heldSharpe, 4), figure(sharpe?.excessSharpe, 4)],
    ...[figure(sharpe?.expectedBest, 4), figure(sharpe?.probability, 3)],
  ]);
  return textTable(titles, rows);
}

/** Of each trial that can be made again how often it was right and its Brier score, a pair of columns a horizon. */
function ledgerTable(ledger: readonly LedgerRow[]): string {
  const judged = ledger.find(({ figures }) => figures.length > 0)?.figures ?? [];
  const titles = ['trial', 'counts', ...judged.flatMap(({ horizonDays }) => [`${horizonDays}d Brier`, `${horizonDays}d right`])];
  const rows = ledger.map(({ id, trials, figures }) => [
    ...[id, String(trials)],
    ...judged.flatMap((_, index) => [figure(figures[index]?.brier, 5), percent(figures[index]?.accuracy)]),
  ]);
  return `Ledger of trials\n${textTable(titles, rows)}`;
}
