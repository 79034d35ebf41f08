import { formatHorizonName } from '../../forecast/model.ts';
import { buildExpectedFigures, buildHorizonFigures, type RecomputedFigures } from '../checks/statistics.ts';
import type { ClaimedScorecard } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { compareTree, isTree, type TreeContext } from './figure-tree.ts';

interface ClaimedFigures {
  horizonDays: number;
  /** The figures of all horizons, which each scorecard contains. */
  expected: readonly RecomputedFigures[];
  claim: ClaimedScorecard;
}

/** Compares all figures of a scorecard that chain and prices determine. A missing figure is a difference. */
export function compareFigures({ horizonDays, expected, claim }: ClaimedFigures, figures: Omit<TreeContext, 'subject'>): void {
  const context: TreeContext = { ...figures, subject: { ...NO_SUBJECT, horizonDays } };
  const own = expected.find((one) => one.horizonDays === horizonDays)!;
  const { summary, stats, statistics } = buildExpectedFigures(own);
  const compare = (path: string, should: unknown, found: unknown) => compareTree({ path, expected: should, found }, context);
  compare('horizon', formatHorizonName(horizonDays), claim.horizon);
  compare('summary', summary, claim.summary);
  if (claim.stats !== undefined) compare('stats', stats, claim.stats);
  if (claim.statistics !== undefined) compare('statistics', statistics, claim.statistics);
  if (claim.byHorizon === undefined) return;
  for (const one of expected) compareHorizon(one, claim.byHorizon, context);
  const names = expected.map((one) => formatHorizonName(one.horizonDays));
  const others = claim.byHorizon.filter(({ horizon }) => !(names as string[]).includes(horizon));
  for (const { horizon } of others) compare(`byHorizon.${horizon}`, null, horizon);
}

/** Each scorecard has each horizon exactly once. */
function compareHorizon(one: RecomputedFigures, rows: NonNullable<ClaimedScorecard['byHorizon']>, context: TreeContext): void {
  const name = formatHorizonName(one.horizonDays);
  const claimedRows = rows.filter(({ horizon }) => horizon === name);
  const path = `byHorizon.${name}`;
  if (claimedRows.length !== 1) compareTree({ path: `${path}.entries`, expected: 1, found: claimedRows.length }, context);
  for (const row of claimedRows) compareTree({ path, expected: buildHorizonFigures(one), found: row }, context);
}

/** Known members of a scorecard. */
const COMPARED_MEMBERS = new Set(['success', 'source', 'horizon', 'summary', 'stats', 'statistics', 'byHorizon', 'predictions']);
const SKIPPED_MEMBERS = new Set(['byRegime', 'byModelVersion', 'marketSkill', 'predictionMarket', 'statistics.distribution']);

/** Parts that a service may omit. */
const OPTIONAL_MEMBERS = ['stats', 'statistics', 'byHorizon'] as const;

/** Notes omitted parts and unknown names, since an unknown name may be an unchecked figure. */
export function noteUncompared(claims: readonly ClaimedScorecard[], expected: readonly RecomputedFigures[], findings: Findings): void {
  const missing = OPTIONAL_MEMBERS.filter((part) => claims.some((claim) => claim[part] === undefined));
  if (missing.length > 0) findings.note(`scorecards of the service omit ${missing.join(', ')}: these could not be compared`);
  const unknown = new Set(claims.flatMap((claim, index) => listUnknownNames(claim, expected[index])));
  if (unknown.size === 0) return;
  const some = [...unknown].slice(0, MAX_NAMES_LISTED).map((name) => name.slice(0, MAX_NAME_LENGTH));
  const more = unknown.size > MAX_NAMES_LISTED ? ` and ${unknown.size - MAX_NAMES_LISTED} more` : '';
  findings.note(`the service shows unknown figures, which could not be compared: ${some.join(', ')}${more}`);
}

const MAX_NAMES_LISTED = 10;
const MAX_NAME_LENGTH = 60;

function listUnknownNames(claim: ClaimedScorecard, recomputed: RecomputedFigures): string[] {
  const { summary, stats, statistics } = buildExpectedFigures(recomputed);
  return [
    ...Object.keys(claim).filter((name) => !COMPARED_MEMBERS.has(name) && !SKIPPED_MEMBERS.has(name)),
    ...listExtraNames('summary', summary, claim.summary),
    ...listExtraNames('stats', stats, claim.stats),
    ...listExtraNames('statistics', statistics, claim.statistics),
    ...(claim.byHorizon ?? []).flatMap((row) => listExtraNames('byHorizon', buildHorizonFigures(recomputed), row)),
  ];
}

/** Not expected when the prices do not determine the base rate. */
const BASE_RATE_PATH = /^(summary|byHorizon)\.brier\.climatology$|^statistics\.probabilities\.climatologySkill$/;

/** Names in the service's figures only. */
function listExtraNames(path: string, expected: unknown, found: unknown): string[] {
  if (!isTree(expected) || !isTree(found) || Array.isArray(expected)) return [];
  return Object.keys(found).flatMap((name) => {
    const at = `${path}.${name}`;
    if (Object.hasOwn(expected, name)) return listExtraNames(at, expected[name], found[name]);
    return SKIPPED_MEMBERS.has(at) || BASE_RATE_PATH.test(at) ? [] : [at];
  });
}
