import { basename, join, resolve } from 'node:path';
import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import type { AuditOptions } from '../audit/audit.ts';
import type { AuditPrices } from '../audit/chain-record.ts';
import { getLocalUrl, loadConfig } from '../config.ts';
import { readDemoFile } from '../dev/demo.ts';
import { OracleError, orElse } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import { openCsvFeed } from '../market/csv.ts';
import type { Feed } from '../market/feed.ts';
import { PROVIDER_IDS } from '../market/live/provider.ts';
import { getBaseUrl, type ProviderUrls, parseProviderUrls } from '../market/live/providers.ts';
import { createMarket } from '../market/market.ts';
import { openSimulatedFeed } from '../market/simulated.ts';
import { createOperatorFetch } from '../platform/outbound/operator.ts';
import type { Config } from '../settings.ts';
import { probeService } from './script.ts';
import {
  AUDIT_OPTIONS,
  type AuditCommand,
  claimsOf,
  EXIT_CODES_TEXT,
  openAuditByAddress,
  openAuditChain,
  openPrices,
  runAudit,
} from './svc/audit-options.ts';
import { CANDLE_VENUES, type CandleVenue, livePrices } from './svc/audit-prices.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';
import { EXIT, handleBrokenPipes } from './svc/context.ts';
import { printError } from './svc/errors.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s audit --',
  example: 'npm run -s audit -- --prices live',
  summary: 'Recomputes the record from its attestations and prices, and prints every difference from the claims of the service',
  description: 'Without --rpc: the running service of DATA_DIR, against its chain and the prices that its record is made from.',
  options: AUDIT_OPTIONS,
  footer: EXIT_CODES_TEXT,
};

export async function runAuditCommand(args: string[]): Promise<void> {
  handleBrokenPipes();
  const { stdout: out, stderr: err } = process;
  try {
    const parsed = parseCommandLine<AuditCommand>(SYNTAX, args, out);
    if (parsed !== null) process.exitCode = await runAudit(parsed.values, openAudit, { out, err });
  } catch (error) {
    printError(error, { err, environment: { NO_COLOR: '1' } }, ({ suggestedAction }) => suggestedAction);
    // 1 means that something differs.
    process.exitCode = EXIT.misused;
  }
}

export function openAudit(command: AuditCommand, settings: () => Config = loadConfig): Promise<AuditOptions> {
  return command.rpc === undefined ? openLocalAudit(command, settings(), new Date()) : openAuditByAddress(command, new Date());
}

/** The data folder names the chain; everything else is read from the chain or computed again. */
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

/** Each data folder has its own contracts: the rows of one service never match the chain of another. */
function otherDataDirError(url: string, dataDir: string): OracleError {
  return new OracleError('CONFIG_INVALID', `The service at ${url} is not that of the data folder ${dataDir}: it is on another chain`, {
    field: 'DATA_DIR',
    suggestedAction:
      'Start the service of this folder, make PORT and DATA_DIR match, or name a chain and a wallet with --rpc and --attester.',
  });
}

const SERVICE_INFO = z.object({
  chain: z.object({ attester: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  contracts: z.object({ stablecoin: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
  data: z.object({ source: z.string().max(200) }),
});

/** The attester and the price source. A service that names a foreign attester fails the audit, as its rows differ. */
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

interface PriceOptions {
  feeds: string;
  providerUrls?: string;
  /** Unset: 0 for simulated and CSV prices, 100 for live ones. */
  toleranceBps?: number;
  now: Date;
}

const LIVE_TOLERANCE_BPS = 100;

/** @throws OracleError CONFIG_INVALID, FEED_INVALID */
export async function openRecordPrices(source: string, options: PriceOptions): Promise<AuditPrices> {
  const { feeds, providerUrls = '', toleranceBps, now } = options;
  const [, seed] = /^simulated \(seed (\d+)\)$/.exec(source) ?? [];
  if (seed !== undefined) return createFeedPrices(openSimulatedFeed({ seed: Number(seed) }), { now, toleranceBps });
  if (source.startsWith('csv:')) return createFeedPrices(await openCsvFeed(getCsvFolder(source, feeds)), { now, toleranceBps });
  return livePrices({ toleranceBps: toleranceBps ?? LIVE_TOLERANCE_BPS, now }, buildVenues(parseProviderUrls(providerUrls)));
}

function buildVenues(urls: ProviderUrls): CandleVenue[] {
  return CANDLE_VENUES.map((venue) => {
    const id = PROVIDER_IDS.find((provider) => provider === venue.name.toLowerCase());
    return id === undefined ? venue : { ...venue, baseUrl: getBaseUrl(urls, id) };
  });
}

/** A record contains the name of its CSV folder, not the path. */
function getCsvFolder(source: string, feeds: string): string {
  const folder = feeds.startsWith('csv:') ? feeds.slice('csv:'.length).trim() : '';
  const name = source.slice('csv:'.length);
  if (folder !== '' && basename(resolve(folder)) === name) return folder;
  throw new OracleError('CONFIG_INVALID', `The record of this service was made from files in a folder named "${name}"`, {
    field: 'FEEDS',
    suggestedAction: `Set FEEDS=csv:<folder> as for npm start, or name a file of closes with --prices, such as ${join(name, 'btc_daily.csv')}.`,
  });
}

async function createFeedPrices(feed: Feed, { toleranceBps = 0, now }: Omit<PriceOptions, 'feeds'>): Promise<AuditPrices> {
  const market = createMarket(feed);
  const { lastDay } = await market.coverage();
  const close = async (day: Day): Promise<[Day, number][]> => {
    const found = await market.dailyClose(day, now.getTime()).catch(orElse('PRICE_UNAVAILABLE', null));
    return found === null ? [] : [[day, found.priceUsd]];
  };
  return {
    source: feed.source,
    toleranceBps,
    endsOn: lastDay,
    closes: async (days) => new Map((await Promise.all(days.map(close))).flat()),
    async history() {
      const { days, values } = await feed.observations('btcClose', now.getTime());
      return days.length === 0 ? null : { firstDay: days[0], closes: Float64Array.from(values) };
    },
  };
}
