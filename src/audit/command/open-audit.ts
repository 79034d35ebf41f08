import { chainCall } from '../../chain/rpc/chain-call.ts';
import { OracleError } from '../../platform/errors.ts';
import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { UsageError } from '../../platform/usage-error.ts';
import type { AuditOptions } from '../audit.ts';
import { createServiceClaims } from '../claims/service-claims.ts';
import type { AuditPrices } from '../prices/audit-prices.ts';
import { csvPrices } from '../prices/csv-prices.ts';
import { livePrices } from '../prices/live-prices.ts';
import { openAuditChain } from './open-chain.ts';
import type { AuditCommand } from './run-audit.ts';

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
