import { type Hex, zeroHash } from 'viem';
import type { Prediction, Revelation } from '../../../audit/chain/chain-record.ts';
import { type AuditedRow, getCloseDays } from '../../../audit/checks/audited-row.ts';
import { auditForecast, matchRevelations } from '../../../audit/checks/check-resolutions.ts';
import { checkSequencePlace, toSubject } from '../../../audit/checks/check-sequences.ts';
import {
  type AuditDifference,
  CHECKS,
  type CheckName,
  createFindings,
  type Findings,
  formatSubject,
  NO_SUBJECT,
} from '../../../audit/checks/findings.ts';
import { formatInstant } from '../../../audit/checks/format-instant.ts';
import type { AuditPrices } from '../../../audit/prices/audit-prices.ts';
import { describeQuery, type ForecastQuery } from './forecast-query.ts';
import { type ForecastSearch, findCommitments, locatePrediction, locateRevelations, readPrediction } from './locate.ts';
import { findNewestForecast } from './newest.ts';

interface VerifyOptions extends Omit<ForecastSearch, 'findings'> {
  query: ForecastQuery;
  /** Independent closes; null: those on chain are not checked. */
  prices: AuditPrices | null;
  now: Date;
}

export interface ForecastCheck {
  check: 'found' | 'inTime' | CheckName;
  /** The condition that must hold. */
  what: string;
  ok: boolean;
}

export type VerifyVerdict = 'verified' | 'differs' | 'incomplete';

export interface ForecastVerification {
  verdict: VerifyVerdict;
  /** The verdict in one sentence. */
  summary: string;
  row: AuditedRow | null;
  checks: ForecastCheck[];
  differences: readonly AuditDifference[];
  notes: readonly string[];
  /** Checks that could not be made. */
  incomplete: readonly string[];
  /** Facts that no check covers, listed so that they are not taken for checked. */
  unchecked: string[];
}

/**
 * Reads a forecast from the chain and runs the checks of the audit on it.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyForecast({ query, prices, now, ...where }: VerifyOptions): Promise<ForecastVerification> {
  const findings = createFindings();
  const search = { ...where, findings };
  const prediction = await findPrediction(search, query);
  if (prediction === null) return buildNotFound(query, findings);
  await checkSingleCommitment(search, prediction);
  await checkPredecessor(search, prediction);
  const revelation = await findRevelation(search, prediction, now);
  const closes = prices === null || revelation === null ? new Map() : await prices.closes(Object.values(getCloseDays(prediction)));
  const row = auditForecast(prediction, revelation, { prices: prices ?? NO_PRICES, closes, now, findings });
  if (prices !== null && revelation !== null && closes.size < 2) findings.addGap(`${prices.source} has no price for a day that decides it`);
  return buildVerification(row, { findings, prices, now });
}

const NO_PRICES: AuditPrices = {
  source: 'the prices that were named (none: --prices)',
  toleranceBps: 0,
  endsOn: null,
  closes: async () => new Map(),
  history: async () => null,
};

function buildNotFound(query: ForecastQuery, { differences }: Findings): ForecastVerification {
  const found = { check: 'found', what: 'it is on chain, by this attester', ok: false } as const;
  const summary = `DIFFERS: no readable ${describeQuery(query)} of this attester is on chain.`;
  return { verdict: 'differs', summary, row: null, checks: [found], differences, notes: [], incomplete: [], unchecked: [] };
}

async function findPrediction(search: ForecastSearch, query: ForecastQuery): Promise<Prediction | null> {
  if (!('newestOf' in query)) return locatePrediction(search, query);
  const uid = await findNewestForecast(search, query.newestOf);
  return uid === null ? null : locatePrediction(search, { uid });
}

/** An attester that commits to both directions and reveals the winning one has forecast nothing. */
async function checkSingleCommitment(search: ForecastSearch, prediction: Prediction): Promise<void> {
  const all = await findCommitments(search, prediction.data);
  const uids = [...new Set([prediction, ...all].map(({ uid }) => uid))];
  const because = `committed ${uids.length} times for one day and horizon, which leaves open which one counts: ${uids.join(', ')}`;
  const once = { field: 'commitments', expected: 1, found: uids.length, because };
  search.findings.compare('sequence', toSubject(prediction), once);
}

/** The forecast must refer to that of the day before, so that a dropped or rewritten one shows. */
async function checkPredecessor(search: ForecastSearch, prediction: Prediction): Promise<void> {
  const { findings } = search;
  const { sequence, horizonDays } = prediction.data;
  if (sequence === 1 || prediction.refUid === zeroHash) {
    checkSequencePlace(prediction, undefined, findings);
    if (sequence > 1) reportWrongLink(prediction, null, findings);
    return;
  }
  // Findings about the predecessor are discarded; only its existence counts here.
  const before = await readPrediction({ ...search, findings: createFindings() }, prediction.refUid);
  const fits = before !== null && before.data.horizonDays === horizonDays && before.data.sequence === sequence - 1;
  checkSequencePlace(prediction, fits ? before : undefined, findings);
  if (!fits) reportWrongLink(prediction, prediction.refUid, findings);
}

function reportWrongLink(prediction: Prediction, found: Hex | null, findings: Findings): void {
  const { sequence, horizonDays } = prediction.data;
  const because = `it does not refer to a forecast with sequence ${sequence - 1} over ${horizonDays} days of this attester`;
  findings.addDifference('link', toSubject(prediction), { field: 'refUID', expected: `sequence ${sequence - 1}`, found, because });
}

async function findRevelation(search: ForecastSearch, prediction: Prediction, now: Date): Promise<Revelation | null> {
  if (prediction.data.resolvesAt > now) return null;
  const { revelations, throughBlock, head } = await locateRevelations(search, prediction);
  const first = matchRevelations([prediction], revelations, search.findings).get(prediction.uid) ?? null;
  if (first === null && throughBlock < head) {
    search.findings.addGap(`its resolution was searched up to block ${throughBlock} of ${head}; svc audit searches all`);
  }
  return first;
}

function buildVerification(
  row: AuditedRow,
  { findings, prices, now }: { findings: Findings; prices: AuditPrices | null; now: Date },
): ForecastVerification {
  const { differences, notes, gaps } = findings;
  const verdict = differences.length > 0 ? 'differs' : gaps.length > 0 ? 'incomplete' : 'verified';
  return {
    verdict,
    row,
    differences,
    notes,
    incomplete: gaps,
    summary: summarize(row, verdict, { differences, gaps, now }),
    checks: listChecks(row, findings, now),
    unchecked: listUnchecked(row, prices),
  };
}

function listChecks({ prediction, late, missed }: AuditedRow, { passed, differences }: Findings, now: Date): ForecastCheck[] {
  const failed = (check: CheckName) => differences.some((difference) => difference.check === check);
  const before = `its block (${formatInstant(prediction.at)}) is earlier than its outcome window (${formatInstant(prediction.data.windowOpensAt)})`;
  const isOver = prediction.data.resolvesAt <= now;
  const isMade = (check: CheckName) => passed[check] > 0 && (check !== 'revealed' || isOver);
  const names = (Object.keys(CHECKS) as CheckName[]).filter((check) => isMade(check) || failed(check));
  return [
    { check: 'found', what: 'it is on chain, by this attester', ok: true },
    ...(missed ? [] : [{ check: 'inTime' as const, what: before, ok: !late }]),
    ...names.map((check) => ({ check, what: CHECK_TEXTS[check] ?? CHECKS[check], ok: !failed(check) })),
  ];
}

/** Descriptions of the checks of a whole record, phrased for one forecast. */
const CHECK_TEXTS: Partial<Record<CheckName, string>> = {
  form: 'its schema, attester and block time match, and it cannot be revoked or expire',
  sequence: 'it is the only one for its day and horizon, and its number follows that of the previous day',
  link: 'it refers to the forecast of the previous day',
  resolution: 'it was resolved once, after its window ended',
};

function summarize(
  { prediction, late, missed, status, revelation }: AuditedRow,
  verdict: VerifyVerdict,
  { differences, gaps, now }: { differences: readonly AuditDifference[]; gaps: readonly string[]; now: Date },
): string {
  const name = formatSubject({ ...NO_SUBJECT, day: prediction.data.day, horizonDays: prediction.data.horizonDays });
  if (verdict === 'differs')
    return `DIFFERS: ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}, listed above.`;
  if (verdict === 'incomplete') return `INCOMPLETE: ${gaps.join('; ')}. No check failed.`;
  if (missed) return `VERIFIED: ${name} is VOID: no forecast was made; it never counts.`;
  if (late) return `VERIFIED: ${name} is VOID: it was committed after its window had opened and never counts.`;
  if (revelation !== null) return `VERIFIED: ${name} was committed before its window opened, and the revealed values match: ${status}.`;
  const over = prediction.data.resolvesAt <= now;
  const due = over
    ? 'its window has ended, and it is not resolved yet'
    : `its outcome is due at ${formatInstant(prediction.data.resolvesAt)}`;
  return `VERIFIED so far: ${name} was committed before its window opened; ${due}.`;
}

function listUnchecked({ revelation, missed, late }: AuditedRow, prices: AuditPrices | null): string[] {
  if (missed || late) return [];
  const second = 'commitments on other days, a much later second resolution and the rest of the record: see svc audit';
  if (revelation === null) return ['the forecast values: the resolution reveals them (Basic and Premium see salt and values before)'];
  return [...(prices === null ? ['the two closes against independent prices: --prices live, or a CSV file'] : []), second];
}
