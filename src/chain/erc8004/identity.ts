import { type Address, decodeEventLog, encodeFunctionData, type Hex, keccak256, stringToHex, toEventSelector } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { Journal } from '../tx/journal.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { identityAbi } from './abi.ts';

export interface RegisteredAgent {
  /** Ids of a registry start at 0. */
  agentId: number;
  owner: Address;
  agentUri: string;
  /** Wallet declared for payments; a transfer clears it to null until the new owner declares one. */
  agentWallet: Address | null;
  /** Block time; null for an agent that another wallet or database registered. */
  registeredAt: Date | null;
}

export interface EnsureIdentityOptions {
  agentUri: string;
  wallet: Wallet;
  /** Id of an existing agent; unset: the agent in the wallet's journal, or a new one. */
  agentId?: number;
}

const REGISTERED_TOPIC = toEventSelector('Registered(uint256,string,address)');

/** Once; later found in the wallet's journal, with any URI. @throws OracleError as `Wallet.send`; CONFIG_INVALID for another's agent */
export async function ensureIdentity(chain: Chain, { agentUri, wallet, agentId }: EnsureIdentityOptions): Promise<RegisteredAgent> {
  const registered = agentId === undefined ? await registerAgent(chain, wallet, agentUri) : { agentId, registeredAt: null };
  const identity = { ...(await readIdentity(chain, registered.agentId)), ...registered };
  if (identity.owner !== wallet.address) {
    throw new OracleError(
      'CONFIG_INVALID',
      `Agent ${identity.agentId} belongs to ${identity.owner}, not to the ${wallet.role} ${wallet.address}`,
      { suggestedAction: 'Use the key that registered the agent.' },
    );
  }
  return identity;
}

/** No transaction when it is set already. @throws OracleError as `Wallet.send` */
export async function updateAgentUri(chain: Chain, wallet: Wallet, identity: RegisteredAgent, agentUri: string): Promise<RegisteredAgent> {
  if (identity.agentUri === agentUri) return identity;
  return { ...(await setAgentUri(chain, wallet, identity.agentId, agentUri)), registeredAt: identity.registeredAt };
}

/** @throws OracleError CHAIN_REVERTED for an unknown agent, CHAIN_UNREACHABLE. */
export async function readIdentity({ client, addresses }: Chain, agentId: number): Promise<RegisteredAgent> {
  const call = { address: addresses.identityRegistry, abi: identityAbi, args: [BigInt(agentId)] } as const;
  const [owner, agentUri, agentWallet] = await chainCall(`Reading agent ${agentId}`, () =>
    Promise.all([
      client.readContract({ ...call, functionName: 'ownerOf' }),
      client.readContract({ ...call, functionName: 'tokenURI' }),
      client.readContract({ ...call, functionName: 'getAgentWallet' }),
    ]),
  );
  return { agentId, owner, agentUri, agentWallet: BigInt(agentWallet) === 0n ? null : agentWallet, registeredAt: null };
}

/** The agent that the attester's journal has registered, as the chain has it now; null without one. @throws OracleError CHAIN_UNREACHABLE */
export async function findRegisteredAgent(chain: Chain, journal: Pick<Journal, 'find'>): Promise<RegisteredAgent | null> {
  const row = await journal.find(`${chain.chainId}:attester:${buildRegistrationKey(chain.addresses.identityRegistry)}`);
  if (row?.state !== 'CONFIRMED' || row.receipt === null) return null;
  return { ...(await readIdentity(chain, parseAgentId(row.receipt))), registeredAt: row.receipt.at };
}

/** Block of the registration in the attester's journal; null for an agent that another wallet or database registered. */
export async function findRegistrationBlock({ chainId, addresses }: Chain, journal: Pick<Journal, 'find'>): Promise<number | null> {
  const row = await journal.find(`${chainId}:attester:${buildRegistrationKey(addresses.identityRegistry)}`);
  return row?.receipt?.blockNumber ?? null;
}

const buildRegistrationKey = (registry: Address) => `identity:register:${registry.toLowerCase()}`;

async function registerAgent({ addresses }: Chain, wallet: Wallet, agentUri: string) {
  const to = addresses.identityRegistry;
  const data = encodeFunctionData({ abi: identityAbi, functionName: 'register', args: [agentUri] });
  const sent = await wallet.send({ key: buildRegistrationKey(to), to, data });
  return { agentId: parseAgentId(sent), registeredAt: sent.at };
}

function parseAgentId({ hash, logs }: Pick<ConfirmedTransaction, 'hash' | 'logs'>): number {
  const log = logs.find(({ topics }) => topics[0] === REGISTERED_TOPIC);
  if (!log) throw new OracleError('CHAIN_REVERTED', `Transaction ${hash} registered no agent`);
  const { args } = decodeEventLog({ abi: identityAbi, eventName: 'Registered', topics: log.topics as [Hex, ...Hex[]], data: log.data });
  return Number(args.agentId);
}

/** Retries under a new key: for a URI that was set before, the journal returns its earlier transaction, which others have overridden. */
async function setAgentUri(chain: Chain, wallet: Wallet, agentId: number, agentUri: string): Promise<RegisteredAgent> {
  const data = encodeFunctionData({ abi: identityAbi, functionName: 'setAgentURI', args: [BigInt(agentId), agentUri] });
  const uriHash = keccak256(stringToHex(agentUri));
  for (let attempt = 1; ; attempt += 1) {
    await wallet.send({ key: `identity:uri:${agentId}:${uriHash}:${attempt}`, to: chain.addresses.identityRegistry, data });
    const identity = await readIdentity(chain, agentId);
    if (identity.agentUri === agentUri) return identity;
  }
}
