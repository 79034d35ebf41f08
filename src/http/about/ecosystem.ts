import type { Address } from 'viem';
import type { ContractStates, Observed, TokenFacts } from '../../chain/contract-states.ts';
import { attestationStats } from '../../record/attestations.ts';
import type { HttpParts } from '../parts.ts';
import type { Ecosystem } from '../schemas/ecosystem.ts';
import { STANDARDS } from './standards.ts';

type Contracts = Ecosystem['contracts'];

/** What this service stands on and speaks, with the state of each contract. */
export async function ecosystemOf(parts: HttpParts): Promise<Ecosystem> {
  const { about, chainId, publicUrl } = parts;
  const [{ checkedAt, ...states }, eas] = await Promise.all([about.contracts(), easRecord(parts)]);
  return {
    success: true,
    chain: { id: chainId, caip2: `eip155:${chainId}`, local: about.local },
    checkedAt: checkedAt.toISOString(),
    contracts: contractsOf(parts, states, eas),
    standards: STANDARDS.map(({ paths, ...standard }) => ({ ...standard, endpoints: paths.map((path) => `${publicUrl}${path}`) })),
  };
}

function contractsOf(parts: HttpParts, states: ContractStates, eas: EasRecord): Contracts {
  const { addresses } = parts;
  return {
    eas: { ...stateOf(addresses.eas, states.eas), version: states.eas.value?.version ?? null, ...eas },
    schemaRegistry: {
      ...stateOf(addresses.schemaRegistry, states.schemaRegistry),
      schemas: states.schemaRegistry.value?.schemas ?? null,
    },
    identityRegistry: {
      ...stateOf(addresses.identityRegistry, states.identityRegistry),
      agentId: parts.identity()?.agentId ?? null,
      owner: states.identityRegistry.value?.owner ?? null,
      agentUri: states.identityRegistry.value?.agentUri ?? null,
    },
    reputationRegistry: {
      ...stateOf(addresses.reputationRegistry, states.reputationRegistry),
      feedback: states.reputationRegistry.value?.feedback ?? null,
      reporter: states.reputationRegistry.value?.reporter ?? null,
    },
    gateToken: tokenOf(addresses.gateToken, states.gateToken),
    stablecoin: tokenOf(addresses.stablecoin, states.stablecoin),
    agentCommerce: agentCommerceOf(addresses.agentCommerce, states.agentCommerce),
  };
}

type EasRecord = Pick<Contracts['eas'], 'attester' | 'predictions' | 'resolutions' | 'latestAttestation'>;

async function easRecord({ record, attesterAddress }: HttpParts): Promise<EasRecord> {
  const { predictions, resolutions, latestAttestation } = await attestationStats(record);
  return { attester: attesterAddress, predictions, resolutions, latestAttestation };
}

function stateOf(address: Address, { state, reason }: Observed<unknown>): Pick<Contracts['gateToken'], 'address' | 'state' | 'reason'> {
  return { address, state, reason };
}

function agentCommerceOf(address: Address | null, observed: ContractStates['agentCommerce']): Contracts['agentCommerce'] {
  if (address === null || observed === null) return null;
  return { ...stateOf(address, observed), paymentToken: observed.value?.paymentToken ?? null };
}

function tokenOf(address: Address, observed: Observed<TokenFacts>): Contracts['gateToken'] {
  const { symbol = null, decimals = null } = observed.value ?? {};
  return { ...stateOf(address, observed), symbol, decimals };
}
