import type { Address, Hex } from 'viem';
import { getBlockNumber, getTransactionCount } from 'viem/actions';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { easAbi, getSchemaUid, type SchemaName, schemaRegistryAbi } from '../chain/eas/schemas.ts';
import { chainCall } from '../chain/rpc.ts';
import { OracleError, UsageError } from '../errors.ts';
import { DAY_MS, type Day, formatDay, parseDay } from '../forecast/day.ts';
import { HORIZONS, type HorizonName } from '../forecast/model.ts';
import type { CheckedRow, OutcomeContext } from '../verify/checks/forecast.ts';
import { checkScope, type ProvenChallenge, type RecomputedFigures } from '../verify/checks/record.ts';
import { type ChainRecord, type ClaimedScorecard, checkAttestation, type PriceEvidence } from '../verify/evidence.ts';
import { createFindings, type Finding, type Findings, formatInstant, formatSubject, getCheck, NO_SUBJECT } from '../verify/findings.ts';
import { formatForecastVerdict, formatRecordVerdict, getVerdict, listForecastChecks, tallyChecks } from '../verify/summary.ts';
import { type CheckedRecord, checkForecastEvidence, checkRecord, collectNeededDays, decodeRecord } from '../verify/verify.ts';
import {
  type AuditChain,
  type AuditPrices,
  callContract,
  collectForecastEvidence,
  completeRecord,
  createReadingState,
  type EvidenceSearch,
  type ForecastQuery,
  type ForecastSearch,
  findForecast,
  findNewestPrediction,
  hasAttestedLately,
  type NamedAttestation,
  type ReadingState,
  readRecord,
  SEARCH_DAYS,
} from './chain-record.ts';
import { checkServedDistributions, type ForecastClaims, readForecastClaims, type ServiceClaims } from './service-claims.ts';

export interface AuditOptions extends EvidenceSearch {
  /** First block to read, default 0. The record is complete only if the wallet had sent nothing before it. */
  fromBlock?: number;
  /** Null: closes are not compared, only what follows from those on chain. */
  prices: AuditPrices | null;
  /** The claims of a service; null: audit chain and prices only. */
  claims: ServiceClaims | null;
  /** Default: those of `claims`. Null: the committed distributions are not opened. */
  distributions?: ForecastClaims | null;
  /** A reading to continue; it is extended. */
  state?: ReadingState;
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Recomputes a record from chain and prices, and reports every inconsistency and every difference from the claims of the service, which is
 * not trusted. Runs in Node and in browsers.
 * @throws OracleError CHAIN_UNREACHABLE, SERVICE_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID; the reason of `signal`
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { chain, attester, fromBlock = 0, prices, claims, now, signal, onProgress = () => {} } = options;
  const startedMs = Date.now();
  const state = options.state ?? createReadingState(fromBlock);
  const findings = createFindings();
  await readScope(options, findings);
  const read = async () => {
    const throughBlock = Number(await chainCall('Reading the block number', () => getBlockNumber(chain.client)));
    return { evidence: await readRecord(chain, state, { attester, throughBlock, signal, onProgress }), throughBlock };
  };
  const { throughBlock, answers, ...reading } = claims === null ? { ...(await read()), answers: null } : await readClaims(claims, read);
  const claimed =
    answers === null ? [] : answers.flatMap((answer) => listClaimed(answer, new Date(now.getTime() + Date.now() - startedMs)));
  const { evidence, gaps } = await completeRecord(chain, reading.evidence, { attester, claimed, fromBlock, throughBlock, signal });
  const record = decodeRecord(evidence, { attester, now }, findings);
  const { deciding, opening } = collectNeededDays(record, now);
  onProgress('fetching prices', 0, 1);
  const days = [...new Set([...opening, ...deciding])].sort((a, b) => a - b);
  const closes = prices && { ...prices, closes: await prices.closes(days) };
  const history = prices && (await prices.history());
  onProgress('fetching prices', 1, 1);
  signal?.throwIfAborted();
  const checked = checkRecord({ record, prices: closes, history, claims: answers, now, gaps }, findings);
  onProgress('comparing', 1, 1);
  const { distributions = claims?.forecasts ?? null } = options;
  // A forecast whose attestations are not known cannot be compared with what the service opens of it; with claims, all are named.
  const isKnown = gaps.unread.size === 0 && (claims !== null || !gaps.lacksEvents);
  if (!isKnown && distributions !== null) findings.doubt('distributions', NO_SUBJECT, 'the endpoint lacks attestations of their forecasts');
  const opened = isKnown ? distributions : null;
  const shown = new Map(answers?.flatMap(({ predictions }) => predictions.map((row) => [`${row.attestationUid}`.toLowerCase(), row])));
  const moveSkills = new Map(answers?.map(({ moveSkill }, index) => [HORIZONS[index]!, moveSkill]));
  const audited = { distributions: opened, shown, moveSkills, prices: closes, history, now, findings, signal, onProgress };
  const challenges = await checkServedDistributions(checked.rows, audited);
  const missingCloses = days.filter((day) => deciding.has(day) && closes?.closes.has(day) === false);
  const { chainId, addresses } = chain;
  const where = { chainId, attester, eas: addresses.eas, fromBlock, throughBlock, service: claims?.source ?? null };
  return buildAuditReport({ where, prices, now, ...checked, record, missingCloses, challenges, findings });
}

/** Sufficient, because a service attests a few times a day. */
const MAX_READINGS = 4;

/**
 * Reads the chain (`read`), and the claims of a running service, which may attest meanwhile: the chain is read again, and with new attestations so
 * are the claims. `answers` are one scorecard per horizon in the order of `HORIZONS`.
 * @throws OracleError SERVICE_UNREACHABLE, and the errors of `read`
 */
export async function readClaims<Reading extends { evidence: readonly unknown[] }>(claims: ServiceClaims, read: () => Promise<Reading>) {
  let before = await read();
  for (let left = MAX_READINGS; ; left--) {
    // In parallel: each scorecard has figures of the others, which may change meanwhile.
    const answers = await Promise.all(HORIZONS.map((horizonDays) => claims.scorecard(horizonDays)));
    const after = await read();
    if (left === 1 || after.evidence.length === before.evidence.length) return { ...after, answers };
    before = after;
  }
}

/** A service shows an attestation once it is some blocks deep. */
const CONFIRMATION_MS = 10_000;

/** The attestations that a scorecard names. @param claimedAt when it was read */
function listClaimed({ predictions }: ClaimedScorecard, claimedAt: Date): NamedAttestation[] {
  const shownMs = claimedAt.getTime() - CONFIRMATION_MS;
  const name = (schema: SchemaName, uid: string | null, latestMs: number): NamedAttestation[] => {
    if (uid === null || !/^0x[0-9a-f]{64}$/i.test(uid)) return [];
    return [{ schema, uid: uid.toLowerCase() as Hex, madeBy: new Date(Number.isNaN(latestMs) ? shownMs : Math.min(latestMs, shownMs)) }];
  };
  return predictions.flatMap(({ date, status, attestationUid, resolutionUid, resolvedAt }) => [
    // A void one comes after its window has opened, at any time.
    ...name('prediction', attestationUid, status === 'VOID' ? shownMs : Date.parse(date) + DAY_MS),
    ...name('resolution', resolutionUid, Date.parse(resolvedAt ?? '')),
  ]);
}

async function readScope(options: AuditOptions, findings: Findings): Promise<void> {
  const { chain, fromBlock = 0 } = options;
  const { eas, schemaRegistry } = chain.addresses;
  const readText = async (name: SchemaName) => {
    const call = { address: schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [getSchemaUid(name)] };
    return (await chainCall('Reading a schema', () => callContract<{ schema: string }>(chain, call))).schema;
  };
  const [prediction, resolution] = await Promise.all([readText('prediction'), readText('resolution')]);
  const earlierTransactions = fromBlock === 0 ? 0 : await countEarlierTransactions(options, fromBlock - 1);
  const isKnownEas = eas.toLowerCase() === EAS_ADDRESS;
  checkScope({ schemaTexts: { prediction, resolution }, eas, isKnownEas, fromBlock, earlierTransactions }, findings);
}

/** Transactions and delegated attestations of the wallet up to a block; null when the endpoint has no archive state of it. */
async function countEarlierTransactions({ chain, attester }: AuditOptions, blockNumber: number): Promise<number | null> {
  const signed = { address: chain.addresses.eas, abi: easAbi, functionName: 'getNonce', args: [attester] };
  const counts = [
    chainCall('Counting transactions', () => getTransactionCount(chain.client, { address: attester, blockNumber: BigInt(blockNumber) })),
    chainCall('Counting signed attestations', () => callContract<bigint>(chain, signed, blockNumber)),
  ];
  return Promise.all(counts).then(
    ([sent, attested]) => Number(sent) + Number(attested),
    () => null,
  );
}

const MAX_RUNS = 4;
const BETWEEN_RUNS_MS = 10_000;
/** A service shows its attestations at the latest after this time. */
const CLAIM_GRACE_MS = 300_000;

/** Repeats an audit while all differences may come from an attestation that the service does not show yet. */
export async function auditUntilSettled(runOnce: () => Promise<AuditReport>): Promise<AuditReport> {
  for (let left = MAX_RUNS - 1; ; left--) {
    const report = await runOnce();
    if (left === 0 || !mayBeInProgress(report)) return report;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_RUNS_MS));
  }
}

/** Whether all differences are in claims shortly after an attestation. */
export function mayBeInProgress({ differences, newestAttestationAt, auditedAt }: AuditReport): boolean {
  if (differences.length === 0 || newestAttestationAt === null) return false;
  const isFresh = Date.parse(auditedAt) - Date.parse(newestAttestationAt) < CLAIM_GRACE_MS;
  return isFresh && differences.every(({ check }) => getCheck(check).appliesTo === 'claims');
}

/**
 * `agrees`: every check was made and passed. `incomplete`: every possible check passed, and some were impossible. `unknown`: so too, since the
 * endpoint of the chain lacks attestations that are there, or may be: it says nothing about the record.
 */
function getAuditVerdict(findings: readonly Finding[]): 'agrees' | 'differs' | 'incomplete' | 'unknown' {
  const verdict = getVerdict(findings);
  if (verdict !== 'unknown') return verdict === 'pass' ? 'agrees' : 'differs';
  return findings.some(({ isDoubt }) => isDoubt) ? 'unknown' : 'incomplete';
}

export type AuditReport = ReturnType<typeof buildAuditReport>;

interface AuditReportInputs extends CheckedRecord, Pick<OutcomeContext, 'now' | 'findings'> {
  /** `service`: the one whose claims were compared; null without one. */
  where: { chainId: number; attester: Address; eas: Address; fromBlock: number; throughBlock: number; service: string | null };
  /** Null: closes were not compared. */
  prices: Pick<PriceEvidence, 'source' | 'toleranceBps'> | null;
  record: ChainRecord;
  challenges: readonly ProvenChallenge[];
  /** Days without a price whose close decides a forecast. */
  missingCloses: readonly Day[];
}

export function buildAuditReport({ where, prices, now, findings, missingCloses, rows, recomputed, record, challenges }: AuditReportInputs) {
  const { list, notes } = findings;
  const newestMs = [...record.predictions, ...record.resolutions].reduce((newest, { at }) => Math.max(newest, at.getTime()), 0);
  return {
    verdict: getAuditVerdict(list),
    summary: formatRecordVerdict(list),
    ...where,
    auditedAt: now.toISOString(),
    prices: prices === null ? null : { source: prices.source, toleranceBps: prices.toleranceBps },
    horizons: recomputed.map((one) => buildAuditedHorizon(one, rows)),
    /** The evidence for or against each challenger by horizon, recomputed from the opened distributions. */
    challenges,
    checks: tallyChecks(list),
    differences: listDifferences(list),
    /** Information that is no difference. */
    notes: [...notes],
    /** Checks that were impossible; with any of them the verdict is not `agrees`. */
    incomplete: listGaps(list, missingCloses),
    missingCloses: missingCloses.map(formatDay),
    /** Null without any attestation. */
    newestAttestationAt: newestMs === 0 ? null : new Date(newestMs).toISOString(),
  };
}

function buildAuditedHorizon({ rows: _, ...figures }: RecomputedFigures, all: readonly CheckedRow[]) {
  const { voids, missed, pending, resolved, wins, losses, holds, accuracy, accuracyInterval95 } = figures.summary;
  const members = all.filter(({ prediction }) => prediction.data.horizonDays === figures.horizonDays);
  const days = members.map(({ prediction }) => prediction.data.day);
  return {
    ...{ ...figures, voids, missed, pending, resolved, wins, losses, holds, accuracy, accuracyInterval95 },
    ...{ firstDate: formatDay(Math.min(...days)), lastDate: formatDay(Math.max(...days)), forecasts: members.length },
    /** On chain before their window opened. */
    inTime: members.filter((row) => !row.missed && !row.late).length,
    /** Brier score of the probabilities, HOLD included. */
    brier: figures.statistics.probabilities?.brier ?? null,
  };
}

/** Failed checks; `message` is the difference in one sentence. */
function listDifferences(findings: readonly Finding[]) {
  return findings
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ check, subject, field, expected, actual, because }) => {
      const { horizonDays, day, sequence, uid } = subject;
      const date = day === null ? null : formatDay(day);
      return { check, horizonDays, date, sequence, uid, field, expected, found: actual, message: `${formatSubject(subject)}: ${because}` };
    });
}

/** More gaps of one check are one line. */
const MAX_ALIKE = 5;

/** Reasons of checks that could not be made though their evidence is due; missing closes are one line. */
function listGaps(findings: readonly Finding[], missingCloses: readonly Day[]): string[] {
  const due = findings.filter(({ outcome, isDue }) => outcome === 'unknown' && isDue);
  const gaps = due.filter(({ check, isDoubt }) => isDoubt !== true && check !== 'price');
  const doubts = due.filter(({ isDoubt }) => isDoubt);
  const dates = missingCloses.map(formatDay);
  const ends = [...new Set([dates[0], dates.at(-1)])].join(' to ');
  const prices = dates.length === 0 ? [] : [`${dates.length} days have no price to check outcomes (${ends})`];
  const kinds = [...Map.groupBy(gaps, ({ check }) => check).values()];
  const others = kinds.flatMap(([first, ...more]) =>
    more.length < MAX_ALIKE ? [first, ...more].map(formatGap) : [`${formatGap(first)}; and ${more.length} more of this kind`],
  );
  return [...prices, ...others, ...[...Map.groupBy(doubts, ({ because }) => because).values()].map(formatDoubts)];
}

/** One line for all that the endpoint lacks for one reason. */
function formatDoubts(doubts: readonly Finding[]): string {
  const [first, ...more] = doubts as [Finding, ...Finding[]];
  return more.length === 0 ? formatGap(first) : `${first.because} (${doubts.length} in all; the first: ${formatSubject(first.subject)})`;
}

function formatGap({ subject, because }: Finding): string {
  const { horizonDays, uid } = subject;
  return horizonDays === null && uid === null ? because : `${formatSubject(subject)}: ${because}`;
}

/** The report as `--json` prints it. */
export function formatReportJson(report: AuditReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Formats a report for a terminal. */
export function reportText(report: AuditReport): string {
  const { notes, incomplete, differences, checks, challenges } = report;
  const made = checks.filter(({ passed, failed }) => passed + failed > 0);
  const sections = [
    formatHeading(report),
    [formatHorizonTable(report.horizons)],
    challenges.length > 0 && ['Evidence:', ...challenges.map(formatChallenge)],
    ['Checks:', ...made.map(formatCheck)],
    notes.length > 0 && ['Notes:', ...shortenNotes(notes)],
    incomplete.length > 0 && ['Could not be checked:', ...incomplete],
    differences.length > 0 && ['WRONG:', ...differences.map(({ check, message }) => `[${check}] ${message}`)],
    [`${report.verdict.toUpperCase()}: ${report.summary}.`],
  ];
  return `${sections.flatMap((lines) => (lines === false ? [] : lines.join('\n  '))).join('\n\n')}\n`;
}

function formatHeading({ chainId, attester, eas, fromBlock, throughBlock, prices, service }: AuditReport): string[] {
  const tolerance = prices?.toleranceBps === 0 ? 'to the cent' : `within ${prices?.toleranceBps} basis points`;
  return [
    `Audit of ${attester} on chain ${chainId}`,
    `attestations  EAS ${eas}, blocks ${fromBlock} to ${throughBlock}`,
    `prices        ${prices === null ? 'none: closes are not compared' : `${prices.source}, ${tolerance}`}`,
    `claims        ${service ?? 'none: chain and prices alone'}`,
  ];
}

/** Columns of the table of horizons. The first three are aligned to the left. */
const COLUMNS: Record<string, (one: AuditReport['horizons'][number]) => string | number> = {
  horizon: ({ horizonDays }) => `${horizonDays}d`,
  from: ({ firstDate }) => firstDate,
  to: ({ lastDate }) => lastDate,
  forecasts: ({ forecasts }) => forecasts,
  'in time': ({ inTime }) => inTime,
  void: ({ voids }) => voids,
  missed: ({ missed }) => missed,
  open: ({ pending }) => pending,
  wins: ({ wins }) => wins,
  losses: ({ losses }) => losses,
  holds: ({ holds }) => holds,
  accuracy: ({ accuracy }) => accuracy?.toFixed(3) ?? '-',
  '95 %': ({ accuracyInterval95: range }) => (range === null ? '-' : `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`),
  Brier: ({ brier }) => brier?.toFixed(4) ?? '-',
};
const TEXT_COLUMNS = 3;

function formatHorizonTable(horizons: AuditReport['horizons']): string {
  const rows = [Object.keys(COLUMNS), ...horizons.map((one) => Object.values(COLUMNS).map((format) => String(format(one))))];
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const pad = (cell: string, index: number) => (index < TEXT_COLUMNS ? cell.padEnd(widths[index]) : cell.padStart(widths[index]));
  return rows.map((cells) => cells.map(pad).join('  ')).join('\n');
}

function formatChallenge({ challenger, against, horizonDays, ...one }: AuditReport['challenges'][number]): string {
  const figures = `e ${one.eBetter.toFixed(2)} that it is better, ${one.eWorse.toFixed(2)} that it is worse`;
  return `${horizonDays}d  ${challenger} against ${against}, ${one.days} days: ${figures}: ${one.verdict}`;
}

function formatCheck({ check, what, passed, failed }: AuditReport['checks'][number]): string {
  return `${check.padEnd(13)} ${what} ${failed > 0 ? `${failed} WRONG, ${passed} right` : `${passed} right.`}`;
}

/** A long record has many notes of one kind; the last ones concern the service as a whole. */
const [FIRST_NOTES, LAST_NOTES] = [17, 3];

function shortenNotes(notes: readonly string[]): readonly string[] {
  const hidden = notes.length - FIRST_NOTES - LAST_NOTES;
  if (hidden <= 0) return notes;
  return [...notes.slice(0, FIRST_NOTES), `... and ${hidden} more (all of them with --json)`, ...notes.slice(-LAST_NOTES)];
}

export type ForecastVerification = Awaited<ReturnType<typeof verifyForecast>>;

const PREDICTION_ID = new RegExp(`^(\\d{4}-\\d{2}-\\d{2}):([${HORIZONS.join('')}])d$`);

/** @param id a uid, `2026-11-14:7d` or `latest` @param horizon of `latest` @throws UsageError */
export function parseForecastQuery(id: string, horizon: HorizonName): ForecastQuery {
  const newestOf = Number(horizon.slice(0, -1));
  if (id === 'latest') return { newestOf, what: `forecast over ${newestOf} days in its last days` };
  const what = `forecast ${id.toLowerCase()}`;
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return { uid: id.toLowerCase() as Hex, what };
  const [, date, days] = PREDICTION_ID.exec(id) ?? [];
  if (date === undefined) {
    throw new UsageError('id', 'must be a uid (0x and 64 hex characters), a prediction id such as 2026-11-14:7d, latest or all');
  }
  try {
    return { day: parseDay(date), horizonDays: Number(days), what };
  } catch {
    throw new UsageError('id', `${date} is not a day`);
  }
}

/**
 * Reads a forecast from the chain and checks everything that the chain shows about it. The row is null when no readable prediction of the
 * query is on chain. @param distributions of a service; null: none is asked. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID; NOT_FOUND for a day outside the record
 */
export async function verifyForecast(search: ForecastSearch, query: ForecastQuery, claims: ForecastClaims | null) {
  const findings = createFindings();
  const found = await findForecast(search, query);
  if (found === null) {
    await requireWithinRecord(search, query);
    const because = `no readable ${query.what} of this attester is on chain`;
    findings.fail('found', NO_SUBJECT, { field: 'uid', expected: 'an attestation', actual: null, because });
    return { row: null, findings };
  }
  if (found.note !== undefined) findings.note(found.note);
  const evidence = await collectForecastEvidence(search, found.uid);
  const [made = null] = 'uid' in evidence.prediction ? [checkAttestation(evidence.prediction, search, createFindings())] : [];
  const claimed = made && (await readForecastClaims(claims, made, evidence.resolutions.length > 0));
  return { row: checkForecastEvidence({ ...evidence, ...claimed }, search, findings), findings };
}

/** A day outside the record has no forecast that could be missing: the newest one and its sequence give the bounds. @throws OracleError NOT_FOUND */
async function requireWithinRecord(search: ForecastSearch, query: ForecastQuery): Promise<void> {
  if ('uid' in query) return;
  const horizonDays = 'day' in query ? query.horizonDays : query.newestOf;
  const newest = await findNewestPrediction(search, horizonDays);
  if (newest === null) {
    // What is there and cannot be read is no record that has not begun.
    if (await hasAttestedLately(search)) return;
    const detail = `No forecast over ${horizonDays} days of this attester was made or resolved on chain in the last ${SEARCH_DAYS} days`;
    throw new OracleError('NOT_FOUND', `${detail}: there is nothing to verify`, {
      field: 'id',
      suggestedAction: 'The record has not begun, or has ended: name a day of it, or repeat this after 21:38 UTC.',
    });
  }
  if (!('day' in query)) return;
  const [first, last] = [newest.data.day - newest.data.sequence + 1, newest.data.day];
  if (query.day >= first && query.day <= last) return;
  throw new OracleError(
    'NOT_FOUND',
    `${formatDay(query.day)} is outside the record: its forecasts over ${horizonDays} days run from ${formatDay(first)} to ${formatDay(last)}`,
    { field: 'id', suggestedAction: 'Name a day in between.' },
  );
}

/** Where the record was read. `takenFromService`: parts that only the service has named. */
interface ReportedLocation {
  chain: Pick<AuditChain, 'chainId' | 'addresses'>;
  attester: string;
  /** Host of the endpoint, as its URL may contain a key. */
  endpoint: string;
  takenFromService: ('attester' | 'endpoint' | 'eas')[];
}

const VERDICTS = { pass: 'verified', fail: 'differs', unknown: 'incomplete' } as const;

/** What `--json` prints, and the text is rendered from. */
export function buildForecastReport({ row, findings: { list, notes } }: ForecastVerification, location: ReportedLocation) {
  const { chain, attester, endpoint, takenFromService } = location;
  const verdict = VERDICTS[getVerdict(list)];
  const resolution = row?.resolution ?? null;
  const soFar = verdict === 'verified' && row?.status === 'PENDING' ? ' so far' : '';
  const missing = row === null ? list.find(({ outcome }) => outcome === 'fail')?.because : undefined;
  const checks = listForecastChecks(list, row);
  return {
    verdict,
    words: `${verdict.toUpperCase()}${soFar}: ${missing ?? formatForecastVerdict(list, row, checks)}.`,
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row && toPredictionJson(row),
    resolution: resolution && { uid: resolution.uid, attestedAt: formatInstant(resolution.at), ...resolution.data },
    ...checks,
    differences: listDifferences(list),
    notes,
    incomplete: listGaps(list, []),
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: CheckedRow) {
  const [date, horizon] = [formatDay(data.day), `${data.horizonDays}d`];
  return {
    ...{ predictionId: `${date}:${horizon}`, uid, date, horizon, sequence: data.sequence, attestedAt: formatInstant(at) },
    ...{ windowOpensAt: formatInstant(data.windowOpensAt), resolvesAt: formatInstant(data.resolvesAt) },
    ...{ commitment: data.commitment, status, late, missed },
  };
}
