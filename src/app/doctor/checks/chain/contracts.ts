import { type Address, parseAbi } from 'viem';
import type { Chain } from '../../../../chain/client.ts';
import type { ContractReading } from '../../../../chain/contract-states.ts';
import { readContractStates } from '../../../../chain/contract-states.ts';
import { chainCall } from '../../../../chain/rpc/chain-call.ts';
import { readStablecoin } from '../../../../chain/stablecoin/stablecoin.ts';
import { requireDeploymentContracts } from '../../../../commerce/x402/settlement/deployments/deployment-contracts.ts';
import type { Check } from '../../check.ts';
import { type Finding, fail, ok, orFinding, warn } from '../../finding.ts';

const registryAbi = parseAbi(['function getIdentityRegistry() view returns (address)']);

/** What each address has on this chain, and whether that is what the service needs. */
export const contractsCheck: Check = {
  id: 'contracts',
  title: 'Contracts',
  needs: [
    'CHAIN_RPC_URL',
    'CHAIN_ID',
    'GATE_TOKEN_ADDRESS',
    'STABLECOIN_ADDRESS',
    'IDENTITY_REGISTRY_ADDRESS',
    'REPUTATION_REGISTRY_ADDRESS',
  ],
  needsTarget: true,
  uses: ['chain'],
  async run({ chain, roles, config: { X402_WALLET_FACTORIES: factories = [] } }) {
    const connected = await chain();
    const { addresses } = connected;
    const reporter = (await roles().catch(() => [])).find(({ role }) => role === 'reporter')?.address ?? addresses.eas;
    const states = await readContractStates(connected, { agentId: 0, reporter });
    return [
      toContractFinding({ name: 'EAS', address: addresses.eas, isPermanent: true }, states.eas, ({ version }) => `version ${version}`),
      ...checkSchemas(states.schemaRegistry, addresses.schemaRegistry),
      ...(await orFinding(() => checkRegistries(connected), { isPermanent: true })),
      toContractFinding(
        { name: 'gate token', address: addresses.gateToken, setting: 'GATE_TOKEN_ADDRESS' },
        states.gateToken,
        ({ symbol, decimals }) => `${symbol}, ${decimals} decimals`,
      ),
      ...(await orFinding(async () => {
        const { name, version } = await readStablecoin(connected, addresses.stablecoin);
        return ok(`stablecoin ${addresses.stablecoin}: ${name}, version ${version}, 6 decimals`);
      })),
      ...(factories.length === 0 ? [] : await orFinding(() => checkFactories(connected, factories))),
      ...checkCommerce(addresses.agentCommerce, states.agentCommerce, addresses.stablecoin),
    ];
  },
};

interface ContractName {
  name: string;
  address: Address;
  setting?: string;
  isPermanent?: boolean;
}

function toContractFinding<T>(
  { name, address, setting, isPermanent = false }: ContractName,
  { state, reason, value }: ContractReading<T>,
  describe: (value: T) => string,
): Finding {
  if (value !== null) return ok(`${name} ${address}: ${describe(value)}`);
  const action =
    setting === undefined ? 'Set CHAIN_RPC_URL and CHAIN_ID to a chain that has it.' : `Set ${setting} to its address on this chain.`;
  return fail(`${name} ${address} is ${state}: ${reason}`, { action, isPermanent });
}

function checkSchemas(reading: Awaited<ReturnType<typeof readContractStates>>['schemaRegistry'], address: Address): Finding[] {
  if (reading.value === null) return [toContractFinding({ name: 'schema registry', address, isPermanent: true }, reading, () => '')];
  return reading.value.schemas.map(({ name, uid, registered }) =>
    ok(`schema ${name} ${uid} is ${registered ? 'registered' : 'not registered yet: the first attestation does it'}`),
  );
}

async function checkRegistries({ client, addresses }: Chain): Promise<Finding> {
  const { identityRegistry, reputationRegistry } = addresses;
  const call = { address: reputationRegistry, abi: registryAbi, functionName: 'getIdentityRegistry' } as const;
  const [code, named] = await chainCall('Reading the ERC-8004 registries', () =>
    Promise.all([client.getCode({ address: identityRegistry }), client.readContract(call)]),
  );
  const where = `identity registry ${identityRegistry}`;
  if (code === undefined)
    return fail(`${where} has no code`, { action: 'Set IDENTITY_REGISTRY_ADDRESS to its address.', isPermanent: true });
  if (named.toLowerCase() === identityRegistry.toLowerCase()) return ok(`${where}, reputation registry ${reputationRegistry}`);
  return fail(`reputation registry ${reputationRegistry} belongs to the identity registry ${named}, not to ${identityRegistry}`, {
    action: 'Set IDENTITY_REGISTRY_ADDRESS and REPUTATION_REGISTRY_ADDRESS to a pair.',
    isPermanent: true,
  });
}

async function checkFactories(chain: Chain, factories: readonly Address[]): Promise<Finding> {
  await requireDeploymentContracts(chain, factories);
  return ok(`wallet factories ${factories.join(', ')} and Multicall3 have code`);
}

function checkCommerce(
  address: Address | null,
  reading: ContractReading<{ paymentToken: Address }> | null,
  stablecoin: Address,
): Finding[] {
  if (address === null || reading === null) return [];
  const contract = { name: 'agent commerce', address, setting: 'AGENT_COMMERCE_ADDRESS' };
  const paymentToken = reading.value?.paymentToken;
  if (paymentToken !== undefined && paymentToken.toLowerCase() !== stablecoin.toLowerCase())
    return [warn(`agent commerce ${address} is paid in ${paymentToken}, not in the stablecoin`, 'Jobs are refused there.')];
  return [toContractFinding(contract, reading, () => 'paid in the stablecoin')];
}
