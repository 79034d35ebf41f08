import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import { type AuditChain, openAuditChain } from '../../audit/chain.ts';
import { Misuse } from '../../audit/misuse.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Demo, Host } from '../host.ts';
import { ask, serviceUrl } from '../service.ts';

const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text as Address);

const INFO = z.object({
  chain: z.object({ id: z.number(), local: z.boolean(), attester: ADDRESS, rpcUrl: z.string().nullable().optional() }),
  contracts: z.object({ eas: ADDRESS, schemaRegistry: ADDRESS, stablecoin: ADDRESS }),
});

type Info = z.output<typeof INFO>;

export interface PlaceOptions {
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
  told: ('attester' | 'endpoint')[];
}

/**
 * Chain and wallet of a record. What a call does not name the service is asked for: where things are, and never what they are worth.
 * @throws Misuse; OracleError SERVICE_UNREACHABLE, CHAIN_UNREACHABLE
 */
export async function findPlace(host: Host, { url, rpc, attester, eas }: PlaceOptions): Promise<Place> {
  const named = rpc !== undefined && attester !== undefined;
  const info = named ? null : (await ask({ url: serviceUrl(host, url), path: '/api/svc/info', as: INFO })).answer;
  const demo = rpc === undefined ? await demoOf(host, info as Info) : null;
  const rpcUrl = rpc ?? demo?.rpcUrl ?? namedIn(info as Info);
  const addresses = { eas: eas ?? info?.contracts.eas, schemaRegistry: info?.contracts.schemaRegistry };
  const chain = await openAuditChain({ rpcUrl, ...addresses });
  if (info !== null && info.chain.id !== chain.chainId) {
    throw new Misuse('--rpc', `is an endpoint of chain ${chain.chainId}, and the record is on chain ${info.chain.id}`);
  }
  const told: Place['told'] = [
    ...(attester === undefined ? (['attester'] as const) : []),
    ...(rpcUrl === rpc || demo !== null ? [] : (['endpoint'] as const)),
  ];
  return { chain, attester: attester ?? (info as Info).chain.attester, endpoint: new URL(rpcUrl).host, told };
}

/** The one that the service names for everybody. @throws OracleError CHAIN_UNREACHABLE where it names none */
function namedIn({ chain }: Info): string {
  if (chain.rpcUrl != null && URL.canParse(chain.rpcUrl)) return chain.rpcUrl;
  throw new OracleError('CHAIN_UNREACHABLE', 'The service names no endpoint of its chain', {
    suggestedAction: `Name one of chain ${chain.id} with --rpc.`,
  });
}

/** The demonstration of this folder, if the service is that one: its chain can be read without the service in between. */
async function demoOf(host: Host, { chain, contracts }: Info): Promise<Demo | null> {
  if (!chain.local || host.demo === undefined) return null;
  const demo = await host.demo().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)));
  // Another demonstration has its contracts elsewhere.
  return demo !== null && isAddressEqual(demo.contracts.stablecoin, contracts.stablecoin) ? demo : null;
}
