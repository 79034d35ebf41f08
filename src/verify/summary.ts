import type { SchemaName } from '../chain/eas/schemas.ts';
import type { CheckedRow } from './checks/forecast.ts';
import { CATALOGUE, type CheckId, type Finding, formatInstant, formatSubject, getCheck, NO_SUBJECT } from './findings.ts';

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

/** Checks that concern the record as a whole: of one forecast they are listed only where they fail. */
const RECORD_CHECKS: readonly CheckId[] = ['oneClose', 'shown', 'figure', 'evidence'];
/** Checks of a resolution that concern a forecast before it, too. */
const CHECKS_BEFORE_OUTCOME: readonly CheckId[] = ['revealed', 'opening'];

/** Whether a check concerns a single forecast in its state: resolved, pending, or void (late or missed). */
function concernsForecast({ id, appliesTo }: CatalogueEntry, { resolution, late, missed }: CheckedRow): boolean {
  if (RECORD_CHECKS.includes(id)) return false;
  const isVoid = late || missed;
  if (appliesTo === 'resolution' && isVoid) return id === 'void';
  if (appliesTo === 'resolution') return id !== 'void' && (resolution !== null || CHECKS_BEFORE_OUTCOME.includes(id));
  if (id === 'distributions' || id === 'scores') return resolution !== null && !isVoid;
  if (id === 'move') return !isVoid;
  return id !== 'inTime' || !missed;
}

const REST_OF_RECORD = 'the rest of the record was not read: svc verify all, or svc audit';
/** Why a check has no finding: its evidence was not looked for. */
const MISSING_EVIDENCE: Partial<Record<CheckId, string>> = {
  blockTime: 'the block of its event was not read',
  oneResolution: 'events were not searched for a second one',
  price: 'no independent prices were read (svc verify --prices)',
  move: 'the metadata of its day was not read',
  scores: 'its distributions were not opened',
  sequence: REST_OF_RECORD,
  row: 'no service was named whose claims could be compared',
};

export interface MadeCheck {
  check: CheckId;
  /** Its rule. */
  what: string;
  ok: boolean;
  /** What of it could not be checked, and why; null: nothing. */
  open: string | null;
  /** The comparisons that fail. */
  differences: (Pick<Finding, 'field' | 'expected' | 'actual'> & { attestation: SchemaName })[];
}

export interface LeftCheck {
  check: CheckId;
  /** Its title in lower case. */
  what: string;
  reason: string;
}

export interface ForecastChecks {
  /** Number of `checks` that hold. */
  agreeing: number;
  /** Number of `checks` and `unchecked`, which the state of the forecast determines. */
  total: number;
  checks: MadeCheck[];
  unchecked: LeftCheck[];
}

/**
 * The checks of one forecast, one entry a check, in the order of the catalogue: the same list whatever made them. Each is in `checks`, or,
 * when it could not be made, in `unchecked`. @param row null: the prediction could not be read, and the list has what was found
 */
export function listForecastChecks(findings: readonly Finding[], row: CheckedRow | null): ForecastChecks {
  const byId = Map.groupBy(findings, ({ check }) => check);
  const entries = CATALOGUE.flatMap((check) => {
    const found = byId.get(check.id) ?? [];
    const isListed = row === null ? found.length > 0 : concernsForecast(check, row) || found.some(({ outcome }) => outcome === 'fail');
    return isListed ? [buildEntry(check, found, row)] : [];
  });
  const checks = entries.filter((entry) => 'ok' in entry);
  const unchecked = entries.filter((entry) => 'reason' in entry);
  return { agreeing: checks.filter(({ ok }) => ok).length, total: entries.length, checks, unchecked };
}

type CatalogueEntry = (typeof CATALOGUE)[number];

function buildEntry(
  { id: check, title, rule: what }: CatalogueEntry,
  found: readonly Finding[],
  row: CheckedRow | null,
): MadeCheck | LeftCheck {
  const { pass = [], fail = [], unknown = [] } = Object.groupBy(found, ({ outcome }) => outcome);
  const differences = fail.map(({ subject: { attestation = 'prediction' }, field, expected, actual }) => ({
    ...{ attestation, field, expected, actual },
  }));
  // It is no failure of a forecast that counts for nothing, but the check does not hold.
  if (check === 'inTime' && row?.late) return { check, what, ok: false, open: null, differences: [describeLateness(row)] };
  const reason = [...new Set(unknown.map(({ because }) => because))].join('; ');
  if (pass.length + fail.length === 0)
    return { check, what: title.toLowerCase(), reason: reason || (MISSING_EVIDENCE[check] ?? 'its evidence was not read') };
  return { check, what, ok: fail.length === 0, open: reason || (check === 'sequence' ? REST_OF_RECORD : null), differences };
}

function describeLateness({ prediction: { at, data } }: CheckedRow): MadeCheck['differences'][number] {
  const expected = `before ${formatInstant(data.windowOpensAt)}`;
  return { attestation: 'prediction', field: 'time', expected, actual: formatInstant(at) };
}

function countFindings(findings: readonly Finding[]) {
  const { pass = [], fail = [], unknown = [] } = Object.groupBy(findings, ({ outcome }) => outcome);
  const failedIds = [...new Set(fail.map(({ check }) => check))];
  return { made: pass.length + fail.length, failed: fail.length, failedIds, unknown, gaps: unknown.filter(({ isDue }) => isDue) };
}

/** `25 of 26 checks agree`: the count of a list, wherever it is shown. */
export function formatAgreement({ agreeing, total }: Pick<ForecastChecks, 'agreeing' | 'total'>): string {
  return `${agreeing} of ${formatCount(total)} agree`;
}

/** The verdict about one forecast, in one line. @param row null: it could not be read */
export function formatForecastVerdict(
  findings: readonly Finding[],
  row: CheckedRow | null,
  list = listForecastChecks(findings, row),
): string {
  const { failed, failedIds, unknown, gaps } = countFindings(findings);
  const { total, checks, unchecked } = list;
  if (failed > 0) return `${failedIds.length} of ${formatCount(total)} FAIL (${failedIds.join(', ')}): do not rely on this forecast`;
  if (checks.length === 0 || row === null) return `nothing could be checked: ${unknown.map(({ because }) => because).join('; ')}`;
  if (gaps.length > 0) return `${gaps.map(({ because }) => because).join('; ')}; ${formatAgreement(list)}, none fails`;
  const inPart = checks.filter(({ open }) => open !== null).map(({ check }) => `${getCheck(check).title.toLowerCase()} in part`);
  return `${formatAgreement(list)}: ${describeRow(row)}; not checked: ${[...unchecked.map(({ what }) => what), ...inPart].join(', ')}`;
}

/** The verdict about a whole record, in one line. */
export function formatRecordVerdict(findings: readonly Finding[]): string {
  const { made, failed, failedIds, gaps } = countFindings(findings);
  if (failed > 0) return `${formatNumber(failed)} of ${formatCount(made)} FAIL (${failedIds.join(', ')})`;
  // What an endpoint lacks is no agreement.
  if (gaps.some(({ isDoubt }) => isDoubt))
    return `${formatNumber(gaps.length)} of ${formatCount(made + gaps.length)} could not be made, none fails`;
  return `${formatCount(made)} agree${gaps.length === 0 ? '' : `, ${formatNumber(gaps.length)} could not be made`}`;
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
