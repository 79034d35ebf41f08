import { type Address, type Hex, zeroHash } from 'viem';
import { type AuditReport, audit, auditUntilSettled, formatReportJson, reportText } from '../../audit/audit.ts';
import {
  type AuditChain,
  createReadingState,
  type EvidenceSearch,
  findCommitments,
  type ReadingState,
  readAttestation,
  readBlock,
  readInBatches,
} from '../../audit/chain-record.ts';
import { createForecastClaims, createServiceClaims, MAX_OPENINGS_PER_PAGE } from '../../audit/service-claims.ts';
import type { SchemaName } from '../../chain/eas/schemas.ts';
import { isOracleError } from '../../errors.ts';
import { HOUR_MS } from '../../forecast/day.ts';
import {
  type AttestationEvidence,
  type CheckContext,
  checkAttestation,
  encodeCid,
  type ForecastEvidence,
  isUnread,
  type ListedClaim,
  parseCommittedModels,
  type RivalEvidence,
  type ServedDistributions,
  type Unread,
} from '../../verify/evidence.ts';
import { createFindings, type Finding, formatInstant, getCheck } from '../../verify/findings.ts';
import { type ForecastChecks, formatAgreement, getVerdict, listForecastChecks } from '../../verify/summary.ts';
import { checkForecastEvidence, getShownOpening } from '../../verify/verify.ts';
import { el, formatCount, type Markup } from '../markup.ts';
import { requestApi, type Session, watchLimitWait } from './api.ts';
import { createTime } from './dom.ts';
import { createMetadataReader, explainChainError, openRecordChain } from './record-chain.ts';
import type { ApiResponses, AttestationHistory, ScorecardRow } from './responses.ts';
import { findNeighbours, type ShownRecord } from './section.ts';
import { draw } from './view.ts';

/** Calls the listener with the seconds until the end of the rate limit while anything waits for it. @returns a function that ends it */
function watchLimitSeconds(listener: (seconds: number) => void): () => void {
  let until: Date | null = null;
  const notify = () => listener(until === null ? 0 : Math.ceil((until.getTime() - Date.now()) / 1_000));
  const timer = setInterval(notify, 1_000);
  const unwatch = watchLimitWait((next) => {
    until = next;
    notify();
  });
  return () => {
    clearInterval(timer);
    unwatch();
  };
}

interface CheckTask {
  rows: readonly ScorecardRow[];
  shown: ShownRecord;
  info: ApiResponses['info'];
  endpoint: string;
  token: string | null;
  signal: AbortSignal;
  onFinding: (row: ScorecardRow, finding: RowFinding) => void;
}

const readMetadata = createMetadataReader((path, request) => fetch(new URL(path, document.baseURI), request));

/** Checks rows and reports each finding; stops when aborted. */
export async function checkRows(task: CheckTask): Promise<void> {
  const { rows, signal, onFinding } = task;
  const left = new Set(rows);
  try {
    const shared = await collectSharedEvidence(task);
    const check = async (row: ScorecardRow) => {
      const finding = await checkRow(task, row, shared);
      signal.throwIfAborted();
      left.delete(row);
      onFinding(row, finding);
    };
    // Prediction, resolution, and the prediction before.
    const callsPerRow = 3;
    await readInBatches(rows, { parallel: shared.chain.parallel / callsPerRow, signal, read: check });
  } catch (error) {
    if (signal.aborted) return;
    const problem = explainChainError(error);
    for (const row of left) onFinding(row, buildUncheckedFinding(problem));
  }
}

type SharedEvidence = Awaited<ReturnType<typeof collectSharedEvidence>>;

/** Evidence that is fetched once for all rows. */
async function collectSharedEvidence(task: CheckTask) {
  const chain = await openRecordChain(task);
  const read = createAttestationReader(chain);
  const context = { attester: task.info.chain.attester.toLowerCase() as Address, now: new Date() };
  const rivals = await findCommitmentsAround(task.rows, { chain, signal: task.signal, ...context }, read);
  const resolved = task.rows.flatMap(({ sequence, resolutionUid }) => (resolutionUid === null ? [] : [sequence]));
  const openings = await orProblem(readOpenings(resolved, task.shown.horizon, task.signal));
  task.signal.throwIfAborted();
  return { chain, context, read, rivals, openings, salts: await fetchSalts(task) };
}

/** What an endpoint returns, or did wrong. */
function orProblem<T>(reading: Promise<T>): Promise<T | Unread> {
  return reading.catch((error: unknown) => {
    if (!isOracleError(error)) throw error;
    return { problem: explainChainError(error) };
  });
}

const UID_PATTERN = /^0x[0-9a-f]{64}$/i;

/** Reads each attestation once. A uid that is none exists on no chain. `madeBy` is the time by which it was on chain, as the row has it. */
export function createAttestationReader(chain: AuditChain) {
  const contents = new Map<string, Promise<AttestationEvidence['content']>>();
  const read = async (uid: Hex) => orProblem(readAttestation(chain, uid));
  return async <S extends SchemaName>(
    schema: S,
    uid: string | null | undefined,
    madeBy?: string | null,
  ): Promise<AttestationEvidence<S> | null> => {
    if (uid == null) return null;
    const reading = contents.get(uid) ?? (UID_PATTERN.test(uid) ? read(uid.toLowerCase() as Hex) : Promise.resolve(null));
    contents.set(uid, reading);
    const content = await reading;
    const isDenied = content !== null && !isUnread(content) && content.uid === zeroHash && madeBy != null;
    const problem = isDenied ? await orProblem(explainDenial(chain, new Date(madeBy))) : null;
    return { uid: uid.toLowerCase() as Hex, schema, content: problem ?? content, blockAt: null };
  };
}

/** A service shows an attestation once it is some blocks deep. */
const CONFIRMATION_MS = 10_000;

/** Why the endpoint may not have got to an attestation yet; null: it denies it. */
async function explainDenial(chain: AuditChain, madeBy: Date): Promise<Unread | null> {
  const { at } = await readBlock(chain, 'latest');
  if (at >= madeBy || at.getTime() >= Date.now() - CONFIRMATION_MS) return null;
  return { problem: `the endpoint does not have it, and its newest block is only of ${formatInstant(at)}` };
}

/** An error in one row must not stop the check of the others. */
async function checkRow(task: CheckTask, row: ScorecardRow, shared: SharedEvidence): Promise<RowFinding> {
  try {
    return verifyRow(await collectEvidence(task, row, shared), shared.context);
  } catch (error) {
    if (task.signal.aborted) throw error;
    reportError(error);
    return buildUncheckedFinding('the row of the service is malformed');
  }
}

async function collectEvidence(
  { shown, signal }: CheckTask,
  row: ScorecardRow,
  { read, salts, rivals, openings, context }: SharedEvidence,
) {
  const { sequence, attestationUid, resolutionUid } = row;
  const neighbours = findNeighbours(row, shown.known);
  const { before } = neighbours;
  const [prediction, resolution, previous] = await Promise.all([
    read('prediction', attestationUid, row.windowOpensAt),
    read('resolution', resolutionUid, row.resolvedAt),
    // Made a day before this one.
    read('prediction', before?.attestationUid, row.windowOpensAt),
  ]);
  const made = prediction === null ? null : checkAttestation(prediction, context, createFindings());
  // An attestation that is not authentic names no metadata.
  const metadata = made
    ? await readMetadata(encodeCid(made.data.metadata), signal)
    : { problem: 'no metadata is published under its digest' };
  return {
    prediction: prediction ?? { sequence, day: null, horizonDays: null, windowOpensAt: new Date(row.windowOpensAt) },
    resolutions: resolution === null ? [] : [resolution],
    // That the row before is missing is a finding by itself.
    previous: before === null && sequence !== 1 ? undefined : previous,
    opening: resolution === null ? getShownOpening(row, salts.get(String(attestationUid)) ?? null) : undefined,
    metadata,
    ...(resolution !== null && { distributions: findServed(openings, row, metadata) }),
    ...{ rivals, claimed: { row, horizon: shown.horizon, neighbours } },
  };
}

/** Salts of calls that are visible before their resolution, by prediction uid. */
async function fetchSalts({ rows, shown, token, info }: CheckTask): Promise<ReadonlyMap<string, string>> {
  if (!rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null)) return new Map();
  const path = `api/svc/onchain-oracle/history?horizon=${shown.horizon}&limit=${info.limits.attestationHistory.most}` as const;
  // Without salts the commitments stay unopened, and the finding says so.
  const { data } = await requestApi<AttestationHistory>(path, { token }).catch(() => ({ data: [] }));
  return new Map(data.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
}

/** With 2-second blocks, five hours are 9,000 blocks: one `eth_getLogs` call on most endpoints. */
const SEARCH_BEFORE_OPENING_MS = 5 * HOUR_MS;
/** A call is made on its day, whatever the row claims. */
const MAX_SEARCH_MS = 24 * HOUR_MS;
const MAX_BLOCKS = 50_000;
/** A wallet makes four predictions a day, plus those of missed days. */
const MAX_PREDICTIONS = 1_000;
const MAX_PREDICTIONS_PER_ROW = 8;
const SEARCH_TIMEOUT_MS = 30_000;

/**
 * Searches the blocks around the rows for competing commitments, with limits on blocks, predictions and time: a wallet that commits to both
 * directions and reveals the winning one has forecast nothing.
 */
export async function findCommitmentsAround(
  rows: readonly ScorecardRow[],
  search: EvidenceSearch & { signal: AbortSignal },
  read: AttestationReader,
  timeoutMs = SEARCH_TIMEOUT_MS,
): Promise<RivalEvidence> {
  const range = await computeSearchRange(rows, read);
  if (range === null) return { problem: 'the service names no opening of its window' };
  const maxPredictions = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = new Promise<Unread>((resolve) =>
    timeout.addEventListener('abort', () => resolve({ problem: `the endpoint did not answer within ${timeoutMs / 1_000} s` })),
  );
  const limited = { ...search, signal: AbortSignal.any([search.signal, timeout]) };
  const searching = findCommitments(limited, range, { maxBlocks: MAX_BLOCKS, maxPredictions });
  const found = await Promise.race([orProblem(searching), ended]);
  search.signal.throwIfAborted();
  // So many predictions in one day can only serve to hide one.
  if (isUnread(found) || found.tooMany === undefined || rows.length === 1) return found;
  return { problem: `more than ${maxPredictions} predictions are too many for these rows: check this row by itself` };
}

type AttestationReader = ReturnType<typeof createAttestationReader>;

/** Time range in which another prediction could have been made: a day, shortened for a single row to an hour before its own. */
async function computeSearchRange(rows: readonly ScorecardRow[], read: AttestationReader) {
  const opens = rows.map(({ windowOpensAt }) => Date.parse(windowOpensAt)).filter(Number.isFinite);
  if (opens.length === 0) return null;
  const until = Math.max(...opens);
  const content = rows.length > 1 ? null : (await read('prediction', rows[0].attestationUid))?.content;
  const madeMs = content != null && 'time' in content ? Number(content.time) * 1_000 || until : until;
  const ahead = rows.length > 1 ? MAX_SEARCH_MS : Math.max(SEARCH_BEFORE_OPENING_MS, until - madeMs + HOUR_MS);
  return { since: new Date(Math.min(...opens) - Math.min(MAX_SEARCH_MS, ahead)), until: new Date(until) };
}

/** The opened distributions of resolved rows, in as few requests as their numbers allow. Null: the service has no such operation. */
async function readOpenings(sequences: readonly number[], horizonDays: number, signal: AbortSignal) {
  const claims = createForecastClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
  const found = new Map<number, ServedDistributions>();
  const left = new Set(sequences);
  while (left.size > 0) {
    signal.throwIfAborted();
    const [first, last] = [Math.max(...left), Math.min(...left)];
    const limit = Math.min(MAX_OPENINGS_PER_PAGE, first - last + 1);
    const page = await claims.readPage(horizonDays, { limit, before: first + 1 });
    if (page === null) return null;
    for (const served of page.data) found.set(served.sequence, served);
    const reached = page.nextCursor === null ? Number.NEGATIVE_INFINITY : Math.min(first, ...page.data.map(({ sequence }) => sequence));
    for (const sequence of left) if (sequence >= reached) left.delete(sequence);
  }
  return found;
}

/** What the service serves of a resolved row; null: it withholds what the metadata names. */
function findServed(openings: SharedEvidence['openings'], { sequence }: ScorecardRow, metadata: Uint8Array | Unread) {
  if (isUnread(openings)) return openings;
  if (openings !== null) return openings.get(sequence) ?? null;
  const names = !isUnread(metadata) && parseCommittedModels(new TextDecoder().decode(metadata)) !== 'none';
  return names ? null : { problem: 'the service has no operation that opens distributions' };
}

/** `stage`: state that the row claims. */
export interface RowFinding {
  verdict: Finding['outcome'];
  stage: 'over' | 'open' | 'void';
  summary: string;
  findings: readonly Finding[];
  list: Pick<ForecastChecks, 'checks' | 'unchecked'>;
}

const VERIFIED_LABELS = { over: 'Verified', open: 'Verified so far', void: 'Verified as void' };

export type RowEvidence = ForecastEvidence & { claimed: ListedClaim };

/** Checks a row of the scorecard against the chain. */
export function verifyRow(evidence: RowEvidence, context: CheckContext): RowFinding {
  const findings = createFindings();
  const row = checkForecastEvidence(evidence, context, findings);
  const list = listForecastChecks(findings.list, row);
  const { status, resolutionUid } = evidence.claimed.row;
  const stage = status === 'VOID' ? 'void' : resolutionUid === null ? 'open' : 'over';
  const { fail = [], unknown = [] } = Object.groupBy(findings.list, ({ outcome }) => outcome);
  const summaries = {
    pass: `${VERIFIED_LABELS[stage]}: ${formatAgreement(list)}`,
    fail: `Does not match: ${[...new Set(fail.map(({ check }) => check))].join(', ')}`,
    unknown: `Could not be checked: ${unknown.find(({ isDue }) => isDue)?.because}`,
  };
  const verdict = getVerdict(findings.list);
  return { verdict, stage, summary: summaries[verdict], findings: findings.list, list };
}

function buildUncheckedFinding(reason: string): RowFinding {
  return {
    verdict: 'unknown',
    stage: 'open',
    summary: `Could not be checked: ${reason}`,
    findings: [],
    list: { checks: [], unchecked: [] },
  };
}

const OUTCOMES = { agrees: 'pass', differs: 'fail', incomplete: 'unknown', unknown: 'unknown' } as const;

/**
 * Audits the whole record when the document has `CHECK_EVENT`. Its button stops the audit, and continues with what was read from the same
 * endpoint.
 */
export function mountRecordCheck(place: HTMLElement, setup: CheckSetup) {
  let running: AbortController | null = null;
  let kept: { endpoint: string; state: ReadingState } | null = null;
  let [step, text, waitSeconds] = [{ what: '', done: 0, total: 1 }, '', 0];
  let report: Markup = null;

  function redraw() {
    const isRunning = running !== null;
    const onclick = () => (running === null ? void start() : running.abort());
    const attributes = { type: 'button', class: 'primary', hidden: !isRunning && kept === null, onclick };
    const { what, done, total } = step;
    const wait = isRunning && waitSeconds > 0 && `The limit of requests is reached: goes on in ${waitSeconds} s`;
    draw(
      place,
      el('div', { class: 'check-all' }, [
        el('button', attributes, isRunning ? 'Stop' : 'Continue to check everything'),
        el('progress', { 'aria-label': 'Progress of the check of everything', hidden: !isRunning, max: total, value: done }),
        el('span', { class: 'quiet' }, isRunning && `${what}: ${formatCount(done)} of ${formatCount(total)}`),
        el('span', { class: 'quiet' }, wait),
        el('span', { role: 'status' }, text),
      ]),
      el('div', {}, report),
    );
  }
  const onProgress = (what: string, done: number, total: number) => {
    step = { what, done, total };
    redraw();
  };

  async function start() {
    if (running !== null) return;
    running = new AbortController();
    [text, report] = ['', null];
    onProgress('connecting', 0, 1);
    const stopCountdown = watchLimitSeconds((seconds) => {
      waitSeconds = seconds;
      redraw();
    });
    try {
      text = await run(running.signal);
    } finally {
      stopCountdown();
      running = null;
      redraw();
    }
  }

  async function run(signal: AbortSignal): Promise<string> {
    const found = await loadSetup(setup);
    if (isUnread(found)) return `Could not be checked: ${found.problem}.`;
    if (kept?.endpoint !== found.endpoint) kept = { endpoint: found.endpoint, state: createReadingState(0) };
    const { state } = kept;
    const attester = found.info.chain.attester as Address;
    // The scorecards as every reader gets them.
    const claims = createServiceClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
    try {
      const chain = await openRecordChain({ ...found, signal });
      const options = { chain, attester, prices: null, claims, state, signal, onProgress };
      report = renderReport(await auditUntilSettled(() => audit({ ...options, now: new Date() })));
      kept = null;
      return '';
    } catch (error) {
      const why = signal.aborted ? 'Stopped:' : `Could not be checked: ${explainChainError(error)}.`;
      return `${why} ${state.contents.size} attestations were read, and the next click continues.`;
    }
  }
  document.addEventListener(CHECK_EVENT, () => void start());
  redraw();
}

function renderReport(report: AuditReport) {
  const { mark, look } = VERDICT_STYLES[OUTCOMES[report.verdict]];
  const file = URL.createObjectURL(new Blob([formatReportJson(report)], { type: 'application/json' }));
  const name = `audit-${report.chainId}-${report.auditedAt.slice(0, 10)}.json`;
  return [
    el('details', { class: `finding ${look}`, open: report.verdict !== 'agrees' }, [
      el('summary', { role: 'status' }, el('span', { 'aria-hidden': 'true' }, mark), el('strong', {}, `${report.summary}.`)),
      el('pre', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Report' }, reportText(report)),
    ]),
    el('p', { class: 'quiet' }, [
      el('a', { href: file, download: name }, 'Download the report'),
      '. “npx svc audit” compares the closes, too.',
    ]),
  ];
}

/** Event on the document that starts the check of the whole record, or continues it, unless it runs. */
export const CHECK_EVENT = 'oracle-check';

/** Verdicts differ in mark and text, not in colour alone. */
const VERDICT_STYLES = {
  pass: { mark: '✓', look: 'is-good' },
  fail: { mark: '✗', look: 'is-bad' },
  unknown: { mark: '?', look: 'is-unsure' },
};

/** In place of a finding, until it is there. */
export function renderReading(text = 'Reading the chain…') {
  return el('p', { class: 'finding quiet' }, text);
}

/** The verdict, with all checks in a disclosure. */
export function renderFinding({ finding, from, at }: StoredFinding) {
  const { verdict, summary, findings, list } = finding;
  const { mark, look } = VERDICT_STYLES[verdict];
  const left = [...list.unchecked, ...list.checks.flatMap(getOpenPart)].map(({ check, reason }) => `${getCheck(check).title}: ${reason}`);
  const sources = [
    `Attestations were read from ${from} at `,
    createTime(at.toISOString(), 'clock'),
    '; hashing and comparison ran in this browser. The row, the metadata and the salt of an unresolved forecast come from the service and ',
    'are compared with on-chain digests where named above.',
  ];
  const later = left.length === 0 ? null : el('span', { class: 'later' }, ` · ${left.length} left open`);
  const sentence = [el('span', { class: 'verdict-mark', 'aria-hidden': 'true' }, mark), el('strong', {}, summary), later];
  if (list.checks.length === 0) return el('p', { class: `finding ${look}` }, sentence);
  return el('details', { class: `finding ${look}` }, [
    el('summary', {}, sentence),
    renderGroup(
      'Checks',
      list.checks.map((check) => renderCheck(check, findings)),
    ),
    renderGroup('Left open', left.map(renderOpenItem)),
    renderGroup('Not checked here', [OTHER_ATTESTATIONS].map(renderOpenItem)),
    el('p', { class: 'quiet' }, sources),
  ]);
}

/** What a single row cannot prove. */
const OTHER_ATTESTATIONS =
  'That no earlier commitment for this day, second record or newer row is withheld: “Check everything” reads all attestations';

/** The rest of the record is named for every row. */
function getOpenPart({ check, open }: RowFinding['list']['checks'][number]) {
  return open === null || check === 'sequence' ? [] : [{ check, reason: open }];
}

function renderGroup(heading: string, lines: readonly Markup[]) {
  return lines.length === 0 ? null : el('div', { class: 'checks' }, el('h3', {}, heading), el('ul', {}, lines));
}

function renderCheck({ check, what, ok }: RowFinding['list']['checks'][number], findings: readonly Finding[]) {
  const { mark, look } = VERDICT_STYLES[ok ? 'pass' : 'fail'];
  const reasons = findings.flatMap((one) => (one.check === check && one.outcome === 'fail' ? [` ${one.because}.`] : []));
  return el('li', {}, [
    el('span', { class: look }, mark, el('span', { class: 'visually-hidden' }, ok ? ' agrees: ' : ' does not: ')),
    el('span', {}, what, ok ? null : el('span', { class: 'difference' }, reasons)),
  ]);
}

function renderOpenItem(text: string) {
  return el('li', {}, el('span', { class: 'quiet', 'aria-hidden': 'true' }, '○'), el('span', {}, text));
}

interface StoredFinding {
  finding: RowFinding;
  /** Time of the check. */
  at: Date;
  /** Host of the endpoint. */
  from: string;
}

/** Chain and endpoint to check against; they may be missing when the reader clicks. */
interface CheckSetup {
  getInfo: () => Promise<ApiResponses['info'] | null>;
  endpointNow: () => { url: string } | { problem: string } | null;
}

/** Checks a row and caches its finding while row and neighbours stay the same. */
export function createRowChecker(session: Session, setup: CheckSetup) {
  const stored = new Map<string, StoredFinding>();

  return {
    foundOf: (row: ScorecardRow, shown: ShownRecord) => stored.get(buildRowKey(row, shown)),
    async check(row: ScorecardRow, { shown, signal }: { shown: ShownRecord; signal: AbortSignal }) {
      const found = await loadSetup(setup);
      const from = 'problem' in found ? '' : new URL(found.endpoint).host;
      const onFinding = (_: ScorecardRow, finding: RowFinding) =>
        void stored.set(buildRowKey(row, shown), { finding, at: new Date(), from });
      if ('problem' in found) onFinding(row, buildUncheckedFinding(found.problem));
      else await checkRows({ ...found, rows: [row], shown, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/** The cache key contains everything that a finding depends on. */
export function buildRowKey(row: ScorecardRow, { horizon, known }: ShownRecord) {
  const { before, ...closes } = findNeighbours(row, known);
  return JSON.stringify([horizon, row, before?.attestationUid, before?.sequence, closes]);
}

async function loadSetup({ getInfo, endpointNow }: CheckSetup): Promise<Pick<CheckTask, 'info' | 'endpoint'> | Unread> {
  const info = await getInfo();
  const endpoint = endpointNow();
  if (info === null || endpoint === null) return { problem: 'the service has not named its chain' };
  return 'problem' in endpoint ? { problem: 'no usable RPC endpoint is entered' } : { info, endpoint: endpoint.url };
}
