import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import type { AuditOptions } from './audit/audit.ts';
import { openAuditChain } from './audit/chain.ts';
import { claimsOf } from './audit/claims.ts';
import { type AuditCommand, OPTIONS_TEXT, runAudit } from './audit/command.ts';
import { namedPrices, openByAddress } from './audit/open.ts';
import { survivePipes } from './cli/pipes.ts';
import { type Config, loadConfig, localUrl } from './config.ts';
import { readDemoFile } from './demo-login.ts';
import { OracleError } from './errors.ts';
import { lookAtService } from './local/look-at-service.ts';
import { recordPrices } from './local/record-prices.ts';
import { createOperatorFetch } from './platform/outbound/operator-fetch.ts';

const USAGE = `Usage: npm run -s audit [-- --rpc <url> --attester <address>] [-- options]

Recomputes the record from its attestations on chain and from prices alone, and prints every difference from what the service claims.
Without --rpc: the running service of DATA_DIR, against its chain and the prices that its record is made from, made or read anew.

${OPTIONS_TEXT}`;

/** Audits a record: what `npm run audit` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  survivePipes();
  process.exitCode = await runAudit(words, { open: (command) => openAudit(command), out: process.stdout, err: process.stderr });
}

/** What a call comes to: an audit by addresses, or of the service of this folder. */
export function openAudit(command: AuditCommand, settings: () => Config = loadConfig): Promise<AuditOptions> {
  return command.rpc === undefined ? openDemo(command, settings(), new Date()) : openByAddress(command, new Date());
}

/** The service of this folder: where its chain is the folder says, everything else is asked of the chain or made anew. */
async function openDemo(command: AuditCommand, config: Config, now: Date): Promise<AuditOptions> {
  const { rpcUrl, contracts } = await readDemoFile(config.DATA_DIR);
  const url = command.service ?? localUrl(config);
  await requireUp(url);
  const { attester, source, stablecoin } = await introductionOf(url);
  if (!isAddressEqual(stablecoin, contracts.stablecoin)) throw notOfFolder(url, config.DATA_DIR);
  const settings = { feeds: config.FEEDS, providerUrls: config.PROVIDER_URLS };
  const { eas = contracts.eas, schemaRegistry = contracts.schemaRegistry, fromBlock } = command;
  return {
    chain: await openAuditChain({ rpcUrl, eas, schemaRegistry }),
    attester: command.attester ?? attester,
    fromBlock,
    prices:
      command.prices === undefined
        ? await recordPrices(source, { ...settings, toleranceBps: command.toleranceBps, now })
        : await namedPrices(command, now),
    claims: claimsOf(url),
    now,
  };
}

async function requireUp(url: string): Promise<void> {
  const { state } = await lookAtService(url);
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
function notOfFolder(url: string, dataDir: string): OracleError {
  return new OracleError('CONFIG_INVALID', `The service at ${url} is not that of the data folder ${dataDir}: it is on another chain`, {
    field: 'DATA_DIR',
    suggestedAction:
      'Start that of the folder, set PORT or DATA_DIR to where they belong together, or name a chain and a wallet with --rpc and --attester.',
  });
}

const INTRODUCTION = z.object({
  chain: z.object({ attester: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  contracts: z.object({ stablecoin: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  data: z.object({ source: z.string().max(200) }),
});

/** Whose attestations they are, and what market the record is made from. A service that names another wallet shows rows of another. */
async function introductionOf(url: string): Promise<{ attester: Address; source: string; stablecoin: Address }> {
  const answer = await createOperatorFetch({ base: url, timeoutMs: 30_000, maxBytes: 1_000_000 })(`${url}/api/svc/info`)
    .then((response) => response.json())
    .catch(() => null);
  const { success, data } = INTRODUCTION.safeParse(answer);
  if (success) {
    const { chain, contracts, data: market } = data;
    return { attester: chain.attester as Address, source: market.source, stablecoin: contracts.stablecoin as Address };
  }
  throw new OracleError('SERVICE_UNREACHABLE', `The service at ${url} does not say at /api/svc/info whose attestations its record is`, {
    suggestedAction: 'Name the chain and the wallet with --rpc and --attester.',
  });
}
