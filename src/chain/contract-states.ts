import { type Address, type Hex, parseAbi, zeroHash } from 'viem';
import { isOracleError, reasonOf } from '../errors.ts';
import { readPaymentToken } from './agent-commerce.ts';
import type { Chain } from './client.ts';
import { schemaRegistryAbi } from './eas-abi.ts';
import { readIdentity } from './identity.ts';
import { readReputation } from './reputation.ts';
import { chainCall } from './rpc-error.ts';
import { SCHEMAS, type SchemaName, schemaUid } from './schemas.ts';
import { withinTime } from './time-limit.ts';

/** `missing`: nothing at the address answers as this contract does. */
export const CONTRACT_STATES = ['live', 'missing', 'unreachable'] as const;

/** How a contract answered; `value` is null unless it is live, and `reason` only then. */
export interface Observed<T> {
  state: (typeof CONTRACT_STATES)[number];
  reason: string | null;
  value: T | null;
}

export interface TokenFacts {
  /** At most 32 characters of the contract's own. */
  symbol: string;
  decimals: number;
}

/** The contracts that the service stands on, each by itself: one that does not answer hides no other. */
export interface ContractStates {
  eas: Observed<{ version: string }>;
  schemaRegistry: Observed<{ schemas: { name: SchemaName; uid: Hex; registered: boolean }[] }>;
  identityRegistry: Observed<{ owner: Address; agentUri: string }>;
  reputationRegistry: Observed<{ feedback: number; reporter: Address }>;
  gateToken: Observed<TokenFacts>;
  stablecoin: Observed<TokenFacts>;
  /** Null where no jobs are taken. */
  agentCommerce: Observed<{ paymentToken: Address }> | null;
}

export interface ContractStatesOptions {
  agentId: number;
  /** Whose feedback is counted. */
  reporter: Address;
  /** For how long each contract is waited for; 3 seconds unless told. */
  limitMs?: number;
}

const easVersionAbi = parseAbi(['function version() view returns (string)']);
const tokenAbi = parseAbi(['function symbol() view returns (string)', 'function decimals() view returns (uint8)']);

const LONGEST_SYMBOL = 32;
const LONGEST_REASON = 200;

/** Asks every contract at once. A chain that does not answer is told in the states, never thrown. */
export async function readContractStates(
  chain: Chain,
  { agentId, reporter, limitMs = 3_000 }: ContractStatesOptions,
): Promise<ContractStates> {
  const { addresses } = chain;
  const observe = <T>(what: string, read: () => Promise<T>) => observed(() => withinTime(limitMs, what, () => chainCall(what, read)));
  const { agentCommerce: jobs } = addresses;
  const [eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce] = await Promise.all([
    observe('Asking EAS', () => easFacts(chain)),
    observe('Asking the schema registry', () => schemaFacts(chain)),
    observe('Asking the identity registry', () => identityFacts(chain, agentId)),
    observe('Asking the reputation registry', () => reputationFacts(chain, agentId, reporter)),
    observe('Asking the gate token', () => tokenFacts(chain, addresses.gateToken)),
    observe('Asking the stablecoin', () => tokenFacts(chain, addresses.stablecoin)),
    jobs === null
      ? null
      : observe('Asking the agent commerce contract', async () => ({ paymentToken: await readPaymentToken(chain, jobs) })),
  ]);
  return { eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce };
}

async function observed<T>(read: () => Promise<T>): Promise<Observed<T>> {
  try {
    return { state: 'live', reason: null, value: await read() };
  } catch (error) {
    const state = isOracleError(error, 'CHAIN_REVERTED') ? 'missing' : 'unreachable';
    return { state, reason: reasonOf(error).slice(0, LONGEST_REASON), value: null };
  }
}

async function easFacts({ client, addresses }: Chain): Promise<{ version: string }> {
  const version = await client.readContract({ address: addresses.eas, abi: easVersionAbi, functionName: 'version' });
  return { version: version.slice(0, LONGEST_SYMBOL) };
}

async function schemaFacts({ client, addresses }: Chain) {
  const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema' } as const;
  const names = Object.keys(SCHEMAS) as SchemaName[];
  const schemas = names.map(async (name) => {
    const uid = schemaUid(name);
    const found = await client.readContract({ ...call, args: [uid] });
    return { name, uid, registered: found.uid !== zeroHash };
  });
  return { schemas: await Promise.all(schemas) };
}

async function identityFacts(chain: Chain, agentId: number): Promise<{ owner: Address; agentUri: string }> {
  const { owner, agentUri } = await readIdentity(chain, agentId);
  return { owner, agentUri };
}

async function reputationFacts(chain: Chain, agentId: number, reporter: Address): Promise<{ feedback: number; reporter: Address }> {
  const { total } = await readReputation(chain, agentId, reporter);
  return { feedback: total, reporter };
}

async function tokenFacts({ client }: Chain, address: Address): Promise<TokenFacts> {
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address, abi: tokenAbi, functionName: 'symbol' }),
    client.readContract({ address, abi: tokenAbi, functionName: 'decimals' }),
  ]);
  return { symbol: symbol.slice(0, LONGEST_SYMBOL), decimals };
}
