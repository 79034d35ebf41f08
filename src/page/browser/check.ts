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
import { requestApi, type Session, watchLimitWait } from './api.ts';
import { createTime, formatCount, h, replaceChildren } from './dom.ts';
import { createMetadataReader, explainChainError, openRecordChain } from './record-chain.ts';
import type { ApiResponses, AttestationHistory, ScorecardRow } from './responses.ts';
import { findNeighbours, type ShownRecord } from './section.ts';

/** Checks rows of the list. */
export type RunCheck = (rows: readonly ScorecardRow[], options: { signal: AbortSignal }) => Promise<void>;

/** Counts down to the end of the rate limit while anything waits for it. @returns a function that ends it */
function showLimitWait(element: HTMLElement): () => void {
  let until: Date | null = null;
  const draw = () => {
    const seconds = until === null ? 0 : Math.ceil((until.getTime() - Date.now()) / 1_000);
    replaceChildren(element, seconds > 0 ? `The limit of requests is reached: goes on in ${seconds} s` : '');
  };
  const timer = setInterval(draw, 1_000);
  const unwatch = watchLimitWait((next) => {
    until = next;
    draw();
  });
  return () => {
    clearInterval(timer);
    unwatch();
    replaceChildren(element);
  };
}

type OnFinding = (row: ScorecardRow, finding: RowFinding) => void;

interface CheckTask {
  rows: readonly ScorecardRow[];
  shown: ShownRecord;
  info: ApiResponses['info'];
  endpoint: string;
  token: string | null;
  signal: AbortSignal;
  onFinding: OnFinding;
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
export function createRecordCheck(setup: CheckSetup) {
  const result = h('div', {});
  const progress = h('progress', { 'aria-label': 'Progress of the check of everything', hidden: true });
  const [stage, wait] = [h('span', { class: 'quiet' }), h('span', { class: 'quiet' })];
  const text = h('span', { role: 'status' });
  const button = h('button', {
    type: 'button',
    class: 'primary',
    hidden: true,
    onclick: () => (running === null ? start() : running.abort()),
  });
  let running: AbortController | null = null;
  let kept: { endpoint: string; state: ReadingState } | null = null;

  const onProgress = (what: string, done: number, total: number) => {
    Object.assign(progress, { max: total, value: done, hidden: false });
    replaceChildren(stage, `${what}: ${formatCount(done)} of ${formatCount(total)}`);
  };

  async function start() {
    if (running !== null) return;
    running = new AbortController();
    replaceChildren(text);
    replaceChildren(button, 'Stop');
    button.hidden = false;
    const stopCountdown = showLimitWait(wait);
    try {
      replaceChildren(text, await run(running.signal));
    } finally {
      stopCountdown();
      replaceChildren(stage);
      progress.hidden = true;
      running = null;
      replaceChildren(button, 'Continue to check everything');
      button.hidden = kept === null;
    }
  }

  async function run(signal: AbortSignal): Promise<string> {
    replaceChildren(result);
    onProgress('connecting', 0, 1);
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
      replaceChildren(result, renderReport(await auditUntilSettled(() => audit({ ...options, now: new Date() }))));
      kept = null;
      return '';
    } catch (error) {
      const why = signal.aborted ? 'Stopped:' : `Could not be checked: ${explainChainError(error)}.`;
      return `${why} ${state.contents.size} attestations were read, and the next click continues.`;
    }
  }
  document.addEventListener(CHECK_EVENT, () => void start());
  return h('div', { class: 'check-record' }, h('div', { class: 'check-all' }, button, progress, stage, wait, text), result);
}

function renderReport(report: AuditReport) {
  const { mark, look } = VERDICT_STYLES[OUTCOMES[report.verdict]];
  const file = URL.createObjectURL(new Blob([formatReportJson(report)], { type: 'application/json' }));
  const name = `audit-${report.chainId}-${report.auditedAt.slice(0, 10)}.json`;
  return [
    h('details', { class: `finding ${look}`, open: report.verdict !== 'agrees' }, [
      h('summary', { role: 'status' }, h('span', { 'aria-hidden': 'true' }, mark), h('strong', {}, `${report.summary}.`)),
      h('pre', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Report' }, reportText(report)),
    ]),
    h('p', { class: 'quiet' }, [
      h('a', { href: file, download: name }, 'Download the report'),
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

/** The verdict, with all checks in a disclosure. */
export function renderFinding(stored: StoredFinding) {
  const { finding, open, from, at } = stored;
  const { verdict, summary, findings, list } = finding;
  const remember = ({ target }: Event) => {
    stored.open = (target as HTMLDetailsElement).open;
  };
  const { mark, look } = VERDICT_STYLES[verdict];
  const left = [...list.unchecked, ...list.checks.flatMap(getOpenPart)].map(({ check, reason }) => `${getCheck(check).title}: ${reason}`);
  const sources = [
    `Attestations were read from ${from} at `,
    createTime(at.toISOString(), 'clock'),
    '; hashing and comparison ran in this browser. The row, the metadata and the salt of an unresolved forecast come from the service and ',
    'are compared with on-chain digests where named above.',
  ];
  const later = left.length === 0 ? null : h('span', { class: 'later' }, ` · ${left.length} left open`);
  const sentence = [h('span', { class: 'verdict-mark', 'aria-hidden': 'true' }, mark), h('strong', {}, summary), later];
  if (list.checks.length === 0) return h('p', { class: `finding ${look}` }, sentence);
  return h('details', { class: `finding ${look}`, open, ontoggle: remember }, [
    h('summary', {}, sentence),
    renderGroup(
      'Checks',
      list.checks.map((check) => renderCheck(check, findings)),
    ),
    renderGroup('Left open', left.map(renderOpenItem)),
    renderGroup('Not checked here', [OTHER_ATTESTATIONS].map(renderOpenItem)),
    h('p', { class: 'quiet' }, sources),
  ]);
}

/** What a single row cannot prove. */
const OTHER_ATTESTATIONS =
  'That no earlier commitment for this day, second record or newer row is withheld: “Check everything” reads all attestations';

/** The rest of the record is named for every row. */
function getOpenPart({ check, open }: RowFinding['list']['checks'][number]) {
  return open === null || check === 'sequence' ? [] : [{ check, reason: open }];
}

function renderGroup(heading: string, lines: readonly HTMLElement[]) {
  return lines.length === 0 ? null : h('div', { class: 'checks' }, h('h3', {}, heading), h('ul', {}, lines));
}

function renderCheck({ check, what, ok }: RowFinding['list']['checks'][number], findings: readonly Finding[]) {
  const { mark, look } = VERDICT_STYLES[ok ? 'pass' : 'fail'];
  const reasons = findings.flatMap((one) => (one.check === check && one.outcome === 'fail' ? [` ${one.because}.`] : []));
  return h('li', {}, [
    h('span', { class: look }, mark, h('span', { class: 'visually-hidden' }, ok ? ' agrees: ' : ' does not: ')),
    h('span', {}, what, ok ? null : h('span', { class: 'difference' }, reasons)),
  ]);
}

function renderOpenItem(text: string) {
  return h('li', {}, h('span', { class: 'quiet', 'aria-hidden': 'true' }, '○'), h('span', {}, text));
}

interface StoredFinding {
  finding: RowFinding;
  /** Time of the check. */
  at: Date;
  /** Host of the endpoint. */
  from: string;
  /** Whether its details are open. */
  open: boolean;
}

/** Chain and endpoint to check against; they may be missing when the reader clicks. */
interface CheckSetup {
  getInfo: () => Promise<ApiResponses['info'] | null>;
  endpointNow: () => { url: string } | { problem: string } | null;
}

/** Checks rows and caches the findings while row and neighbours stay the same. */
export function createRowChecker(session: Session, setup: CheckSetup) {
  const stored = new Map<string, StoredFinding>();

  return {
    foundOf: (row: ScorecardRow, shown: ShownRecord) => stored.get(buildRowKey(row, shown)),
    async check(rows: readonly ScorecardRow[], options: { shown: ShownRecord; signal: AbortSignal; onFound: OnFinding }) {
      const { shown, signal, onFound } = options;
      const found = await loadSetup(setup);
      const from = 'problem' in found ? '' : new URL(found.endpoint).host;
      const onFinding: OnFinding = (row, finding) => {
        const key = buildRowKey(row, shown);
        stored.set(key, { finding, at: new Date(), from, open: stored.get(key)?.open ?? false });
        onFound(row, finding);
      };
      if ('problem' in found) for (const row of rows) onFinding(row, buildUncheckedFinding(found.problem));
      else await checkRows({ ...found, rows, shown, token: session.current?.token ?? null, signal, onFinding });
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
