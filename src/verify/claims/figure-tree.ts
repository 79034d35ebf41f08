import type { CheckId } from '../catalogue.ts';
import type { CheckedValue, FindingSubject, Findings } from '../findings.ts';

export interface TreeContext {
  check: CheckId;
  subject: FindingSubject;
  findings: Findings;
  /** Distances of a number that are equal, and that prices of another source can neither confirm nor refute; default: none. */
  getTolerance?(path: string, expected: number): readonly [equal: number, doubtful: number];
  /** Collects the doubtful figures. */
  onDoubt?(figure: { path: string; expected: number; found: number }): void;
  /** Collects the names that only `found` has. */
  onExtra?(path: string): void;
}

interface ComparedFigure {
  /** Empty for the root. */
  path: string;
  expected: unknown;
  found: unknown;
}

/** Compares each expected leaf of figures or of a row. Undefined: the evidence does not determine it. */
export function compareTree({ path, expected, found }: ComparedFigure, context: TreeContext): void {
  if (!isTree(expected)) compareLeaf({ path, expected, found }, context);
  else if (isTree(found) && Array.isArray(expected) === Array.isArray(found)) compareMembers(path, [expected, found], context);
  else compareLeaf({ path, expected: 'figures', found: found === undefined ? undefined : describeOther(found) }, context);
}

type Tree = Record<string, unknown>;

function compareMembers(path: string, [expected, found]: readonly [Tree, Tree], context: TreeContext): void {
  const isList = Array.isArray(expected);
  const join = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (isList) compareLeaf({ path: join('length'), expected: expected.length, found: found.length }, context);
  else for (const name of Object.keys(found)) if (!Object.hasOwn(expected, name)) context.onExtra?.(join(name));
  for (const [name, value] of Object.entries(expected)) {
    const isThere = Object.hasOwn(found, name);
    // The length already differs for a missing entry of a list.
    if (value === undefined || (!isThere && isList)) continue;
    compareTree({ path: join(name), expected: value, found: isThere ? found[name] : undefined }, context);
  }
}

function compareLeaf({ path, expected, found }: ComparedFigure, { check, subject, findings, ...context }: TreeContext): void {
  const should = toCheckedValue(expected) ?? null;
  let actual = toCheckedValue(found);
  if (typeof expected === 'number' && typeof found === 'number') {
    const distance = Math.abs(expected - found);
    const [equal, doubtful] = context.getTolerance?.(path, expected) ?? [0, 0];
    if (distance <= equal) actual = should;
    else if (distance <= doubtful) {
      context.onDoubt?.({ path, expected, found });
      return;
    }
  }
  const because = `the service ${found === undefined ? 'omits' : 'shows another'} ${path}`;
  findings.compare(check, subject, { field: path, expected: should, actual, because });
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

const describeOther = (found: unknown) => `something else: ${JSON.stringify(found)}`;

function toCheckedValue(value: unknown): CheckedValue | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  return isTree(value) ? describeOther(value) : (value as CheckedValue | undefined);
}
