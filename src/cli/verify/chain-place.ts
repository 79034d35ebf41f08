import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import { type AuditChain, openAuditChain } from '../../audit/chain.ts';
import { Misuse } from '../../audit/misuse.ts';
import { EAS_ADDRESS } from '../../chain/addresses.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Demo, Host } from '../host.ts';
import { ask, isServiceNamed, serviceUrl } from '../service.ts';

const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text as Address);

const INFO = z.object({
  chain: z.object({ id: z.number(), local: z.boolean(), attester: ADDRESS, rpcUrl: z.string().nullable().optional() }),
  contracts: z.object({ eas: ADDRESS, stablecoin: ADDRESS }),
});

type Info = z.output<typeof INFO>;

interface PlaceOptions {
  url?: string;
  rpc?: string;
  attester?: Address;
  eas?: Address;
}

/** Where a record is, and who said so. */
export interface Place {
  chain: AuditChain;
  attester: Address;
  /** Of the endpoint, for people: an endpoint's URL may hold a key. */
  endpoint: string;
  /** What was taken from the service's word, for people to judge. */
  told: ('attester' | 'endpoint' | 'eas')[];
}

/**
 * Chain and wallet of a record. What a call does not name the service is asked for: where things are, and never what they are worth.
 * @throws Misuse; OracleError SERVICE_UNREACHABLE, CHAIN_UNREACHABLE
 */
export async function findPlace(host: Host, { url, rpc, attester, eas }: PlaceOptions): Promise<Place> {
  const named = rpc !== undefined && attester !== undefined;
  const service = serviceUrl(host, url);
  const info = named ? null : (await ask({ url: service, path: '/api/svc/info', as: INFO })).answer;
  const demo = rpc === undefined ? await demoOf(host, info as Info, { service, isNamed: isServiceNamed(host, url) }) : null;
  const rpcUrl = rpc ?? demo?.rpcUrl ?? namedIn(info as Info);
  const easOfService = eas === undefined && demo === null ? info?.contracts.eas : undefined;
  const chain = await openAuditChain({ rpcUrl, eas: eas ?? demo?.contracts.eas ?? easOfService });
  if (info !== null && info.chain.id !== chain.chainId) {
    throw new Misuse('--rpc', `is an endpoint of chain ${chain.chainId}, and the record is on chain ${info.chain.id}`);
  }
  // Who brings a contract of his own makes it say anything.
  const ownEas = easOfService !== undefined && !isAddressEqual(easOfService, EAS_ADDRESS);
  if (ownEas && OP_CHAINS.has(chain.chainId)) {
    const where = `the service names ${easOfService}, and chain ${chain.chainId} has EAS at ${EAS_ADDRESS}`;
    throw new Misuse('--eas', `is needed: ${where}`, 'Name the contract that you believe.');
  }
  const told: Place['told'] = [
    ...(attester === undefined ? (['attester'] as const) : []),
    ...(rpcUrl === rpc || demo !== null ? [] : (['endpoint'] as const)),
    ...(ownEas ? (['eas'] as const) : []),
  ];
  return { chain, attester: attester ?? (info as Info).chain.attester, endpoint: new URL(rpcUrl).host, told };
}

/** Base, OP and their test chains, where EAS is a part of the chain. */
const OP_CHAINS: ReadonlySet<number> = new Set([8453, 84532, 10, 11155420]);

/** The one that the service names for everybody. @throws OracleError CHAIN_UNREACHABLE where it names none */
function namedIn({ chain }: Info): string {
  if (chain.rpcUrl != null && URL.canParse(chain.rpcUrl)) return chain.rpcUrl;
  throw new OracleError('CHAIN_UNREACHABLE', 'The service names no endpoint of its chain', {
    suggestedAction: `Name one of chain ${chain.id} with --rpc.`,
  });
}

interface Asking {
  /** The service that was asked. */
  service: string;
  /** It was named, and need not be that of this folder. */
  isNamed: boolean;
}

/**
 * The demonstration of this folder, if the service is that one: its chain can be read without the service in between.
 * @throws Misuse where the service should be that of this folder, and is another one
 */
async function demoOf(host: Host, { chain, contracts }: Info, { service, isNamed }: Asking): Promise<Demo | null> {
  if (!chain.local || host.demo === undefined) return null;
  const demo = await host.demo().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)));
  // Another demonstration has its contracts elsewhere.
  if (demo === null || isAddressEqual(demo.contracts.stablecoin, contracts.stablecoin)) return demo;
  if (isNamed) return null;
  const hint = 'Start that of the folder, set PORT or DATA_DIR to where they belong together, or name the service with --url.';
  throw new Misuse('DATA_DIR', `the service at ${service} is not that of this data folder: it is on another chain`, hint);
}
