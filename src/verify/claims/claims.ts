import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import type { CheckedRow, OutcomeContext } from '../checks/forecast.ts';
import { buildExpectedFigures, buildHorizonFigures, type RecomputedFigures, recompute } from '../checks/statistics.ts';
import type { ClaimedScorecard } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { compareTree } from './figure-tree.ts';
import { compareRows } from './rows.ts';
import { getRoundingTolerance, getSourceTolerance } from './tolerances.ts';

const OPTIONAL_MEMBERS = ['stats', 'statistics', 'byHorizon'] as const;
/** Neither chain nor prices determine these. */
const UNDETERMINED = ['success', 'source', 'predictions', 'byRegime', 'byModelVersion', 'marketSkill', 'predictionMarket'];
const MAX_DOUBTS_LISTED = 4;
const MAX_NAMES_LISTED = 10;
const MAX_NAME_LENGTH = 60;

type ClaimContext = OutcomeContext & { answers: readonly ClaimedScorecard[] };

/** Compares each row and figure that a service claims with the proven ones. `answers` are one scorecard per horizon, as `HORIZONS`. */
export function compareClaims(rows: readonly CheckedRow[], recomputed: RecomputedFigures[], { answers, ...context }: ClaimContext): void {
  const { prices, findings } = context;
  const proven = HORIZONS.map((horizonDays, index): RecomputedFigures => {
    const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
    const figures = recomputed.find((one) => one.horizonDays === horizonDays) ?? recompute([], horizonDays);
    const drafts = compareRows(members, answers[index].predictions, { horizonDays, ...context });
    return drafts.length === 0 ? figures : recompute([...figures.rows, ...drafts], horizonDays);
  });
  const doubts: string[] = [];
  const names = new Set<string>();
  for (const [index, claim] of answers.entries()) {
    const { horizonDays } = proven[index];
    const found = claim.byHorizon === undefined ? claim : { ...claim, byHorizon: keyByHorizon(claim.byHorizon) };
    compareTree(
      { path: '', expected: buildExpectedScorecard(proven, index, claim), found },
      {
        ...{ check: 'figure', subject: { ...NO_SUBJECT, horizonDays }, findings },
        getTolerance: prices?.toleranceBps === 0 ? getRoundingTolerance : getSourceTolerance,
        onDoubt: ({ path, expected, found }) =>
          void doubts.push(`${horizonDays}d ${path} ${found.toFixed(5)}, with these prices ${expected.toFixed(5)}`),
        onExtra: (path) => void names.add(path.slice(0, MAX_NAME_LENGTH)),
      },
    );
  }
  if (doubts.length > 0) {
    const what = 'figures against the base rate cannot be decided with prices of another source';
    findings.leave('figure', NO_SUBJECT, `${what}: the service shows ${listSome(doubts, MAX_DOUBTS_LISTED)}`);
  }
  noteUncompared(answers, [...names], findings);
}

/** All figures that chain and prices determine. Each scorecard contains those of all horizons. */
function buildExpectedScorecard(proven: readonly RecomputedFigures[], index: number, claim: ClaimedScorecard) {
  const { summary, ...parts } = buildExpectedFigures(proven[index]);
  const byHorizon = keyByHorizon(proven.map(buildHorizonFigures));
  const optional = Object.entries({ ...parts, byHorizon }).filter(([name]) => claim[name] !== undefined);
  const horizon = formatHorizonName(proven[index].horizonDays);
  return { horizon, summary, ...Object.fromEntries(optional), ...Object.fromEntries(UNDETERMINED.map((name) => [name, undefined])) };
}

/** Entries by horizon, with their number: each horizon has to be there once. */
function keyByHorizon(entries: readonly { horizon: string }[]) {
  return { ...Object.fromEntries(entries.map((one) => [one.horizon, one])), entries: entries.length };
}

/** Notes omitted parts and unknown names, since an unknown name may be an unchecked figure. */
function noteUncompared(answers: readonly ClaimedScorecard[], unknown: readonly string[], findings: Findings): void {
  const missing = OPTIONAL_MEMBERS.filter((part) => answers.some((claim) => claim[part] === undefined));
  if (missing.length > 0) findings.note(`scorecards of the service omit ${missing.join(', ')}: these could not be compared`);
  if (unknown.length > 0) {
    findings.note(`the service shows unknown figures, which could not be compared: ${listSome(unknown, MAX_NAMES_LISTED)}`);
  }
  // Forecasts replayed on a chain whose clock was set back are indistinguishable from others; only the service declares them.
  const replayed = answers.flatMap(({ predictions }) => predictions.filter((row) => row.replayed === true)).length;
  const why = 'the clock of that chain was set back, so its block times prove nothing';
  if (replayed > 0) findings.note(`the service declares ${replayed} of these forecasts as replayed: ${why}`);
  const unproven = 'regimes, wagers, skill against the market';
  findings.note(`not compared, since neither chain nor prices determine them: ${unproven}`);
}

function listSome(items: readonly string[], max: number): string {
  const more = items.length > max ? `; and ${items.length - max} more` : '';
  return `${items.slice(0, max).join('; ')}${more}`;
}
