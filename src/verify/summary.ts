import type { CheckedRow } from './checks/forecast.ts';
import { CATALOGUE, type Finding, formatInstant, formatSubject, getCheck, NO_SUBJECT } from './findings.ts';

/** Numbers of each check, in the order of the catalogue. */
export function tallyChecks(findings: readonly Finding[]) {
  const tallies = new Map(CATALOGUE.map(({ id, rule }) => [id, { check: id, what: rule, pass: 0, fail: 0, unknown: 0 }]));
  for (const { check, outcome } of findings) tallies.get(check)![outcome] += 1;
  return [...tallies.values()].map(({ pass: passed, fail: failed, unknown, ...check }) => ({ ...check, passed, failed, unknown }));
}

/** `fail` if any check fails; otherwise `unknown` if one that is due could not be made. */
export function getVerdict(findings: readonly Finding[]): Finding['outcome'] {
  if (findings.some(({ outcome }) => outcome === 'fail')) return 'fail';
  return findings.some(({ outcome, isDue }) => outcome === 'unknown' && isDue) ? 'unknown' : 'pass';
}

/** Checks of one forecast that were made, one line each. A late forecast is no failure, but its check does not hold. */
export function listMadeChecks(findings: readonly Finding[]) {
  const made = tallyChecks(findings).filter(
    ({ check, passed, failed, unknown }) => passed + failed > 0 || (check === 'inTime' && unknown > 0),
  );
  return made.map(({ check, what, failed, passed }) => ({ check, what, ok: failed === 0 && passed > 0 }));
}

function countFindings(findings: readonly Finding[]) {
  const { pass = [], fail = [], unknown = [] } = Object.groupBy(findings, ({ outcome }) => outcome);
  const failedIds = [...new Set(fail.map(({ check }) => check))].join(', ');
  return { made: pass.length + fail.length, failed: fail.length, failedIds, unknown, gaps: unknown.filter(({ isDue }) => isDue) };
}

/** The verdict about one forecast, in one line, with the count of `shown`: the checks that are listed beside it. @param row null: it could not be read */
export function formatForecastVerdict(findings: readonly Finding[], row: CheckedRow | null, shown: readonly { ok: boolean }[]): string {
  const { failed, failedIds, unknown, gaps } = countFindings(findings);
  const [made, agreeing] = [shown.length, shown.filter(({ ok }) => ok).length];
  if (failed > 0) return `${made - agreeing} of ${made} checks FAIL (${failedIds}): do not rely on this forecast`;
  if (made === 0 || row === null) return `nothing could be checked: ${unknown.map(({ because }) => because).join('; ')}`;
  if (gaps.length > 0) return `${gaps.map(({ because }) => because).join('; ')}; ${formatCount(made)}, none fails`;
  const madeIds = new Set(findings.filter(({ outcome }) => outcome !== 'unknown').map(({ check }) => check));
  const titles = unknown.map(({ check }) => `${getCheck(check).title.toLowerCase()}${madeIds.has(check) ? ' in part' : ''}`);
  const open = [...new Set(titles)].join(', ');
  return `${agreeing} of ${formatCount(made)} agree: ${describeRow(row)}; ${open === '' ? 'nothing is left unchecked' : `not checked: ${open}`}`;
}

/** The verdict about a whole record, in one line. */
export function formatRecordVerdict(findings: readonly Finding[]): string {
  const { made, failed, failedIds, gaps } = countFindings(findings);
  if (failed > 0) return `${formatNumber(failed)} of ${formatCount(made)} FAIL (${failedIds})`;
  // What an endpoint lacks is no agreement.
  if (gaps.some(({ isDoubt }) => isDoubt))
    return `${formatNumber(gaps.length)} of ${formatCount(made + gaps.length)} could not be made, none fails`;
  return `${formatCount(made)} agree${gaps.length === 0 ? '' : `, ${formatNumber(gaps.length)} could not be made`}`;
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
