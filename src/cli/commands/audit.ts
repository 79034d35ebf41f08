import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import type { AuditOptions } from '../../audit/audit.ts';
import { openAuditChain } from '../../audit/chain/audit-chain.ts';
import { claimsOf } from '../../audit/claims/service-claims.ts';
import { openAuditByAddress, openPrices } from '../../audit/command/open-audit.ts';
import { type AuditCommand, OPTIONS_TEXT, runAudit } from '../../audit/command/run-audit.ts';
import { readDemoFile } from '../../dev/demo/demo-login.ts';
import { getLocalUrl, loadConfig } from '../../platform/config/config.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { handleBrokenPipes } from '../svc/broken-pipes.ts';
import { openRecordPrices } from './audit-prices.ts';
import { probeService } from './probe-service.ts';

const USAGE = `Usage: npm run -s audit [-- --rpc <url> --attester <address>] [-- options]

Recomputes the record from its attestations on chain and from prices alone, and prints every difference from what the service claims.
Without --rpc: the running service of DATA_DIR, against its chain and the prices that its record is made from, made or read anew.

${OPTIONS_TEXT}`;

/** Audits a record: what `npm run audit` starts. */
export async function runAuditCommand(args: string[]): Promise<void> {
  if (args.includes('--help') || args[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  handleBrokenPipes();
  process.exitCode = await runAudit(args, { open: (command) => openAudit(command), out: process.stdout, err: process.stderr });
}

/** What a call comes to: an audit by addresses, or of the service of this folder. */
export function openAudit(command: AuditCommand, settings: () => Config = loadConfig): Promise<AuditOptions> {
  return command.rpc === undefined ? openLocalAudit(command, settings(), new Date()) : openAuditByAddress(command, new Date());
}

/** The service of this folder: where its chain is the folder says, everything else is asked of the chain or made anew. */
async function openLocalAudit(command: AuditCommand, config: Config, now: Date): Promise<AuditOptions> {
  const { rpcUrl, contracts } = await readDemoFile(config.DATA_DIR);
  const url = command.service ?? getLocalUrl(config);
  await requireServiceReady(url);
  const { attester, source, stablecoin } = await fetchServiceInfo(url);
  if (!isAddressEqual(stablecoin, contracts.stablecoin)) throw otherDataDirError(url, config.DATA_DIR);
  const settings = { feeds: config.FEEDS, providerUrls: config.PROVIDER_URLS };
  const { eas = contracts.eas, schemaRegistry = contracts.schemaRegistry, fromBlock } = command;
  return {
    chain: await openAuditChain({ rpcUrl, eas, schemaRegistry }),
    attester: command.attester ?? attester,
    fromBlock,
    prices:
      command.prices === undefined
        ? await openRecordPrices(source, { ...settings, toleranceBps: command.toleranceBps, now })
        : await openPrices(command, now),
    claims: claimsOf(url),
    now,
  };
}

async function requireServiceReady(url: string): Promise<void> {
  const { state } = await probeService(url);
  if (state === 'up') return;
  if (state === 'starting') {
    throw new OracleError('SERVICE_UNREACHABLE', `The service at ${url} is still starting`, {
      suggestedAction: `Run it again once that is over: ${url}/health says how far it is.`,
    });
  }
  const what = state === 'nothing' ? 'No service answers' : 'Something else answers';
  throw new OracleError('SERVICE_UNREACHABLE', `${what} at ${url}`, {
    suggestedAction:
      'Start it with npm start, with the same settings; or name its address with --service, or a chain with --rpc and --attester.',
  });
}

/** Each folder has contracts of its own: the rows of one service and the chain of another agree in nothing. */
function otherDataDirError(url: string, dataDir: string): OracleError {
  return new OracleError('CONFIG_INVALID', `The service at ${url} is not that of the data folder ${dataDir}: it is on another chain`, {
    field: 'DATA_DIR',
    suggestedAction:
      'Start that of the folder, set PORT or DATA_DIR to where they belong together, or name a chain and a wallet with --rpc and --attester.',
  });
}

const SERVICE_INFO = z.object({
  chain: z.object({ attester: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  contracts: z.object({ stablecoin: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  data: z.object({ source: z.string().max(200) }),
});

/** Whose attestations they are, and what market the record is made from. A service that names another wallet shows rows of another. */
async function fetchServiceInfo(url: string): Promise<{ attester: Address; source: string; stablecoin: Address }> {
  const body = await createOperatorFetch({ base: url, timeoutMs: 30_000, maxBytes: 1_000_000 })(`${url}/api/svc/info`)
    .then((response) => response.json())
    .catch(() => null);
  const { success, data } = SERVICE_INFO.safeParse(body);
  if (success) {
    const { chain, contracts, data: market } = data;
    return { attester: chain.attester as Address, source: market.source, stablecoin: contracts.stablecoin as Address };
  }
  throw new OracleError('SERVICE_UNREACHABLE', `The service at ${url} does not say at /api/svc/info whose attestations its record is`, {
    suggestedAction: 'Name the chain and the wallet with --rpc and --attester.',
  });
}
