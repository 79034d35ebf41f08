import type { Hex } from 'viem';
import type { SchemaName } from '../chain/eas/schemas.ts';
import { type Day, formatDay } from '../forecast/day.ts';

type CheckedValue = string | number | boolean | null;

export interface FindingSubject {
  attestation?: SchemaName;
  horizonDays: number | null;
  day: Day | null;
  sequence: number | null;
  uid: Hex | null;
}

/** The result of one check on one subject. */
export interface Finding {
  check: CheckId;
  outcome: 'pass' | 'fail' | 'unknown';
  subject: FindingSubject;
  field: string;
  expected: CheckedValue;
  actual: CheckedValue;
  /** Why it failed or is unknown; empty for a pass. */
  because: string;
  /** Of `unknown`: false when the evidence cannot be there yet, or was not asked for. */
  isDue: boolean;
  /** Of `unknown`: the endpoint of the chain lacks evidence that is there, or may be. */
  isDoubt?: boolean;
}

export interface Comparison extends Pick<Finding, 'field' | 'expected'> {
  /** Undefined: missing, which no expected value equals. */
  actual: CheckedValue | undefined;
  /** Explanation of a difference; default: the field with both values. */
  because?: string;
}

export const NO_SUBJECT: FindingSubject = { horizonDays: null, day: null, sequence: null, uid: null };

/** Collects the results of checks. */
export type Findings = ReturnType<typeof createFindings>;

export function createFindings() {
  const list: Finding[] = [];
  const notes: string[] = [];

  function add({ field, expected, actual = null, because, ...finding }: Omit<Finding, 'actual'> & Pick<Comparison, 'actual'>): void {
    const values = { expected: toPlainValue(expected), actual: toPlainValue(actual) };
    list.push({ ...finding, field: toPlainLine(field), ...values, because: toPlainLine(because) });
  }

  return {
    list: list as readonly Finding[],
    notes: notes as readonly string[],
    /** @returns whether the values are equal */
    compare(check: CheckId, subject: FindingSubject, { field, expected, actual, because }: Comparison): boolean {
      const isEqual = normalizeHex(expected) === normalizeHex(actual);
      const values = `expected ${toPlainValue(expected) ?? 'nothing'}, found ${toPlainValue(actual ?? null) ?? 'nothing'}`;
      const reason = because === undefined ? `${field}: ${values}` : `${because} (${values})`;
      const result = { outcome: isEqual ? 'pass' : 'fail', because: isEqual ? '' : reason } as const;
      add({ check, subject, field, expected, actual, isDue: true, ...result });
      return isEqual;
    },
    fail(check: CheckId, subject: FindingSubject, comparison: Required<Comparison>): void {
      add({ check, outcome: 'fail', subject, ...comparison, isDue: true });
    },
    /** Adds a check whose evidence is missing. @param isDue default true: without it there is no verdict */
    leave(check: CheckId, subject: FindingSubject, because: string, isDue = true): void {
      add({ check, outcome: 'unknown', subject, field: check, expected: null, actual: null, because, isDue });
    },
    /** Adds a check whose evidence the endpoint lacks, which proves nothing about the record. */
    doubt(check: CheckId, subject: FindingSubject, because: string): void {
      add({ check, outcome: 'unknown', subject, field: check, expected: null, actual: null, because, isDue: true, isDoubt: true });
    },
    /** Adds information that is no result of a check. */
    note: (text: string) => void notes.push(toPlainLine(text)),
  };
}

const MAX_VALUE_LENGTH = 300;

function toPlainValue(value: CheckedValue): CheckedValue {
  return typeof value === 'string' ? toPlainLine(value.slice(0, MAX_VALUE_LENGTH)) : value;
}

/** Makes hex comparison case-insensitive. */
function normalizeHex<Value>(value: Value): Value | string {
  return typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value;
}

/** `2026-03-05 7d, sequence 12 (0x..)`. */
export function formatSubject({ horizonDays, day, sequence, uid }: FindingSubject): string {
  const forecast = [day === null ? null : formatDay(day), horizonDays === null ? null : `${horizonDays}d`].filter(Boolean).join(' ');
  const named = `${forecast}${sequence === null ? '' : `, sequence ${sequence}`}`;
  if (named === '') return uid ?? 'the record';
  return uid === null ? named : `${named} (${uid})`;
}

/** Sanitizes untrusted text to one line: control and format characters, which a terminal would interpret, become U+FFFD. */
export function toPlainLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

const MAX_DATE_MS = 8.64e15;

/** Formats as ISO 8601 without throwing: the chain may hold a number beyond the range of dates. */
export function formatInstant(time: Date | number): string {
  return Math.abs(Number(time)) <= MAX_DATE_MS ? new Date(time).toISOString() : 'a time that does not exist';
}

/**
 * Title and rule (the condition that holds for an honest record) of every check, in the order of reports. A check is about any attestation,
 * one of the two kinds, the record as a whole, or the claims of a service. Corroborations come from outside the chain, and no verdict needs
 * them. Ids appear in reports and JSON: never rename one.
 */
const CHECKS = {
  attestation: {
    found: ['On chain', 'The chain has an attestation of this uid.'],
    uid: ['Content', 'Its uid is the digest of its content: nothing was changed.'],
    schema: ['Schema', 'It has the expected schema, without a resolver.'],
    attester: ['Attester', 'It was made by the wallet of the record.'],
    permanent: ['Permanence', 'It is irrevocable, not revoked, and never expires.'],
    blockTime: ['Block time', 'It has the time of its block, which is not in the future.'],
    data: ['Data', 'Its data decodes under its schema, with possible values and nothing else.'],
  },
  prediction: {
    windows: ['Outcome window', 'The window opens at 00:00 UTC after the day and lasts as long as the horizon.'],
    inTime: ['Commitment in time', 'Its block is earlier than its outcome window; a later one is void.'],
    onePrediction: ['Single prediction', 'The wallet made one prediction for its day and horizon.'],
    link: ['Link', 'It refers to the prediction of the day before over the same horizon.'],
    metadata: ['Metadata', 'The published metadata has the digest that it names.'],
  },
  resolution: {
    resolves: ['Reference', 'It refers to the prediction that it resolves.'],
    oneResolution: ['Single resolution', 'A forecast is resolved once.'],
    void: ['Void forecasts', 'A forecast that is late or missed is void and is never resolved.'],
    afterWindow: ['Early reveal', 'It was made after the outcome window had ended.'],
    revealed: ['Withheld reveal', 'A forecast is revealed within two days of the end of its window.'],
    opening: ['Commitment', 'Salt and values hash to the commitment of the prediction.'],
    values: ['Values', 'Signal, direction, confidence and P(up) are consistent.'],
    return: ['Return', 'The return follows from the two closes.'],
    outcome: ['Outcome', 'The outcome follows from the signal, the direction and the two closes.'],
    price: ['Closes', 'The closes equal the independent prices.'],
  },
  record: {
    sequence: ['Sequence', 'A horizon has one forecast a day, numbered from 1 without gap or duplicate.'],
    oneClose: ['One close a day', 'A day has the same close in all resolutions.'],
  },
  claims: {
    shown: ['Shown forecasts', 'The service shows exactly the forecasts on chain.'],
    row: ['Rows', 'What the service says of a forecast equals chain and prices.'],
    figure: ['Figures', 'The statistics of the service, recomputed from the rows, are the same.'],
    move: [
      'Size of the move',
      'It follows from the opened quantiles and the limits in the attested metadata, and the service shows the same.',
    ],
    distributions: ['Distributions', 'The distributions of champion and challengers open to the digests in its metadata.'],
    scores: ['Scores', 'Scores, references and differences follow from the opened distributions and the closes.'],
    evidence: ['Evidence', 'The evidence for or against a challenger follows from all its days.'],
  },
} as const satisfies Record<string, Record<string, readonly [title: string, rule: string]>>;

type IdsOf<Scope> = Scope extends keyof typeof CHECKS ? keyof (typeof CHECKS)[Scope] : never;
export type CheckId = IdsOf<keyof typeof CHECKS>;

/** Every check, in the order of reports. */
export const CATALOGUE = Object.entries(CHECKS).flatMap(([appliesTo, checks]) =>
  Object.entries<readonly [title: string, rule: string]>(checks).map(([id, [title, rule]]) => ({
    id: id as CheckId,
    title,
    rule,
    appliesTo,
  })),
);

export function getCheck(id: CheckId) {
  return CATALOGUE.find((check) => check.id === id)!;
}

/** Changes of evidence that no check notices. */
export const OUT_OF_REACH = [
  'the number of a block: only its time decides',
  'an independent price within the tolerance, and one before the training years',
  'the price at signal time before its commitment is opened',
  'distributions of a forecast before its outcome, and those of days before they were committed',
  'the limits of the size of the move, which follow from the inputs of 730 days before',
  'P(big move) by GARCH, and by the other references without prices of the training years or within their tolerance',
  'regimes, baselines, wagers and skill against the market, which no attestation holds',
] as const;

interface TreeContext {
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

/** Rounding differences of sums in another order. */
const ROUNDING_TOLERANCE = 1e-9;

export function getRoundingTolerance(_: string, expected: number): [equal: number, doubtful: number] {
  return [ROUNDING_TOLERANCE * Math.max(1, Math.abs(expected)), 0];
}

/**
 * Tolerances of figures that depend on the base rate of the training years, for closes of another source. Base rates that differ by 0.008
 * move a skill by up to 0.02 in a short record, while published skills are about 0.002; a skill is about four times a score.
 */
export function getSourceTolerance(path: string, expected: number): [equal: number, doubtful: number] {
  // A close counts three times as much among those of four years.
  if (/\.climatology4y$|\.climatology4ySkill\.brier$/.test(path)) return [4.5e-4, 1.8e-2];
  if (path.includes('.climatology4ySkill.')) return [1.8e-3, 7.2e-2];
  if (/\.climatology$|\.climatologySkill\.brier$/.test(path)) return [1.5e-4, 6e-3];
  return path.includes('.climatologySkill.') ? [6e-4, 2.4e-2] : getRoundingTolerance(path, expected);
}

/** One finding when all leaves agree, otherwise one per difference. @returns whether they agree */
export function compareAsOne(
  tree: ComparedFigure,
  check: CheckId,
  { getTolerance = getRoundingTolerance, ...context }: Omit<TreeContext, 'check' | 'onExtra'>,
): boolean {
  const own = createFindings();
  compareTree(tree, { ...context, check, findings: own, getTolerance });
  const failed = own.list.filter(({ outcome }) => outcome === 'fail');
  for (const { field, expected, actual, because } of failed)
    context.findings.fail(check, context.subject, { field, expected, actual, because });
  const agreed = { field: tree.path === '' ? check : tree.path, expected: 'equal', actual: 'equal' };
  return failed.length === 0 && context.findings.compare(check, context.subject, agreed);
}
