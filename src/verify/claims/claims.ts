import { HORIZONS } from '../../forecast/model.ts';
import type { CheckedRow } from '../checks/forecast.ts';
import { type RecomputedFigures, recompute } from '../checks/statistics.ts';
import type { ClaimedScorecard, PriceEvidence } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import type { DoubtfulFigure } from './figure-tree.ts';
import { compareFigures, noteUncompared } from './figures.ts';
import { compareRows } from './rows.ts';

export interface ClaimContext {
  /** One scorecard per horizon in the order of `HORIZONS`. */
  answers: readonly ClaimedScorecard[];
  /** Null: closes are not compared. */
  prices: PriceEvidence | null;
  now: Date;
  findings: Findings;
}

/** Compares each row and figure that a service claims with the proven ones. */
export function compareClaims(
  { rows, recomputed }: { rows: readonly CheckedRow[]; recomputed: readonly RecomputedFigures[] },
  { answers, ...context }: ClaimContext,
): void {
  const expected = HORIZONS.map((horizonDays, index): RecomputedFigures => {
    const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
    const figures = recomputed.find((one) => one.horizonDays === horizonDays) ?? recompute([], horizonDays);
    const drafts = compareRows(members, answers[index].predictions, { horizonDays, ...context });
    return drafts.length === 0 ? figures : recompute([...figures.rows, ...drafts], horizonDays);
  });
  const doubts: DoubtfulFigure[] = [];
  const figures = { ownPrices: context.prices?.toleranceBps === 0, doubt: (one: DoubtfulFigure) => void doubts.push(one) };
  HORIZONS.forEach((horizonDays, index) => {
    compareFigures({ horizonDays, expected, claim: answers[index] }, { ...figures, findings: context.findings });
  });
  reportDoubts(doubts, context.findings);
  noteUncompared(answers, expected, context.findings);
  noteReplayed(answers, context.findings);
  context.findings.note(
    'not compared, since neither chain nor prices determine them: predictive distributions, regimes, model versions, wagers, skill against the market',
  );
}

/** Forecasts replayed on a chain whose clock was set back are indistinguishable from others; only the service declares them. */
function noteReplayed(answers: readonly ClaimedScorecard[], findings: Findings): void {
  const replayed = answers.reduce((sum, { predictions }) => sum + predictions.filter((row) => row.replayed === true).length, 0);
  if (replayed === 0) return;
  findings.note(
    `the service declares ${replayed} of these forecasts as replayed: the clock of that chain was set back, so its block times prove nothing`,
  );
}

const MAX_DOUBTS_LISTED = 4;

function reportDoubts(doubts: readonly DoubtfulFigure[], findings: Findings): void {
  if (doubts.length === 0) return;
  const some = doubts
    .slice(0, MAX_DOUBTS_LISTED)
    .map(
      ({ horizonDays, path, expected, found }) => `${horizonDays}d ${path} ${found.toFixed(5)}, with these prices ${expected.toFixed(5)}`,
    );
  const more = doubts.length > MAX_DOUBTS_LISTED ? `; and ${doubts.length - MAX_DOUBTS_LISTED} more` : '';
  findings.leave(
    'figure',
    NO_SUBJECT,
    `figures against the base rate cannot be decided with prices of another source: the service shows ${some.join('; ')}${more}`,
  );
}
