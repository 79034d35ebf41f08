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
  else if (!isTree(found) || Array.isArray(expected) !== Array.isArray(found)) recordUnequal({ path, expected, found }, context);
  else if (Array.isArray(expected) && Array.isArray(found)) compareLists(path, expected, found, context);
  else compareMembers(path, expected, found, context);
}

type FigureTree = Record<string, unknown>;

function compareMembers(path: string, expected: FigureTree, found: FigureTree, context: TreeContext): void {
  for (const key of Object.keys(expected)) {
    const value = Object.hasOwn(found, key) ? found[key] : undefined;
    compareTree({ path: `${path}.${key}`, expected: expected[key], found: value }, context);
  }
}

function compareLists(path: string, expected: readonly unknown[], found: readonly unknown[], context: TreeContext): void {
  // The pairs below do not include surplus or missing entries.
  compareLeaf({ path: `${path}.length`, expected: expected.length, found: found.length }, context);
  expected.slice(0, found.length).forEach((value, index) => {
    compareTree({ path: `${path}.${index}`, expected: value, found: found[index] }, context);
  });
}

/** Rounding differences of sums in another order. */
const ROUNDING_TOLERANCE = 1e-9;

function compareLeaf(figure: ComparedFigure, context: TreeContext): void {
  const { path, expected, found } = figure;
  if (typeof expected === 'number' && typeof found === 'number') compareNumber({ path, expected, found }, context);
  else if (expected === found) recordEqual(figure, context);
  else recordUnequal(figure, context);
}

function compareNumber(figure: { path: string; expected: number; found: number }, context: TreeContext): void {
  const { path, expected, found } = figure;
  const distance = Math.abs(expected - found);
  const [equalWithin, possibleWithin] = context.ownPrices ? [0, 0] : getTolerance(path);
  if (distance <= Math.max(equalWithin, ROUNDING_TOLERANCE * Math.max(1, Math.abs(expected)))) recordEqual(figure, context);
  else if (distance > possibleWithin) recordUnequal(figure, context);
  else context.doubt({ horizonDays: context.subject.horizonDays, path, expected, found });
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

function recordEqual({ path, expected }: ComparedFigure, { findings, subject }: TreeContext): void {
  findings.compare('figure', subject, { field: path, expected: toCheckedValue(expected), actual: toCheckedValue(expected) });
}

function recordUnequal({ path, expected, found }: ComparedFigure, { findings, subject }: TreeContext): void {
  const [should, is] = [toCheckedValue(expected), toCheckedValue(found)];
  const because =
    found === undefined
      ? `the service omits ${path} (expected ${should})`
      : `the service shows another ${path} (expected ${should}, found ${is})`;
  findings.fail('figure', subject, { field: path, expected: should, actual: is, because });
}

export function isTree(value: unknown): value is FigureTree {
  return typeof value === 'object' && value !== null;
}

const MAX_VALUE_LENGTH = 300;

function toCheckedValue(value: unknown): CheckedValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) return value ?? null;
  return typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : 'figures';
}
