import type { Address, PublicClient } from 'viem';
import { type AuditOptions, type AuditReport, audit, auditUntilSettled, formatReportJson, reportText } from '../../audit/audit.ts';
import { type AuditChain, type AuditPrices, connectChain } from '../../audit/chain-record.ts';
import { createServiceClaims } from '../../audit/service-claims.ts';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { chainCall } from '../../chain/rpc.ts';
import { OracleError, UsageError } from '../../errors.ts';
import { createEvmReader } from '../../platform/outbound/evm.ts';
import { createOperatorFetch, readJson } from '../../platform/outbound/operator.ts';
import { csvPrices, livePrices } from './audit-prices.ts';

/** The quorum tolerance of the service's own venues, since exchanges close at different prices. */
const DEFAULT_TOLERANCE_BPS = 100;

/** Opens the prices of `--prices`, by default those of public exchanges. @throws OracleError FEED_INVALID */
export async function openPrices({ prices = 'live', toleranceBps = DEFAULT_TOLERANCE_BPS }: AuditCommand, now: Date): Promise<AuditPrices> {
  return prices === 'live' ? livePrices({ toleranceBps, now }) : csvPrices(prices, toleranceBps);
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
