import type { Address } from 'viem';
import type { ContractReading, ContractStates, TokenMetadata } from '../../../../chain/contract-states.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { summarizeAttestations } from '../../../../record/attestations/attestation-figures.ts';
import type { HttpDeps } from '../../deps.ts';
import type { Ecosystem } from './ecosystem-schemas.ts';
import { STANDARDS } from './standards.ts';

export type EcosystemDeps = Pick<HttpDeps, 'about' | 'addresses' | 'attesterAddress' | 'chainId' | 'identity' | 'publicUrl' | 'statistics'>;

type Contracts = Ecosystem['contracts'];

export async function buildEcosystem(deps: EcosystemDeps): Promise<Ecosystem> {
  const { about, chainId, publicUrl } = deps;
  const [{ checkedAt, ...states }, eas] = await Promise.all([about.contracts(), readEasRecord(deps)]);
  return {
    success: true,
    chain: { id: chainId, caip2: `eip155:${chainId}`, local: about.local },
    checkedAt: checkedAt.toISOString(),
    contracts: buildContracts(deps, states, eas),
    standards: STANDARDS.map(({ paths, note, ...standard }) => ({
      ...standard,
      live: true,
      note,
      endpoints: paths.map((path) => `${publicUrl}${path}`),
    })),
  };
}

function buildContracts(deps: EcosystemDeps, states: ContractStates, eas: EasRecord): Contracts {
  const { addresses } = deps;
  return {
    eas: { ...toContractState(addresses.eas, states.eas), version: states.eas.value?.version ?? null, ...eas },
    schemaRegistry: {
      ...toContractState(addresses.schemaRegistry, states.schemaRegistry),
      schemas: states.schemaRegistry.value?.schemas ?? null,
    },
    identityRegistry: {
      ...toContractState(addresses.identityRegistry, states.identityRegistry),
      agentId: deps.identity()?.agentId ?? null,
      owner: states.identityRegistry.value?.owner ?? null,
      agentUri: states.identityRegistry.value?.agentUri ?? null,
    },
    reputationRegistry: {
      ...toContractState(addresses.reputationRegistry, states.reputationRegistry),
      feedback: states.reputationRegistry.value?.feedback ?? null,
      reporter: states.reputationRegistry.value?.reporter ?? null,
    },
    gateToken: toToken(addresses.gateToken, states.gateToken),
    stablecoin: toToken(addresses.stablecoin, states.stablecoin),
    agentCommerce: toAgentCommerce(addresses.agentCommerce, states.agentCommerce),
  };
}

type EasRecord = Pick<Contracts['eas'], 'attester' | 'predictions' | 'resolutions' | 'latestAttestation'>;

async function readEasRecord({ statistics, attesterAddress }: EcosystemDeps): Promise<EasRecord> {
  const { predictions, resolutions, latestAttestation } = summarizeAttestations(await statistics.figures.getAttestations(), HORIZONS);
  return { attester: attesterAddress, predictions, resolutions, latestAttestation };
}

function toContractState(
  address: Address,
  { state, reason }: ContractReading<unknown>,
): Pick<Contracts['gateToken'], 'address' | 'state' | 'reason'> {
  return { address, state, reason };
}

function toAgentCommerce(address: Address | null, observed: ContractStates['agentCommerce']): Contracts['agentCommerce'] {
  if (address === null || observed === null) return null;
  return { ...toContractState(address, observed), paymentToken: observed.value?.paymentToken ?? null };
}

function toToken(address: Address, observed: ContractReading<TokenMetadata>): Contracts['gateToken'] {
  const { symbol = null, decimals = null } = observed.value ?? {};
  return { ...toContractState(address, observed), symbol, decimals };
}
