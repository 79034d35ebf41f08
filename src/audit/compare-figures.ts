import { horizonName } from '../forecast/model.ts';
import type { ClaimedScorecard } from './claims.ts';
import type { Findings, Subject, Told } from './findings.ts';
import { expectedFigures, type Recomputed } from './recompute.ts';

export interface FigureContext {
  /** How far figures that rest on the base rate may be off: its prices may be another source's. */
  baseRateTolerance: number;
  findings: Findings;
}

/** Rounding of sums in another order. */
const ROUNDING = 1e-9;

/** Figures that rest on the base rate of the training years. */
const OF_BASE_RATE = /climatology/i;

/** Compares every figure of a scorecard that chain and prices tell; what only one of both has is passed over. */
export function compareFigures(recomputed: Recomputed, claim: ClaimedScorecard, context: FigureContext): void {
  const { horizonDays } = recomputed;
  const { summary, stats, statistics, ofHorizon } = expectedFigures(recomputed);
  const subject: Subject = { horizonDays, day: null, sequence: null, uid: null };
  const compare = (path: string, expected: unknown, found: unknown) => compareTree({ path, expected, found }, { ...context, subject });
  compare('summary', summary, claim.summary);
  compare('stats', stats, claim.stats);
  compare('statistics', statistics, claim.statistics);
  const own = claim.byHorizon?.find(({ horizon }) => horizon === horizonName(horizonDays));
  compare('byHorizon', ofHorizon, own);
}

interface Figure {
  path: string;
  expected: unknown;
  found: unknown;
}

function compareTree({ path, expected, found }: Figure, context: FigureContext & { subject: Subject }): void {
  if (expected === undefined || found === undefined) return;
  if (isTree(expected) && isTree(found)) {
    for (const key of Object.keys(expected)) {
      compareTree({ path: `${path}.${key}`, expected: expected[key], found: found[key] }, context);
    }
    // Rows that are too many or too few are in no pair.
    if (!Array.isArray(expected)) return;
    compareLeaf({ path: `${path}.length`, expected: expected.length, found: found.length }, context);
    return;
  }
  compareLeaf({ path, expected, found }, context);
}

function compareLeaf(
  { path, expected, found }: Figure,
  { findings, subject, baseRateTolerance }: FigureContext & { subject: Subject },
): void {
  const tolerance = OF_BASE_RATE.test(path) ? baseRateTolerance : 0;
  const close = typeof expected === 'number' && typeof found === 'number' && isClose(expected, found, tolerance);
  const because = `the service tells another ${path}`;
  findings.compare('figure', subject, { field: path, expected: told(expected), found: close ? told(expected) : told(found), because });
}

function isClose(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= Math.max(tolerance, ROUNDING * Math.max(1, Math.abs(a)));
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function told(value: unknown): Told {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  return typeof value === 'string' ? value.slice(0, 300) : 'figures';
}
