import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import type { CheckedRow } from '../checks/forecast.ts';
import { buildExpectedFigures, buildHorizonFigures, type RecomputedFigures, recompute } from '../checks/statistics.ts';
import type { ClaimedScorecard, PriceEvidence } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { compareTree, type DoubtfulFigure, listExtraNames, type TreeContext } from './figure-tree.ts';
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
  const { prices, findings } = context;
  const expected = HORIZONS.map((horizonDays, index): RecomputedFigures => {
    const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
    const figures = recomputed.find((one) => one.horizonDays === horizonDays) ?? recompute([], horizonDays);
    const drafts = compareRows(members, answers[index].predictions, { horizonDays, ...context });
    return drafts.length === 0 ? figures : recompute([...figures.rows, ...drafts], horizonDays);
  });
  const doubts: DoubtfulFigure[] = [];
  const tree = { ownPrices: prices?.toleranceBps === 0, doubt: (one: DoubtfulFigure) => void doubts.push(one), findings };
  expected.forEach((own, index) => {
    compareFigures(answers[index], own, expected, { ...tree, subject: { ...NO_SUBJECT, horizonDays: own.horizonDays } });
  });
  reportDoubts(doubts, findings);
  noteUncompared(answers, expected, findings);
  // Forecasts replayed on a chain whose clock was set back are indistinguishable from others; only the service declares them.
  const replayed = answers.flatMap(({ predictions }) => predictions.filter((row) => row.replayed === true)).length;
  const why = 'the clock of that chain was set back, so its block times prove nothing';
  if (replayed > 0) findings.note(`the service declares ${replayed} of these forecasts as replayed: ${why}`);
  const unproven = 'predictive distributions, regimes, model versions, wagers, skill against the market';
  findings.note(`not compared, since neither chain nor prices determine them: ${unproven}`);
}

/** Compares all figures of a scorecard that chain and prices determine. @param all those of all horizons, which each scorecard contains */
function compareFigures(claim: ClaimedScorecard, own: RecomputedFigures, all: readonly RecomputedFigures[], context: TreeContext): void {
  const { summary, stats, statistics } = buildExpectedFigures(own);
  const { byHorizon } = claim;
  const compare = (path: string, expected: unknown, found: unknown) => compareTree({ path, expected, found }, context);
  compare('horizon', formatHorizonName(own.horizonDays), claim.horizon);
  compare('summary', summary, claim.summary);
  if (claim.stats !== undefined) compare('stats', stats, claim.stats);
  if (claim.statistics !== undefined) compare('statistics', statistics, claim.statistics);
  if (byHorizon === undefined) return;
  const names = new Set<string>(all.map(({ horizonDays }) => formatHorizonName(horizonDays)));
  for (const one of all) {
    // Each scorecard has each horizon exactly once.
    const figures = buildHorizonFigures(one);
    const path = `byHorizon.${figures.horizon}`;
    const rows = byHorizon.filter(({ horizon }) => horizon === figures.horizon);
    if (rows.length !== 1) compare(`${path}.entries`, 1, rows.length);
    for (const row of rows) compare(path, figures, row);
  }
  for (const { horizon } of byHorizon) if (!names.has(horizon)) compare(`byHorizon.${horizon}`, null, horizon);
}

const MAX_DOUBTS_LISTED = 4;

function reportDoubts(doubts: readonly DoubtfulFigure[], findings: Findings): void {
  if (doubts.length === 0) return;
  const listed = doubts.slice(0, MAX_DOUBTS_LISTED).map(({ horizonDays, path, expected, found }) => {
    return `${horizonDays}d ${path} ${found.toFixed(5)}, with these prices ${expected.toFixed(5)}`;
  });
  const more = doubts.length > MAX_DOUBTS_LISTED ? `; and ${doubts.length - MAX_DOUBTS_LISTED} more` : '';
  const what = 'figures against the base rate cannot be decided with prices of another source';
  findings.leave('figure', NO_SUBJECT, `${what}: the service shows ${listed.join('; ')}${more}`);
}

/** Known members of a scorecard, and those that a service may omit. */
const KNOWN_MEMBERS = ['success', 'source', 'horizon', 'summary', 'stats', 'statistics', 'byHorizon', 'predictions'];
const OPTIONAL_MEMBERS = ['stats', 'statistics', 'byHorizon'] as const;
/** Neither chain nor prices determine these. */
const SKIPPED_MEMBERS = ['byRegime', 'byModelVersion', 'marketSkill', 'predictionMarket', 'statistics.distribution'];
/** Not expected when the prices do not determine the base rate. */
const BASE_RATE_PATH = /^(summary|byHorizon)\.brier\.climatology$|^statistics\.probabilities\.climatologySkill$/;
const MAX_NAMES_LISTED = 10;
const MAX_NAME_LENGTH = 60;

/** Notes omitted parts and unknown names, since an unknown name may be an unchecked figure. */
function noteUncompared(claims: readonly ClaimedScorecard[], expected: readonly RecomputedFigures[], findings: Findings): void {
  const missing = OPTIONAL_MEMBERS.filter((part) => claims.some((claim) => claim[part] === undefined));
  if (missing.length > 0) findings.note(`scorecards of the service omit ${missing.join(', ')}: these could not be compared`);
  const names = claims.flatMap((claim, index) => listUnknownNames(claim, expected[index]));
  const unknown = [...new Set(names)].filter((name) => !SKIPPED_MEMBERS.includes(name) && !BASE_RATE_PATH.test(name));
  if (unknown.length === 0) return;
  const some = unknown.slice(0, MAX_NAMES_LISTED).map((name) => name.slice(0, MAX_NAME_LENGTH));
  const more = unknown.length > MAX_NAMES_LISTED ? ` and ${unknown.length - MAX_NAMES_LISTED} more` : '';
  findings.note(`the service shows unknown figures, which could not be compared: ${some.join(', ')}${more}`);
}

function listUnknownNames(claim: ClaimedScorecard, recomputed: RecomputedFigures): string[] {
  const { summary, stats, statistics } = buildExpectedFigures(recomputed);
  return [
    ...Object.keys(claim).filter((name) => !KNOWN_MEMBERS.includes(name)),
    ...listExtraNames('summary', summary, claim.summary),
    ...listExtraNames('stats', stats, claim.stats),
    ...listExtraNames('statistics', statistics, claim.statistics),
    ...(claim.byHorizon ?? []).flatMap((row) => listExtraNames('byHorizon', buildHorizonFigures(recomputed), row)),
  ];
}
