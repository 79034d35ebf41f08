import type { Day } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { ClaimedScorecard } from './claims.ts';
import { compareFigures, noteUntold } from './compare-figures.ts';
import { compareRows } from './compare-rows.ts';
import type { DoubtfulFigure } from './compare-tree.ts';
import type { Findings } from './findings.ts';
import type { AuditPrices } from './prices.ts';
import { type Recomputed, recompute } from './recompute.ts';
import type { AuditedRow } from './rows.ts';

export interface ClaimContext {
  /** What it claims, one answer a horizon in the order of `HORIZONS`. */
  answers: readonly ClaimedScorecard[];
  prices: AuditPrices;
  /** Independent closes, USD, by day. */
  closes: ReadonlyMap<Day, number>;
  now: Date;
  findings: Findings;
}

/** Compares what a service claims of every horizon, row by row and figure by figure, with what chain and prices say. */
export function compareClaims(
  { rows, recomputed }: { rows: readonly AuditedRow[]; recomputed: readonly Recomputed[] },
  { answers, ...context }: ClaimContext,
): void {
  const expected = HORIZONS.map((horizonDays, index): Recomputed => {
    const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
    return withDrafts({ members, claim: answers[index], recomputed, horizonDays }, context);
  });
  const doubts: DoubtfulFigure[] = [];
  const figures = { ownPrices: context.prices.toleranceBps === 0, doubt: (one: DoubtfulFigure) => void doubts.push(one) };
  HORIZONS.forEach((horizonDays, index) => {
    compareFigures({ horizonDays, expected, claim: answers[index] }, { ...figures, findings: context.findings });
  });
  tellDoubts(doubts, context.findings);
  noteUntold(answers, expected, context.findings);
  noteReplayed(answers, context.findings);
  context.findings.note(
    'left out, since neither chain nor prices tell them: predictive distributions, regimes, model versions, wagers, skill against the market',
  );
}

interface ClaimedHorizon {
  horizonDays: number;
  members: readonly AuditedRow[];
  claim: ClaimedScorecard;
  recomputed: readonly Recomputed[];
}

/** The figures of a horizon as they should be told: with the forecast that is made and not on chain yet. */
function withDrafts({ horizonDays, members, claim, recomputed }: ClaimedHorizon, context: Omit<ClaimContext, 'answers'>): Recomputed {
  const figures = recomputed.find((one) => one.horizonDays === horizonDays) ?? recompute([], horizonDays);
  const drafts = compareRows(members, claim.predictions, { horizonDays, ...context });
  return drafts.length === 0 ? figures : recompute([...figures.rows, ...drafts], horizonDays);
}

/** What was made in hindsight on a chain whose clock was set back looks like any other record. */
function noteReplayed(answers: readonly ClaimedScorecard[], findings: Findings): void {
  const replayed = answers.reduce((sum, { predictions }) => sum + predictions.filter((row) => row.replayed === true).length, 0);
  if (replayed === 0) return;
  findings.note(
    `by its own word the service replayed ${replayed} of these forecasts: the clock of that chain was set back, and proves nothing`,
  );
}

const DOUBTS_TOLD = 4;

function tellDoubts(doubts: readonly DoubtfulFigure[], findings: Findings): void {
  if (doubts.length === 0) return;
  const some = doubts
    .slice(0, DOUBTS_TOLD)
    .map(({ horizonDays, path, expected, found }) => `${horizonDays}d ${path} ${found.toFixed(5)}, by these prices ${expected.toFixed(5)}`);
  const more = doubts.length > DOUBTS_TOLD ? `; and ${doubts.length - DOUBTS_TOLD} more` : '';
  findings.incomplete(
    `figures against the base rate cannot be told by prices of another source than the record's: the service tells ${some.join('; ')}${more}`,
  );
}
