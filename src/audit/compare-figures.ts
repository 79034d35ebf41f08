import { horizonName } from '../forecast/model.ts';
import type { ClaimedScorecard } from './claims.ts';
import { compareTree, isTree, type TreeContext } from './compare-tree.ts';
import { type Findings, NOTHING, type Subject } from './findings.ts';
import { expectedFigures, horizonFigures, type Recomputed } from './recompute.ts';

export interface ClaimedFigures {
  /** The horizon that was asked for. */
  horizonDays: number;
  /** The figures of every horizon: each answer tells of all of them. */
  expected: readonly Recomputed[];
  claim: ClaimedScorecard;
}

/** Compares every figure of a scorecard that chain and prices tell; one that should be there and is not is wrong as well. */
export function compareFigures({ horizonDays, expected, claim }: ClaimedFigures, context: Omit<TreeContext, 'subject'>): void {
  const subject: Subject = { ...NOTHING, horizonDays };
  const own = expected.find((one) => one.horizonDays === horizonDays)!;
  const { summary, stats, statistics } = expectedFigures(own);
  const compare = (path: string, should: unknown, found: unknown) =>
    compareTree({ path, expected: should, found }, { ...context, subject });
  compare('horizon', horizonName(horizonDays), claim.horizon);
  compare('summary', summary, claim.summary);
  if (claim.stats !== undefined) compare('stats', stats, claim.stats);
  if (claim.statistics !== undefined) compare('statistics', statistics, claim.statistics);
  if (claim.byHorizon === undefined) return;
  for (const one of expected) compareHorizon(one, claim.byHorizon, { ...context, subject });
  const names = expected.map((one) => horizonName(one.horizonDays));
  const others = claim.byHorizon.filter(({ horizon }) => !(names as string[]).includes(horizon));
  for (const { horizon } of others) compareTree({ path: `byHorizon.${horizon}`, expected: null, found: horizon }, { ...context, subject });
}

/** Each answer tells every horizon once. */
function compareHorizon(one: Recomputed, rows: NonNullable<ClaimedScorecard['byHorizon']>, context: TreeContext): void {
  const name = horizonName(one.horizonDays);
  const told = rows.filter(({ horizon }) => horizon === name);
  const path = `byHorizon.${name}`;
  if (told.length !== 1) compareTree({ path: `${path}.entries`, expected: 1, found: told.length }, context);
  for (const row of told) compareTree({ path, expected: horizonFigures(one), found: row }, context);
}

/** What is told beside the figures that are compared, and is known to be so. */
const KNOWN_PARTS = new Set(['success', 'source', 'horizon', 'summary', 'stats', 'statistics', 'byHorizon', 'predictions']);
const LEFT_OUT = new Set(['byRegime', 'byModelVersion', 'marketSkill', 'predictionMarket', 'statistics.distribution']);

/** Parts that a service need not tell. */
const PARTS = ['stats', 'statistics', 'byHorizon'] as const;

/** Says what a service leaves out, and what it tells that nobody can check here: a name that is not known may hide a figure. */
export function noteUntold(claims: readonly ClaimedScorecard[], expected: readonly Recomputed[], findings: Findings): void {
  const missing = PARTS.filter((part) => claims.some((claim) => claim[part] === undefined));
  if (missing.length > 0) findings.note(`the service does not tell all of ${missing.join(', ')}: these could not be compared`);
  const unknown = new Set(claims.flatMap((claim, index) => unknownNames(claim, expected[index])));
  if (unknown.size === 0) return;
  const some = [...unknown].slice(0, NAMES_TOLD).map((name) => name.slice(0, LONGEST_NAME));
  const more = unknown.size > NAMES_TOLD ? ` and ${unknown.size - NAMES_TOLD} more` : '';
  findings.note(`the service tells what is not known here, and could not be compared: ${some.join(', ')}${more}`);
}

const NAMES_TOLD = 10;
const LONGEST_NAME = 60;

function unknownNames(claim: ClaimedScorecard, recomputed: Recomputed): string[] {
  const { summary, stats, statistics } = expectedFigures(recomputed);
  return [
    ...Object.keys(claim).filter((name) => !KNOWN_PARTS.has(name) && !LEFT_OUT.has(name)),
    ...beyond('summary', summary, claim.summary),
    ...beyond('stats', stats, claim.stats),
    ...beyond('statistics', statistics, claim.statistics),
    ...(claim.byHorizon ?? []).flatMap((row) => beyond('byHorizon', horizonFigures(recomputed), row)),
  ];
}

/** What is not expected where the prices do not tell the base rate. */
const OF_BASE_RATE = /^(summary|byHorizon)\.brier\.climatology$|^statistics\.probabilities\.climatologySkill$/;

/** Names that only the service has. */
function beyond(path: string, expected: unknown, found: unknown): string[] {
  if (!isTree(expected) || !isTree(found) || Array.isArray(expected)) return [];
  return Object.keys(found).flatMap((name) => {
    const at = `${path}.${name}`;
    if (Object.hasOwn(expected, name)) return beyond(at, expected[name], found[name]);
    return LEFT_OUT.has(at) || OF_BASE_RATE.test(at) ? [] : [at];
  });
}
