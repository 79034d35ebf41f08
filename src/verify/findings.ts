import type { Hex } from 'viem';
import type { SchemaName } from '../chain/eas/attestation-schemas.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import type { CheckId } from './catalogue.ts';

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
