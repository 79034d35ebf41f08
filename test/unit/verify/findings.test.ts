import fc, { type JsonValue } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareTree,
  createFindings,
  getRoundingTolerance,
  getSourceTolerance,
  isTree,
  NO_SUBJECT,
  toPlainLine,
} from '../../../src/verify/findings.ts';

/** What is said of a tree that should be another. */
function compared(expected: unknown, found: unknown, { path = 'summary', ownPrices = true } = {}) {
  const findings = createFindings();
  const doubts: string[] = [];
  const getTolerance = ownPrices ? getRoundingTolerance : getSourceTolerance;
  const onDoubt = ({ path: at }: { path: string }) => void doubts.push(at);
  compareTree({ path, expected, found }, { check: 'figure', subject: NO_SUBJECT, findings, getTolerance, onDoubt });
  const { pass = [], fail = [] } = Object.groupBy(findings.list, ({ outcome }) => outcome);
  return { fields: fail.map(({ field }) => field), doubts, passed: pass.length };
}

/** Every way to a node of a tree. */
function pathsOf(tree: unknown): string[][] {
  return isTree(tree) ? Object.entries(tree).flatMap(([key, value]) => [[key], ...pathsOf(value).map((path) => [key, ...path])]) : [];
}

const GONE = Symbol('gone');

function changed(tree: unknown, [key, ...path]: string[], to: JsonValue | typeof GONE): unknown {
  const copy = structuredClone(tree) as Record<string, unknown>;
  if (path.length > 0) copy[key] = changed(copy[key], path, to);
  else if (to !== GONE) copy[key] = to;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy;
}

const figures = fc.letrec<{ tree: unknown; leaf: unknown; name: string }>((tie) => ({
  name: fc.constantFrom('n', 'wins', 'accuracy', 'low', 'constructor', 'length'),
  leaf: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 4 })),
  tree: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('n', 'wins', 'accuracy', 'low', 'constructor', 'length'), tie('tree'), { maxKeys: 4 }),
  ),
})).tree;

describe('compareTree', () => {
  it('reports no difference for equal trees', () => {
    fc.assert(
      fc.property(figures, (tree) => {
        expect(compared(tree, structuredClone(tree)).fields).toEqual([]);
      }),
    );
  });

  it('reports any changed or missing member at any depth', () => {
    const withPath = figures
      .filter((tree) => pathsOf(tree).length > 0)
      .chain((tree) => fc.tuple(fc.constant(tree), fc.constantFrom(...pathsOf(tree))));
    fc.assert(
      fc.property(withPath, fc.constantFrom(GONE, 'figures', 'another', 0.5, [], null), ([tree, path], to) => {
        const other = changed(tree, path, to as JsonValue);
        fc.pre(JSON.stringify(other) !== JSON.stringify(tree));
        expect(compared(tree, other).fields.length).toBeGreaterThan(0);
      }),
    );
  });

  it('reports a missing tree', () => {
    expect(compared({ wins: 1 }, 'figures').fields).toEqual(['summary']);
    expect(compared({ wins: 1 }, ['wins']).fields).toEqual(['summary']);
    expect(compared(null, { wins: 1 }).fields).toEqual(['summary']);
    expect(compared({ low: null }, {}).fields).toEqual(['summary.low']);
    const long = 'x'.repeat(1_000);
    expect(compared({ verdict: long }, { verdict: `${long}!` }).fields).toEqual(['summary.verdict']);
  });
});

describe('a figure that depends on the base rate', () => {
  const path = 'statistics.probabilities.climatologySkill.value';
  const others = { path, ownPrices: false };

  it.each([
    [path, 0.0009, 0.0014, 'right'],
    [path, 0.0009, 0.0026, 'open'],
    [path, 0.0009, 0.05, 'wrong'],
    ['summary.brier.climatology', 0.25, 0.2501, 'right'],
    // A skill of 0.0017 and more is made of it.
    ['summary.brier.climatology', 0.25, 0.2504, 'open'],
    ['byHorizon.7d.brier.climatology', 0.25, 0.26, 'wrong'],
    ['summary.brier.model', 0.25, 0.2501, 'wrong'],
  ])('%s of %d claimed as %d is %s with prices of another source', (at, expected, found, what) => {
    const { passed, doubts, fields } = compared(expected, found, { ...others, path: at });
    expect({ right: passed, open: doubts.length, wrong: fields.length }).toEqual({ right: 0, open: 0, wrong: 0, [what]: 1 });
  });

  it("is equal or wrong with the record's own prices", () => {
    expect(compared(0.0009, 0.00091, { path }).fields).toEqual([path]);
    expect(compared(0.0009, 0.0009 + 1e-12, { path }).fields).toEqual([]);
  });

  it('is wrong when it is not a number', () => {
    expect(compared(0.0009, '0.0009', others).fields).toEqual([path]);
    expect(compared(0.0009, null, others).fields).toEqual([path]);
  });
});
const HOSTILE = '\x1b[2J\x1b[HAGREES\x07\x9b1m\u202Eesrever\r\nnext';
const SHOWN = '\uFFFD[2J\uFFFD[HAGREES\uFFFD\uFFFD1m\uFFFDesrever next';

describe('untrusted text', () => {
  it('contains no control characters', () => {
    expect(toPlainLine(HOSTILE)).toBe(SHOWN);
    expect(toPlainLine('BUY UP, 12 345.67 USD (0xab)')).toBe('BUY UP, 12 345.67 USD (0xab)');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (points) => {
        expect(toPlainLine(String.fromCodePoint(...points))).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('is sanitized in all findings', () => {
    const findings = createFindings();
    findings.compare('row', NO_SUBJECT, { field: HOSTILE, expected: 'WIN', actual: HOSTILE });
    findings.fail('row', NO_SUBJECT, { field: 'status', expected: HOSTILE, actual: null, because: HOSTILE });
    findings.note(HOSTILE);
    findings.leave('row', NO_SUBJECT, HOSTILE);
    const { list, notes } = findings;
    expect(list[0]).toMatchObject({ field: SHOWN, actual: SHOWN, because: expect.stringContaining(`found ${SHOWN}`) });
    expect(list[1]).toMatchObject({ outcome: 'fail', expected: SHOWN, actual: null, because: SHOWN });
    expect(list[2]).toMatchObject({ outcome: 'unknown', because: SHOWN, isDue: true });
    expect(notes).toEqual([SHOWN]);
  });

  it('is compared unsanitized', () => {
    const findings = createFindings();
    expect(findings.compare('row', NO_SUBJECT, { field: 'status', expected: '\uFFFD', actual: '\x1b' })).toBe(false);
  });
});
