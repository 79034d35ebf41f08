import type { Hex } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';

/** Each check with its requirement. Differences carry the name. */
export const CHECKS = {
  form: 'attestations have this attester, our schemas and the time of their block; they are irrevocable, never expire and are readable',
  windows: 'the outcome window follows from day and horizon',
  sequence: 'one forecast per day and horizon, numbered from 1 without gap or duplicate',
  link: 'each forecast refers to the previous one',
  resolution: 'one resolution per forecast committed in time, not before its window ends',
  opening: 'the revealed salt and values open the commitment',
  values: 'signal, direction, confidence and probability are consistent',
  revealed: 'every forecast is revealed after its window',
  oneClose: 'a day has the same close in all resolutions',
  price: 'closes equal the independent prices',
  outcome: 'return and outcome follow from the closes',
  shown: 'the service shows exactly the forecasts on chain',
  row: 'each row of the service equals chain and prices',
  figure: "the service's figures follow from the rows",
} as const;

export type CheckName = keyof typeof CHECKS;

export type ComparedValue = string | number | boolean | null;

export interface FindingSubject {
  horizonDays: number | null;
  day: Day | null;
  sequence: number | null;
  uid: Hex | null;
}

export interface AuditDifference extends Omit<FindingSubject, 'day'> {
  check: CheckName;
  /** `YYYY-MM-DD` of the forecast. */
  date: string | null;
  field: string;
  expected: ComparedValue;
  found: ComparedValue;
  /** The difference in one sentence. */
  message: string;
}

export interface FieldComparison {
  field: string;
  expected: ComparedValue;
  found: ComparedValue;
  /** Explanation of a difference; default: the field with both values. */
  because?: string;
}

export const NO_SUBJECT: FindingSubject = { horizonDays: null, day: null, sequence: null, uid: null };

/** Collects passed checks and differences. */
export interface Findings {
  /** Counts a passed check or adds a difference. @returns whether the values are equal */
  compare(check: CheckName, subject: FindingSubject, comparison: FieldComparison): boolean;
  addDifference(check: CheckName, subject: FindingSubject, comparison: Required<FieldComparison>): void;
  /** Adds information that is no difference. */
  addNote(text: string): void;
  /** Adds a check that was impossible: the verdict is `incomplete` unless something differs. */
  addGap(reason: string): void;
  readonly passed: Readonly<Record<CheckName, number>>;
  readonly differences: readonly AuditDifference[];
  readonly notes: readonly string[];
  readonly gaps: readonly string[];
}

export function createFindings(): Findings {
  const passed = Object.fromEntries(Object.keys(CHECKS).map((name) => [name, 0])) as Record<CheckName, number>;
  const differences: AuditDifference[] = [];
  const notes: string[] = [];
  const gaps: string[] = [];

  function addDifference(check: CheckName, subject: FindingSubject, comparison: Required<FieldComparison>): void {
    const { horizonDays, day, sequence, uid } = subject;
    const date = day === null ? null : formatDay(day);
    const message = toPlainLine(`${formatSubject(subject)}: ${comparison.because}`);
    const [expected, found] = [toPlainValue(comparison.expected), toPlainValue(comparison.found)];
    differences.push({ check, horizonDays, date, sequence, uid, field: toPlainLine(comparison.field), expected, found, message });
  }

  return {
    passed,
    differences,
    notes,
    gaps,
    addDifference,
    compare(check, subject, { field, expected, found, because }) {
      if (normalizeHex(expected) === normalizeHex(found)) {
        passed[check] += 1;
        return true;
      }
      const values = `expected ${expected ?? 'nothing'}, found ${found ?? 'nothing'}`;
      const explained = because === undefined ? `${field}: ${values}` : `${because} (${values})`;
      addDifference(check, subject, { field, expected, found, because: explained });
      return false;
    },
    addNote: (text) => void notes.push(toPlainLine(text)),
    addGap: (reason) => void gaps.push(toPlainLine(reason)),
  };
}

/** Sanitizes untrusted text to one line: control and format characters, which a terminal would interpret, become U+FFFD. */
export function toPlainLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

function toPlainValue(value: ComparedValue): ComparedValue {
  return typeof value === 'string' ? toPlainLine(value) : value;
}

/** `2026-03-05 7d, sequence 12 (0x..)`. */
export function formatSubject({ horizonDays, day, sequence, uid }: FindingSubject): string {
  const forecast = [day === null ? null : formatDay(day), horizonDays === null ? null : `${horizonDays}d`].filter(Boolean).join(' ');
  const named = `${forecast}${sequence === null ? '' : `, sequence ${sequence}`}`;
  if (named === '') return uid ?? 'the record';
  return uid === null ? named : `${named} (${uid})`;
}

/** Makes hex comparison case-insensitive. */
function normalizeHex(value: ComparedValue): ComparedValue {
  return typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value;
}
