import { type Address, erc20Abi, type Hex, parseAbi, zeroHash } from 'viem';
import { isOracleError, toPublicReason } from '../platform/errors.ts';
import type { Chain } from './client.ts';
import { schemaRegistryAbi } from './eas/abi.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from './eas/attestation-schemas.ts';
import { readIdentity } from './erc8004/identity.ts';
import { readReputation } from './erc8004/reputation.ts';
import { readPaymentToken } from './erc8183/jobs.ts';
import { chainCallWithin } from './rpc/time-limit.ts';

/** `missing`: no contract with the expected interface at the address. */
export const CONTRACT_STATES = ['live', 'missing', 'unreachable'] as const;

/** State of one contract; `value` is set only when it is live, `reason` only when it is not. */
export interface ContractReading<T> {
  state: (typeof CONTRACT_STATES)[number];
  reason: string | null;
  value: T | null;
}

export interface TokenMetadata {
  /** At most 32 characters: the contract chooses it. */
  symbol: string;
  decimals: number;
}

/** States of the contracts that the service depends on, read independently: a silent contract hides no other. */
export interface ContractStates {
  eas: ContractReading<{ version: string }>;
  schemaRegistry: ContractReading<{ schemas: { name: SchemaName; uid: Hex; registered: boolean }[] }>;
  identityRegistry: ContractReading<{ owner: Address; agentUri: string }>;
  reputationRegistry: ContractReading<{ feedback: number; reporter: Address }>;
  gateToken: ContractReading<TokenMetadata>;
  stablecoin: ContractReading<TokenMetadata>;
  /** Null when jobs are disabled. */
  agentCommerce: ContractReading<{ paymentToken: Address }> | null;
}

export interface ContractStatesOptions {
  agentId: number;
  reporter: Address;
  /** Timeout per contract; default 3 s. */
  timeoutMs?: number;
}

const easVersionAbi = parseAbi(['function version() view returns (string)']);

const MAX_SYMBOL_CHARS = 32;
const MAX_REASON_CHARS = 200;

/** Reads all contracts in parallel. A chain error becomes the state `unreachable` and is never thrown. */
export async function readContractStates(chain: Chain, options: ContractStatesOptions): Promise<ContractStates> {
  const { agentId, reporter, timeoutMs = 3_000 } = options;
  const { gateToken: gateTokenAddress, stablecoin: stablecoinAddress, agentCommerce: jobs } = chain.addresses;
  const read = <T>(what: string, readValue: () => Promise<T>) => tryRead(() => chainCallWithin(timeoutMs, what, readValue));
  const [eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce] = await Promise.all([
    read('Asking EAS', () => readEasVersion(chain)),
    read('Asking the schema registry', () => readSchemaStates(chain)),
    read('Asking the identity registry', async () => {
      const { owner, agentUri } = await readIdentity(chain, agentId);
      return { owner, agentUri };
    }),
    read('Asking the reputation registry', async () => ({ feedback: (await readReputation(chain, agentId, reporter)).total, reporter })),
    read('Asking the gate token', () => readTokenMetadata(chain, gateTokenAddress)),
    read('Asking the stablecoin', () => readTokenMetadata(chain, stablecoinAddress)),
    jobs === null ? null : read('Asking the agent commerce contract', async () => ({ paymentToken: await readPaymentToken(chain, jobs) })),
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
  const schemas = (Object.keys(EAS_SCHEMAS) as SchemaName[]).map(async (name) => {
    const uid = getSchemaUid(name);
    const found = await client.readContract({ ...call, args: [uid] });
    return { name, uid, registered: found.uid !== zeroHash };
  });
  return { schemas: await Promise.all(schemas) };
}

async function readTokenMetadata({ client }: Chain, address: Address): Promise<TokenMetadata> {
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address, abi: erc20Abi, functionName: 'symbol' }),
    client.readContract({ address, abi: erc20Abi, functionName: 'decimals' }),
  ]);
  return { symbol: symbol.slice(0, MAX_SYMBOL_CHARS), decimals };
}
