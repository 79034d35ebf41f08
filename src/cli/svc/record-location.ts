import { type Address, isAddressEqual } from 'viem';
import { z } from 'zod';
import { type AuditChain, OP_STACK_CHAIN_IDS } from '../../audit/chain/audit-chain.ts';
import { openAuditChain } from '../../audit/command/open-chain.ts';
import type { AuditCommand } from '../../audit/command/run-audit.ts';
import { EAS_ADDRESS } from '../../chain/addresses.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import type { CliContext, DemoDeployment } from './context.ts';
import { hasServiceOption, queryService, resolveServiceUrl } from './service-request.ts';

const ADDRESS = z.custom<Address>((text) => typeof text === 'string' && /^0x[0-9a-fA-F]{40}$/.test(text));

const SERVICE_INFO = z.object({
  chain: z.object({ id: z.number(), local: z.boolean(), attester: ADDRESS, rpcUrl: z.string().nullable().optional() }),
  contracts: z.object({ eas: ADDRESS, stablecoin: ADDRESS }),
});

type ServiceInfo = z.output<typeof SERVICE_INFO>;

type LocationOptions = Pick<AuditCommand, 'rpc' | 'attester' | 'eas'> & { url?: string };

export interface RecordLocation {
  chain: AuditChain;
  attester: Address;
  /** Host of the endpoint, as its URL may contain a key. */
  endpoint: string;
  /** Base URL; null: no service is asked. */
  service: string | null;
  /** Parts that only the service has named. */
  takenFromService: ('attester' | 'endpoint' | 'eas')[];
}

/**
 * Chain and attester of a record. The service is asked for what the options do not name.
 * @throws UsageError; OracleError SERVICE_UNREACHABLE, CHAIN_UNREACHABLE
 */
export async function locateRecord(context: CliContext, { url, rpc, attester, eas }: LocationOptions): Promise<RecordLocation> {
  if (rpc !== undefined && attester !== undefined) {
    return {
      chain: await openAuditChain({ rpcUrl: rpc, eas }),
      attester,
      endpoint: new URL(rpc).host,
      service: url ?? null,
      takenFromService: [],
    };
  }
  const service = await resolveServiceUrl(context, url);
  const info = (await queryService({ url: service, path: '/api/svc/info', schema: SERVICE_INFO })).answer;
  const demo = rpc === undefined ? await findDemo(context, info, url) : null;
  const rpcUrl = rpc ?? demo?.rpcUrl ?? getNamedEndpoint(info);
  const ownEas = eas ?? demo?.contracts.eas;
  const chain = await openAuditChain({ rpcUrl, eas: ownEas ?? info.contracts.eas });
  if (info.chain.id !== chain.chainId) {
    throw new UsageError('--rpc', `is an endpoint of chain ${chain.chainId}, and the record is on chain ${info.chain.id}`);
  }
  // A contract that the service brings along could return anything.
  const isForeignEas = ownEas === undefined && !isAddressEqual(info.contracts.eas, EAS_ADDRESS);
  if (isForeignEas && OP_STACK_CHAIN_IDS.includes(chain.chainId)) {
    const where = `the service names ${info.contracts.eas}, and chain ${chain.chainId} has EAS at ${EAS_ADDRESS}`;
    throw new UsageError('--eas', `is needed: ${where}`, 'Name the contract that you trust.');
  }
  const isTaken = { attester: attester === undefined, endpoint: rpc === undefined && demo === null, eas: isForeignEas };
  const takenFromService = (['attester', 'endpoint', 'eas'] as const).filter((part) => isTaken[part]);
  return { chain, attester: attester ?? info.chain.attester, endpoint: new URL(rpcUrl).host, service, takenFromService };
}

/** @throws OracleError CHAIN_UNREACHABLE when the service names no endpoint */
function getNamedEndpoint({ chain }: ServiceInfo): string {
  if (chain.rpcUrl != null && URL.canParse(chain.rpcUrl)) return chain.rpcUrl;
  const suggestedAction = `Name one of chain ${chain.id} with --rpc.`;
  throw new OracleError('CHAIN_UNREACHABLE', 'The service names no endpoint of its chain', { suggestedAction });
}

/**
 * The demo deployment of this folder if the service belongs to it: its chain is read directly then.
 * @param url of the service; one that was named explicitly may be another one
 * @throws UsageError when the unnamed service is not that of this folder
 */
async function findDemo(context: CliContext, { chain, contracts }: ServiceInfo, url?: string): Promise<DemoDeployment | null> {
  if (!chain.local || context.demo === undefined) return null;
  const demo = await context.demo().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)));
  // Each demo deployment has its own contract addresses.
  if (demo === null || isAddressEqual(demo.contracts.stablecoin, contracts.stablecoin)) return demo;
  if (hasServiceOption(context, url)) return null;
  const hint = 'Start the service of this folder, make PORT and DATA_DIR match, or name the service with --url.';
  throw new UsageError(
    'DATA_DIR',
    `the service at ${await resolveServiceUrl(context, url)} is not that of this data folder: it is on another chain`,
    hint,
  );
}
