import { type Address, type Hex, parseAbi, zeroHash } from 'viem';
import { isOracleError, toPublicReason } from '../platform/errors.ts';
import type { Chain } from './client.ts';
import { schemaRegistryAbi } from './eas/abi.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from './eas/schemas.ts';
import { readIdentity } from './erc8004/identity.ts';
import { readReputation } from './erc8004/reputation.ts';
import { readPaymentToken } from './erc8183/jobs.ts';
import { chainCall } from './rpc/chain-call.ts';
import { withChainTimeout } from './rpc/time-limit.ts';

/** `missing`: nothing at the address answers as this contract does. */
export const CONTRACT_STATES = ['live', 'missing', 'unreachable'] as const;

/** How a contract answered; `value` is null unless it is live, and `reason` only then. */
export interface ContractReading<T> {
  state: (typeof CONTRACT_STATES)[number];
  reason: string | null;
  value: T | null;
}

export interface TokenMetadata {
  /** At most 32 characters of the contract's own. */
  symbol: string;
  decimals: number;
}

/** The contracts that the service stands on, each by itself: one that does not answer hides no other. */
export interface ContractStates {
  eas: ContractReading<{ version: string }>;
  schemaRegistry: ContractReading<{ schemas: { name: SchemaName; uid: Hex; registered: boolean }[] }>;
  identityRegistry: ContractReading<{ owner: Address; agentUri: string }>;
  reputationRegistry: ContractReading<{ feedback: number; reporter: Address }>;
  gateToken: ContractReading<TokenMetadata>;
  stablecoin: ContractReading<TokenMetadata>;
  /** Null where no jobs are taken. */
  agentCommerce: ContractReading<{ paymentToken: Address }> | null;
}

export interface ContractStatesOptions {
  agentId: number;
  /** Whose feedback is counted. */
  reporter: Address;
  /** For how long each contract is waited for; 3 seconds unless told. */
  timeoutMs?: number;
}

const easVersionAbi = parseAbi(['function version() view returns (string)']);
const tokenAbi = parseAbi(['function symbol() view returns (string)', 'function decimals() view returns (uint8)']);

const MAX_SYMBOL_CHARS = 32;
const MAX_REASON_CHARS = 200;

/** Asks every contract at once. A chain that does not answer is told in the states, never thrown. */
export async function readContractStates(
  chain: Chain,
  { agentId, reporter, timeoutMs: limitMs = 3_000 }: ContractStatesOptions,
): Promise<ContractStates> {
  const { addresses } = chain;
  const readContract = <T>(what: string, read: () => Promise<T>) =>
    tryRead(() => withChainTimeout(limitMs, what, () => chainCall(what, read)));
  const { agentCommerce: jobs } = addresses;
  const [eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce] = await Promise.all([
    readContract('Asking EAS', () => readEasVersion(chain)),
    readContract('Asking the schema registry', () => readSchemaStates(chain)),
    readContract('Asking the identity registry', () => readAgentOwner(chain, agentId)),
    readContract('Asking the reputation registry', () => readFeedbackCount(chain, agentId, reporter)),
    readContract('Asking the gate token', () => readTokenMetadata(chain, addresses.gateToken)),
    readContract('Asking the stablecoin', () => readTokenMetadata(chain, addresses.stablecoin)),
    jobs === null
      ? null
      : readContract('Asking the agent commerce contract', async () => ({ paymentToken: await readPaymentToken(chain, jobs) })),
  ]);
  return { eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce };
}

async function tryRead<T>(read: () => Promise<T>): Promise<ContractReading<T>> {
  try {
    return { state: 'live', reason: null, value: await read() };
  } catch (error) {
    const state = isOracleError(error, 'CHAIN_REVERTED') ? 'missing' : 'unreachable';
    return { state, reason: toPublicReason(error).slice(0, MAX_REASON_CHARS), value: null };
  }
}

async function readEasVersion({ client, addresses }: Chain): Promise<{ version: string }> {
  const version = await client.readContract({ address: addresses.eas, abi: easVersionAbi, functionName: 'version' });
  return { version: version.slice(0, MAX_SYMBOL_CHARS) };
}

async function readSchemaStates({ client, addresses }: Chain) {
  const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema' } as const;
  const names = Object.keys(EAS_SCHEMAS) as SchemaName[];
  const schemas = names.map(async (name) => {
    const uid = getSchemaUid(name);
    const found = await client.readContract({ ...call, args: [uid] });
    return { name, uid, registered: found.uid !== zeroHash };
  });
  return { schemas: await Promise.all(schemas) };
}

async function readAgentOwner(chain: Chain, agentId: number): Promise<{ owner: Address; agentUri: string }> {
  const { owner, agentUri } = await readIdentity(chain, agentId);
  return { owner, agentUri };
}

async function readFeedbackCount(chain: Chain, agentId: number, reporter: Address): Promise<{ feedback: number; reporter: Address }> {
  const { total } = await readReputation(chain, agentId, reporter);
  return { feedback: total, reporter };
}

async function readTokenMetadata({ client }: Chain, address: Address): Promise<TokenMetadata> {
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address, abi: tokenAbi, functionName: 'symbol' }),
    client.readContract({ address, abi: tokenAbi, functionName: 'decimals' }),
  ]);
  return { symbol: symbol.slice(0, MAX_SYMBOL_CHARS), decimals };
}
