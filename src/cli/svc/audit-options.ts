import { readFile } from 'node:fs/promises';
import type { Address, PublicClient } from 'viem';
import { z } from 'zod';
import { type AuditOptions, type AuditReport, audit, auditUntilSettled, formatReportJson, reportText } from '../../audit/audit.ts';
import { type AuditChain, type AuditPrices, connectChain } from '../../audit/chain-record.ts';
import { createServiceClaims } from '../../audit/service-claims.ts';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { chainCall } from '../../chain/rpc.ts';
import { getErrorMessage, OracleError, UsageError } from '../../errors.ts';
import { type Day, parseDay } from '../../forecast/day.ts';
import type { DailyCloses } from '../../forecast/fit.ts';
import { MIN_HISTORY_DAYS } from '../../forecast/inputs.ts';
import { TRAINING_START } from '../../forecast/model.ts';
import { createEvmReader } from '../../platform/outbound/evm.ts';
import { createOperatorFetch, readJson } from '../../platform/outbound/operator.ts';
import { livePrices } from './audit-prices.ts';

/** The quorum tolerance of the service's own venues, since exchanges close at different prices. */
const DEFAULT_TOLERANCE_BPS = 100;

/** Opens the prices of `--prices`, by default those of public exchanges. @throws OracleError FEED_INVALID */
export async function openPrices({ prices = 'live', toleranceBps = DEFAULT_TOLERANCE_BPS }: AuditCommand, now: Date): Promise<AuditPrices> {
  return prices === 'live' ? livePrices({ toleranceBps, now }) : csvPrices(prices, toleranceBps);
}

/** Accepted names of the close column, the median first: records are resolved with medians. */
const CLOSE_COLUMNS = ['close_median', 'close'];

const PRICE_PATTERN = /^\d+(\.\d+)?$/;

/** Daily closes from a CSV file with the columns `date` (YYYY-MM-DD) and `close` (USD). @throws OracleError FEED_INVALID naming the line */
export async function csvPrices(path: string, toleranceBps: number): Promise<AuditPrices> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new OracleError('FEED_INVALID', `${path} cannot be read: ${getErrorMessage(cause)}`, { field: '--prices', cause });
  });
  const closes = parseCloses(text, path);
  return {
    ...{ source: path, toleranceBps, endsOn: null },
    closes: async (days) => new Map(days.flatMap((day) => (closes.has(day) ? [[day, closes.get(day)!]] : []))),
    history: async () => buildPriceHistory(closes),
  };
}

/** @throws OracleError FEED_INVALID naming the line */
export function parseCloses(text: string, path: string): Map<Day, number> {
  const suggestedAction = 'Give a CSV file with a header, a date (YYYY-MM-DD) and a daily close in USD at 00:00 UTC of the next day.';
  const reject = (line: number, problem: string) =>
    new OracleError('FEED_INVALID', `${path}, line ${line}: ${problem}`, { field: '--prices', suggestedAction });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const [header, ...rows] = lines.map((line) => line.split(',').map((cell) => cell.trim()));
  const columns = header.map((name) => name.toLowerCase());
  const names = ['date', CLOSE_COLUMNS.find((name) => columns.includes(name)) ?? 'close'];
  const twice = names.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (!names.every((name) => columns.includes(name))) throw reject(1, 'needs the columns date and close');
  if (twice !== undefined) throw reject(1, `names the column ${twice} twice`);
  const closes = new Map<Day, number>();
  for (const [index, cells] of rows.entries()) {
    if (cells.join() === '') continue;
    const [date, close = ''] = names.map((name) => cells[columns.indexOf(name)]);
    const day = z.iso.date().safeParse(date).success ? parseDay(date) : null;
    const price = PRICE_PATTERN.test(close) ? Number(close) : 0;
    const line = index + 2;
    if (cells.length > columns.length) throw reject(line, `has ${cells.length} cells, and the header ${columns.length} names`);
    if (day === null) throw reject(line, 'the date is not of the form YYYY-MM-DD');
    if (!(price > 0 && Number.isFinite(price))) throw reject(line, 'the close is no price such as 42000.5');
    if (closes.has(day)) throw reject(line, `${date} is there twice`);
    closes.set(day, price);
  }
  return closes;
}

/** Null unless the closes reach back to the first training day. */
function buildPriceHistory(closes: ReadonlyMap<Day, number>): DailyCloses | null {
  const days = [...closes.keys()].sort((a, b) => a - b);
  if (days.length === 0 || days[0] + MIN_HISTORY_DAYS - 1 > TRAINING_START) return null;
  const history = new Float64Array(days.at(-1)! - days[0] + 1).fill(Number.NaN);
  for (const day of days) history[day - days[0]] = closes.get(day)!;
  return { firstDay: days[0], closes: history };
}

/** Opens an audit of `--rpc` and `--attester`. @throws OracleError INPUT_INVALID, CHAIN_UNREACHABLE, FEED_INVALID */
export async function openAuditByAddress(command: AuditCommand, now: Date): Promise<AuditOptions> {
  const { rpc, attester, eas, schemaRegistry, fromBlock, service } = command;
  if (rpc === undefined) throw new UsageError('--rpc', 'is required: the endpoint of the chain');
  if (attester === undefined) throw new UsageError('--attester', 'is required: the wallet of the record');
  const chain = await openAuditChain({ rpcUrl: rpc, eas, schemaRegistry });
  const { eas: address } = chain.addresses;
  const code = await chainCall('Looking for the contract', () => chain.client.getCode({ address }));
  if (code === undefined) {
    const suggestedAction = 'Name the address of the Ethereum Attestation Service with --eas.';
    throw new OracleError('INPUT_INVALID', `--eas: no contract at ${address} on this chain`, { field: '--eas', suggestedAction });
  }
  const claims = service === undefined ? null : claimsOf(service);
  return { chain, attester, fromBlock, prices: await openPrices(command, now), claims, now };
}

/** Reads the scorecards of a running service from Node. @param url may have a path */
export function claimsOf(url: string) {
  const base = url.replace(/\/+$/, '');
  const fetchService = createOperatorFetch({ base, timeoutMs: 30_000, maxBytes: 16 * 2 ** 20 });
  const read = (path: string) => fetchService(`${base}/${path}`, { headers: { accept: 'application/json' } });
  return createServiceClaims(base, async (path) => {
    const response = await read(path).catch((error) => {
      // During a long comparison the service closes the kept connection, unseen.
      if (error.code === 'ECONNRESET') return read(path);
      throw error;
    });
    if (response.ok) return readJson(response);
    await response.body?.cancel();
    throw toResponseError(response);
  });
}

function toResponseError({ status, headers }: Response): Error {
  const message = `it answers ${status}`;
  if (status === 404) return new OracleError('NOT_FOUND', message);
  if (status !== 429) return new Error(message);
  const retryAfterSeconds = Number(headers.get('retry-after')) || undefined;
  return new OracleError('RATE_LIMITED', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

/** Connects to a chain from Node. The default contracts are the predeploys of the OP Stack. @throws OracleError CHAIN_UNREACHABLE */
export function openAuditChain(options: { rpcUrl: string; eas?: Address; schemaRegistry?: Address }): Promise<AuditChain<PublicClient>> {
  const { rpcUrl, eas = EAS_ADDRESS, schemaRegistry = SCHEMA_REGISTRY_ADDRESS } = options;
  const reader = { rpcUrl, timeoutMs: 30_000, retryDelayMs: 250 };
  const createReader = (retries: boolean, batchSize?: number) => createEvmReader({ ...reader, retryCount: retries ? 3 : 0, batchSize });
  return connectChain(({ batchSize, retries }) => createReader(retries, batchSize), { eas, schemaRegistry });
}

/** Checks the form only: the URL may contain an API key. @throws UsageError */
export function parseEndpointOption(name: string, text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(name, 'must be an http(s) URL');
}

/** @throws UsageError */
export function parseAddressOption(name: string, text: string): Address {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text as Address;
  throw new UsageError(name, 'must be an address: 0x and 40 hex characters');
}

/** Of a whole number up to `max`. */
export function parseNumberOption(max: number) {
  return (name: string, text: string): number => {
    if (/^\d{1,13}$/.test(text) && Number(text) <= max) return Number(text);
    throw new UsageError(name, `must be a whole number up to ${max}`);
  };
}

export const EXIT_CODES = { agrees: 0, differs: 1, incomplete: 3, unknown: 4 } as const satisfies Record<AuditReport['verdict'], number>;

/** Flags in commander's notation, description and parser. */
export const AUDIT_OPTIONS = [
  ['--rpc <url>', 'JSON-RPC endpoint of the chain', parseEndpointOption],
  ['--attester <address>', 'wallet of the record', parseAddressOption],
  ['--eas <address>', 'default: 0x4200..0021, the address on Base and other OP chains', parseAddressOption],
  ['--schema-registry <address>', 'default: 0x4200..0020', parseAddressOption],
  [
    '--from-block <number>',
    'first block to read (default: 0); with a later one the record is complete only if the wallet had sent nothing before it, which requires an endpoint with that state',
    parseNumberOption(1e12),
  ],
  ['--service <url>', "also compare the rows and figures of a service's scorecards", parseEndpointOption],
  [
    '--prices <file | live>',
    'CSV file with the columns date and close (USD, at 00:00 UTC of the next day), or the median of public exchanges',
  ],
  [
    '--tolerance-bps <number>',
    'maximum distance of closes on chain from these prices; 0 means equal to the cent',
    parseNumberOption(10_000),
  ],
  ['--json', 'print the report as JSON'],
] as const;

export const EXIT_CODES_TEXT = `Exit codes: 0 everything agrees; 1 something differs; 2 usage error or unreachable endpoint; 3 nothing differs, but something could not be
checked (missing prices, returns near zero with the other sign by these prices, skipped blocks, nothing to audit); 4 nothing differs, and
the endpoint lacks attestations that are or may be on chain: it says nothing about the record, ask another one.`;

/** Parsed command-line options. */
export interface AuditCommand {
  rpc?: string;
  attester?: Address;
  eas?: Address;
  schemaRegistry?: Address;
  fromBlock?: number;
  service?: string;
  /** A path, or `live`. */
  prices?: string;
  toleranceBps?: number;
  json?: boolean;
}

export interface AuditOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Runs the audit and prints the report. @param open opens chain, prices and claims
 * @returns the exit code @throws the errors of `open` and `audit`
 */
export async function runAudit(
  command: AuditCommand,
  open: (command: AuditCommand) => Promise<AuditOptions>,
  { out, err }: Record<'out' | 'err', AuditOutput>,
): Promise<number> {
  const progress = createProgressLine(err);
  const runOnce = async () => audit({ ...(await open(command)), onProgress: progress.update });
  const report = await auditUntilSettled(runOnce).finally(progress.end);
  out.write(command.json ? formatReportJson(report) : reportText(report));
  return EXIT_CODES[report.verdict];
}

/** Progress on a terminal, in one line that is overwritten. */
export function createProgressLine(output: AuditOutput) {
  return {
    update(stage: string, done: number, total: number) {
      if (output.isTTY) output.write(`\r${stage}: ${done} of ${total}\x1b[K`);
    },
    end() {
      if (output.isTTY) output.write('\r\x1b[K');
    },
  };
}
