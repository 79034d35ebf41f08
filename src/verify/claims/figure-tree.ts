import type { CheckedValue, FindingSubject, Findings } from '../findings.ts';

export interface TreeContext {
  subject: FindingSubject;
  /** The prices are those of the record itself, so each figure must be equal. */
  ownPrices: boolean;
  /** Collects figures that prices of another source can neither confirm nor refute. */
  doubt(figure: DoubtfulFigure): void;
  findings: Findings;
}

export interface DoubtfulFigure {
  horizonDays: number | null;
  path: string;
  expected: number;
  found: number;
}

interface ComparedFigure {
  path: string;
  expected: unknown;
  found: unknown;
}

/** Compares each expected leaf; members that only `found` has are skipped. */
export function compareTree({ path, expected, found }: ComparedFigure, context: TreeContext): void {
  if (!isTree(expected)) compareLeaf({ path, expected, found }, context);
  else if (!isTree(found) || Array.isArray(expected) !== Array.isArray(found)) recordFigure({ path, expected, found }, false, context);
  else {
    const isList = Array.isArray(expected);
    if (isList) compareLeaf({ path: `${path}.length`, expected: expected.length, found: found.length }, context);
    for (const key of Object.keys(expected)) {
      const isThere = Object.hasOwn(found, key);
      const member = { path: `${path}.${key}`, expected: expected[key], found: isThere ? found[key] : undefined };
      // The length already differs for a missing entry of a list.
      if (isThere || !isList) compareTree(member, context);
    }
  }
}

/** Names that only `found` has. */
export function listExtraNames(path: string, expected: unknown, found: unknown): string[] {
  if (!isTree(expected) || !isTree(found) || Array.isArray(expected)) return [];
  return Object.keys(found).flatMap((name) =>
    Object.hasOwn(expected, name) ? listExtraNames(`${path}.${name}`, expected[name], found[name]) : [`${path}.${name}`],
  );
}

/** Rounding differences of sums in another order. */
const ROUNDING_TOLERANCE = 1e-9;

function compareLeaf(figure: ComparedFigure, context: TreeContext): void {
  const { path, expected, found } = figure;
  if (typeof expected === 'number' && typeof found === 'number') {
    const distance = Math.abs(expected - found);
    const [equalWithin, possibleWithin] = context.ownPrices ? [0, 0] : getTolerance(path);
    const isEqual = distance <= Math.max(equalWithin, ROUNDING_TOLERANCE * Math.max(1, Math.abs(expected)));
    if (isEqual || distance > possibleWithin) recordFigure(figure, isEqual, context);
    else context.doubt({ horizonDays: context.subject.horizonDays, path, expected, found });
  } else recordFigure(figure, expected === found, context);
}

/**
 * Tolerances of figures that depend on the base rate of the training years, for closes of another source: equal up to the first, doubtful
 * up to the second. Base rates that differ by 0.008 move a skill by up to 0.02 in a short record, while published skills are about 0.002.
 * A skill is about four times a score.
 */
function getTolerance(path: string): [equal: number, possible: number] {
  if (/\.climatology$|\.climatologySkill\.brier$/.test(path)) return [1.5e-4, 6e-3];
  return path.includes('.climatologySkill.') ? [6e-4, 2.4e-2] : [0, 0];
}

function recordFigure({ path, expected, found }: ComparedFigure, isEqual: boolean, { findings, subject }: TreeContext): void {
  const should = toCheckedValue(expected);
  const actual = isEqual ? should : toCheckedValue(found);
  const omits = `the service omits ${path} (expected ${should})`;
  const because = found === undefined ? omits : `the service shows another ${path} (expected ${should}, found ${actual})`;
  if (isEqual) findings.compare('figure', subject, { field: path, expected: should, actual });
  else findings.fail('figure', subject, { field: path, expected: should, actual, because });
}

export function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const MAX_VALUE_LENGTH = 300;

function toCheckedValue(value: unknown): CheckedValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) return value ?? null;
  return typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : 'figures';
}
