import { CATALOGUE, getCheck } from './catalogue.ts';
import type { CheckedRow } from './checks/forecast.ts';
import { type Finding, formatInstant, formatSubject, NO_SUBJECT } from './findings.ts';

/** Numbers of each check, in the order of the catalogue. */
export function tallyChecks(findings: readonly Finding[]) {
  const tallies = new Map(CATALOGUE.map(({ id, rule }) => [id, { check: id, what: rule, pass: 0, fail: 0, unknown: 0 }]));
  for (const { check, outcome } of findings) tallies.get(check)![outcome] += 1;
  return [...tallies.values()].map(({ pass: passed, fail: failed, unknown, ...check }) => ({ ...check, passed, failed, unknown }));
}

/** `fail` if any check fails that is no corroboration; otherwise `unknown` if one that is due could not be made. */
export function getVerdict(findings: readonly Finding[]): Finding['outcome'] {
  if (findings.some(isDeciding)) return 'fail';
  return findings.some(({ outcome, isDue }) => outcome === 'unknown' && isDue) ? 'unknown' : 'pass';
}

/** Whether a finding is a failure that makes the verdict. */
function isDeciding({ check, outcome }: Finding): boolean {
  return outcome === 'fail' && getCheck(check).appliesTo !== 'corroboration';
}

function countFindings(findings: readonly Finding[]) {
  const { pass = [], fail: allFailed = [], unknown = [] } = Object.groupBy(findings, ({ outcome }) => outcome);
  const fail = allFailed.filter(isDeciding);
  const failedIds = [...new Set(fail.map(({ check }) => check))].join(', ');
  const refuted = [...new Set(allFailed.filter((one) => !isDeciding(one)).map(({ because }) => `; ${because}`))].join('');
  const counts = { made: pass.length + fail.length, failed: fail.length, failedIds, refuted };
  return { ...counts, unknown, gaps: unknown.filter(({ isDue }) => isDue) };
}

/** The verdict about one forecast, in one line. @param row null: it could not be read */
export function formatForecastVerdict(findings: readonly Finding[], row: CheckedRow | null): string {
  const { made, failed, failedIds, refuted, unknown, gaps } = countFindings(findings);
  if (failed > 0) return `${failed} of ${made} checks FAIL (${failedIds}): do not rely on this forecast`;
  if (made === 0 || row === null) return `nothing could be checked: ${unknown.map(({ because }) => because).join('; ')}`;
  if (gaps.length > 0) return `${gaps.map(({ because }) => because).join('; ')}; ${formatCount(made)}, none fails${refuted}`;
  const open = [...new Set(unknown.map(({ check }) => describeOpen(check, findings)))].join(', ');
  return `${made} of ${formatCount(made)} agree: ${describeRow(row)}; ${open === '' ? 'nothing is left unchecked' : `not checked: ${open}`}${refuted}`;
}

function describeOpen(check: Finding['check'], findings: readonly Finding[]): string {
  const isPartlyMade = findings.some((one) => one.check === check && one.outcome !== 'unknown');
  return `${getCheck(check).title.toLowerCase()}${isPartlyMade ? ' in part' : ''}`;
}

/** The verdict about a whole record, in one line. */
export function formatRecordVerdict(findings: readonly Finding[]): string {
  const { made, failed, failedIds, refuted, gaps } = countFindings(findings);
  if (failed > 0) return `${formatNumber(failed)} of ${formatCount(made)} FAIL (${failedIds})`;
  return `${formatCount(made)} agree${gaps.length === 0 ? '' : `, ${formatNumber(gaps.length)} could not be made`}${refuted}`;
}

/** What a finding is about, as a sentence. */
export function describeFinding({ check, field }: Pick<Finding, 'check' | 'field'>): string {
  return check === 'row' ? `The ${field} that the service states equals chain and prices.` : getCheck(check).rule;
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
  const rest = resolution === null ? `; its window ends at ${formatInstant(resolvesAt)}` : `, and the revealed values match: ${status}`;
  return `${name} was committed before its window opened${rest}`;
}
