import { CATALOGUE, type CheckId, getCheck } from './catalogue.ts';
import type { CheckedRow } from './checks/forecast.ts';
import { type Finding, formatSubject, NO_SUBJECT } from './findings.ts';
import { formatInstant } from './format-instant.ts';

export interface CheckTally {
  check: CheckId;
  rule: string;
  passed: number;
  failed: number;
  unknown: number;
}

/** Numbers of each check, in the order of the catalogue. */
export function tallyChecks(findings: readonly Finding[]): CheckTally[] {
  const tallies = new Map(
    CATALOGUE.map(({ id, rule }) => [id as CheckId, { check: id as CheckId, rule, passed: 0, failed: 0, unknown: 0 }]),
  );
  for (const { check, outcome } of findings) {
    const tally = tallies.get(check)!;
    if (outcome === 'pass') tally.passed += 1;
    else if (outcome === 'fail') tally.failed += 1;
    else tally.unknown += 1;
  }
  return [...tallies.values()];
}

/** `fail` if any check fails; otherwise `unknown` if one that is due could not be made. */
export function getVerdict(findings: readonly Finding[]): Finding['outcome'] {
  if (findings.some(({ outcome }) => outcome === 'fail')) return 'fail';
  return findings.some(({ outcome, isDue }) => outcome === 'unknown' && isDue) ? 'unknown' : 'pass';
}

/** The verdict about one forecast, in one line. @param row null: it could not be read */
export function formatForecastVerdict(findings: readonly Finding[], row: CheckedRow | null): string {
  const made = findings.filter(({ outcome }) => outcome !== 'unknown');
  const failed = made.filter(({ outcome }) => outcome === 'fail');
  const gaps = findings.filter(({ outcome, isDue }) => outcome === 'unknown' && isDue);
  if (failed.length > 0) return `${failed.length} of ${made.length} checks FAIL (${listIds(failed)}): do not rely on this forecast`;
  const leftOpen = findings.filter(({ outcome }) => outcome === 'unknown');
  if (made.length === 0 || row === null) return `nothing could be checked: ${leftOpen.map(({ because }) => because).join('; ')}`;
  if (gaps.length > 0) return `${gaps.map(({ because }) => because).join('; ')}; ${formatCount(made.length)}, none fails`;
  const open = [...new Set(leftOpen.map(({ check }) => getCheck(check).title.toLowerCase()))];
  return `${made.length} of ${formatCount(made.length)} agree: ${describeRow(row)}; ${open.length === 0 ? 'nothing is left unchecked' : `not checked: ${open.join(', ')}`}`;
}

/** The verdict about a whole record, in one line. */
export function formatRecordVerdict(findings: readonly Finding[]): string {
  const made = findings.filter(({ outcome }) => outcome !== 'unknown');
  const failed = made.filter(({ outcome }) => outcome === 'fail');
  const gaps = findings.filter(({ outcome, isDue }) => outcome === 'unknown' && isDue).length;
  if (failed.length > 0) return `${formatNumber(failed.length)} of ${formatCount(made.length)} FAIL (${listIds(failed)})`;
  return `${formatCount(made.length)} agree${gaps === 0 ? '' : `, ${formatNumber(gaps)} could not be made`}`;
}

/** What a finding is about, as a sentence. */
export function describeFinding({ check, field }: Pick<Finding, 'check' | 'field'>): string {
  return check === 'row' ? `The ${field} that the service states equals chain and prices.` : getCheck(check).rule;
}

function listIds(findings: readonly Finding[]): string {
  return [...new Set(findings.map(({ check }) => check))].join(', ');
}

function formatCount(checks: number): string {
  return `${formatNumber(checks)} ${checks === 1 ? 'check' : 'checks'}`;
}

function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

function describeRow({ prediction, late, missed, status, resolution }: CheckedRow): string {
  const { day, horizonDays, resolvesAt } = prediction.data;
  const name = formatSubject({ ...NO_SUBJECT, day, horizonDays });
  if (missed) return `${name} is VOID: no forecast was made; it never counts`;
  if (late) return `${name} is VOID: it was committed after its window had opened and never counts`;
  const committed = `${name} was committed before its window opened`;
  if (resolution !== null) return `${committed}, and the revealed values match: ${status}`;
  return `${committed}; its window ends at ${formatInstant(resolvesAt)}`;
}
