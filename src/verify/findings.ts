import type { Hex } from 'viem';
import type { SchemaName } from '../chain/eas/attestation-schemas.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import type { CheckId } from './catalogue.ts';
import { toPlainLine } from './plain-line.ts';

export type CheckedValue = string | number | boolean | null;

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
}

export interface Comparison {
  field: string;
  expected: CheckedValue;
  /** Undefined: missing, which no expected value equals. */
  actual: CheckedValue | undefined;
  /** Explanation of a difference; default: the field with both values. */
  because?: string;
}

export const NO_SUBJECT: FindingSubject = { horizonDays: null, day: null, sequence: null, uid: null };

/** Collects the results of checks. */
export interface Findings {
  /** @returns whether the values are equal */
  compare(check: CheckId, subject: FindingSubject, comparison: Comparison): boolean;
  fail(check: CheckId, subject: FindingSubject, comparison: Required<Comparison>): void;
  /** Adds a check whose evidence is missing. @param isDue default true: without it there is no verdict */
  leave(check: CheckId, subject: FindingSubject, because: string, isDue?: boolean): void;
  /** Adds information that is no result of a check. */
  note(text: string): void;
  readonly list: readonly Finding[];
  readonly notes: readonly string[];
}

export function createFindings(): Findings {
  const list: Finding[] = [];
  const notes: string[] = [];

  function add({ field, expected, actual = null, because, ...finding }: Omit<Finding, 'actual'> & Pick<Comparison, 'actual'>): void {
    const values = { expected: toPlainValue(expected), actual: toPlainValue(actual) };
    list.push({ ...finding, field: toPlainLine(field), ...values, because: toPlainLine(because) });
  }

  return {
    list,
    notes,
    compare(check, subject, { field, expected, actual, because }) {
      const isEqual = normalizeHex(expected) === normalizeHex(actual);
      const values = `expected ${toPlainValue(expected) ?? 'nothing'}, found ${toPlainValue(actual ?? null) ?? 'nothing'}`;
      const reason = because === undefined ? `${field}: ${values}` : `${because} (${values})`;
      const result = { outcome: isEqual ? 'pass' : 'fail', because: isEqual ? '' : reason } as const;
      add({ check, subject, field, expected, actual, isDue: true, ...result });
      return isEqual;
    },
    fail: (check, subject, comparison) => add({ check, outcome: 'fail', subject, ...comparison, isDue: true }),
    leave: (check, subject, because, isDue = true) =>
      add({ check, outcome: 'unknown', subject, field: check, expected: null, actual: null, because, isDue }),
    note: (text) => void notes.push(toPlainLine(text)),
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
