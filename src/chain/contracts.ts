import type { Db } from 'mongodb';
import {
  type Address,
  compactSignatureToSignature,
  encodeDeployData,
  erc20Abi,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  isAddressEqual,
  parseAbi,
  parseCompactSignature,
  recoverAddress,
  serializeSignature,
  size,
  zeroAddress,
  zeroHash,
} from 'viem';
import { isOracleError, OracleError, orElse, toPublicReason } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { type Chain, readConfirmedBlockNumber } from './client.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName, schemaRegistryAbi } from './eas/schemas.ts';
import { readIdentity, readReputation } from './erc8004.ts';
import { readPaymentToken } from './erc8183.ts';
import type { JournalRow, StoredReceipt } from './journal.ts';
import { type ChainReader, chainCall, chainCallWithin, getNodeMessage, withChainTimeout } from './rpc.ts';
import type { WalletRole } from './wallet.ts';

export interface SignedHash {
  wallet: Address;
  /** `hashMessage(text)` (EIP-191) or `hashTypedData(data)` (EIP-712); of several, e.g. of the spellings of a text, any one may be signed. */
  hash: Hex | readonly Hex[];
  signature: Hex;
}

/** r, and s with the parity of v in its highest bit (EIP-2098). */
const COMPACT_SIGNATURE_BYTES = 64;

/** Gas limit of one check. Covers passkey wallets and their deployment; bounds the node's cost of a contract that loops. */
const MAX_CHECK_GAS = 3_000_000n;
const CHECK_TIMEOUT_MS = 3_000;
/** Some accounts accept any signature from the zero address, the default `from` of a call, to allow fee estimates. */
const CALLER_ADDRESS: Address = '0x5165c0de00000000000000000000000000006492';

/** Messages of nodes that do not report a failure of the called code as a revert. */
const CODE_FAILURE_MESSAGE =
  /out of ?gas|invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|create collision/;

/**
 * Signatures of an EOA are recovered locally; any other is checked on chain for contract wallets (EIP-1271) and counterfactual ones
 * (ERC-6492). @throws OracleError CHAIN_UNREACHABLE when the chain was needed: the signature is then neither valid nor invalid.
 */
export async function isSignedBy(chain: ChainReader, signed: SignedHash, timeoutMs = CHECK_TIMEOUT_MS): Promise<boolean> {
  // `ecrecover` returns the zero address for an invalid signature, so any signature would pass for it.
  if (isAddressEqual(signed.wallet, zeroAddress)) return false;
  const proofs = [signed.hash].flat().map((hash) => ({ ...signed, hash }));
  const recovered = await Promise.all(proofs.map(isRecoveredSigner));
  if (recovered.includes(true)) return true;
  const checked = proofs.map((proof) =>
    chainCallWithin(timeoutMs, 'Checking the signature', (signal) => validateOnChain(chain, proof, signal)).catch(
      orElse('CHAIN_REVERTED', false),
    ),
  );
  return (await Promise.all(checked)).includes(true);
}

type SignatureProof = SignedHash & { hash: Hex };

/** Expands the compact form of EIP-2098, which neither viem nor most contracts recover; any other signature is returned unchanged. */
export function expandSignature(signature: Hex): Hex {
  if (size(signature) !== COMPACT_SIGNATURE_BYTES) return signature;
  return serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)));
}

async function isRecoveredSigner({ wallet, hash, signature }: SignatureProof): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature: expandSignature(signature) }), wallet);
  } catch {
    // Not an ECDSA signature; a contract wallet may still accept it.
    return false;
  }
}

/** Runs the universal validator as a simulated contract creation, so that nothing needs to be deployed. */
async function validateOnChain({ client }: ChainReader, { wallet, hash, signature }: SignatureProof, signal: AbortSignal) {
  const args = [wallet, hash, signature] as const;
  const data = encodeDeployData({ abi: erc6492SignatureValidatorAbi, bytecode: erc6492SignatureValidatorByteCode, args });
  try {
    const answer = await client.call({ account: CALLER_ADDRESS, data, gas: MAX_CHECK_GAS, requestOptions: { signal } });
    return answer.data === '0x01';
  } catch (error) {
    if (CODE_FAILURE_MESSAGE.test(getNodeMessage(error))) return false;
    throw error;
  }
}

/** Roles whose addresses are public. The facilitator's is not: its transactions would reveal the settled payments. */
export const PUBLIC_ROLES = ['attester', 'reporter', 'provider'] as const satisfies WalletRole[];

export interface WalletFunds<Role extends WalletRole = (typeof PUBLIC_ROLES)[number]> {
  role: Role;
  address: Address;
  /** Native currency, wei as decimal text. */
  balanceWei: string;
  /** Whole days that the balance lasts at the average cost of the last seven days; null without a full week of costs above zero. */
  daysLeft: number | null;
}

const WEEK_DAYS = 7;
const READ_TIMEOUT_MS = 3_000;
export const MAX_DAYS_LEFT = 36_500;

/** @throws OracleError CHAIN_UNREACHABLE */
export function readWalletFunds<Role extends WalletRole>(
  { db, chain }: { db: Db; chain: Chain },
  wallets: readonly Pick<WalletFunds<Role>, 'role' | 'address'>[],
  now: Date,
): Promise<WalletFunds<Role>[]> {
  const since = new Date(now.getTime() - WEEK_DAYS * DAY_MS);
  return withChainTimeout(READ_TIMEOUT_MS, 'Reading the balances', () =>
    Promise.all(
      wallets.map(async ({ role, address }) => {
        const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address }));
        const spent = await readSpentSince(db, { chainId: chain.chainId, address, since });
        return { role, address, balanceWei: String(balance), daysLeft: estimateDaysLeft(balance, spent) };
      }),
    ),
  );
}

/** Wei that a wallet spent on transactions since an instant, by block time; null when its first transaction is later. */
async function readSpentSince(db: Db, { since, ...wallet }: { chainId: number; address: Address; since: Date }): Promise<bigint | null> {
  const newestFirst = db
    .collection<JournalRow>('transactions')
    .find({ ...wallet, receipt: { $ne: null } }, { hint: 'one_row_per_nonce', projection: { 'receipt.logs': 0 } })
    .sort({ nonce: -1 });
  let spent = 0n;
  for await (const { receipt } of newestFirst) {
    if (receipt!.at < since) return spent;
    spent += getReceiptCostWei(receipt!);
  }
  return null;
}

function estimateDaysLeft(balance: bigint, spent: bigint | null): number | null {
  if (spent === null || spent === 0n) return null;
  const days = (balance * BigInt(WEEK_DAYS)) / spent;
  return days > MAX_DAYS_LEFT ? MAX_DAYS_LEFT : Number(days);
}

/** Gas costs of one purpose: the prefix of the transaction keys, such as `attest` or `feedback`. */
export interface GasCosts {
  purpose: string;
  transactions: number;
  gasUsed: number;
  /** Includes the data fee of a rollup. */
  costWei: bigint;
}

/** Costs of the transactions mined from one instant until before another, by block time. */
export type ReadGasCosts = (from: Date, to: Date) => Promise<GasCosts[]>;

export function createGasCostReader(db: Db, { chainId, addresses }: { chainId: number; addresses: readonly Address[] }): ReadGasCosts {
  const rows = db.collection<JournalRow>('transactions');
  return async (from, to) => {
    const mined = await rows
      .find(
        { chainId, address: { $in: [...addresses] }, 'receipt.at': { $gte: from, $lt: to } },
        { hint: 'one_row_per_nonce', projection: { key: 1, receipt: 1 } },
      )
      .toArray();
    return [...Map.groupBy(mined, ({ key }) => key.split(':', 1)[0])].map(([purpose, members]) => {
      const receipts = members.map(({ receipt }) => receipt!);
      return {
        purpose,
        transactions: receipts.length,
        gasUsed: receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0),
        costWei: receipts.reduce((sum, receipt) => sum + getReceiptCostWei(receipt), 0n),
      };
    });
  };
}

/** Cost of a transaction in wei: gas used times effective gas price, plus the data fee of a rollup. */
function getReceiptCostWei({ gasUsed, effectiveGasPrice, l1FeeWei = '0' }: StoredReceipt): bigint {
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1FeeWei);
}

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
  /** Null without one. */
  gateToken: ContractReading<TokenMetadata> | null;
  stablecoin: ContractReading<TokenMetadata>;
  /** Null when jobs are disabled. */
  agentCommerce: ContractReading<{ paymentToken: Address }> | null;
}

const easVersionAbi = parseAbi(['function version() view returns (string)']);

const MAX_SYMBOL_CHARS = 32;
const MAX_REASON_CHARS = 200;

/** Reads all contracts in parallel, within `timeoutMs` each. A chain error becomes the state `unreachable` and is never thrown. */
export async function readContractStates(
  chain: Chain,
  { agentId, reporter, timeoutMs = 3_000 }: { agentId: number; reporter: Address; timeoutMs?: number },
): Promise<ContractStates> {
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
    gateTokenAddress === null ? null : read('Asking the gate token', () => readTokenMetadata(chain, gateTokenAddress)),
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

/** In the token's smallest unit. By default at the latest block. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint has pruned the state of that block */
export async function readGateBalance({ client, addresses }: Chain, wallet: Address, atBlock?: number) {
  return readToken('Reading the gate balance', async () => {
    const blockNumber = atBlock === undefined ? await client.getBlockNumber() : BigInt(atBlock);
    const call = { address: addresses.gateToken!, abi: erc20Abi, functionName: 'balanceOf', args: [wallet], blockNumber } as const;
    return { balance: await client.readContract(call), blockNumber: Number(blockNumber) };
  });
}

/** At the confirmation depth, which no short reorganisation reverts. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedGateBalance(chain: Chain, wallet: Address) {
  return readGateBalance(chain, wallet, Math.max(0, Number(await readConfirmedBlockNumber(chain))));
}

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readGateDecimals({ client, addresses }: Chain): Promise<number> {
  return readToken('Reading the decimals of the gate token', () =>
    client.readContract({ address: addresses.gateToken!, abi: erc20Abi, functionName: 'decimals' }),
  );
}

/** ERC-20 reads never revert: a revert means that the endpoint lacks the contract's code or the state of that block. */
async function readToken<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await chainCall(what, read);
  } catch (cause) {
    if (!isOracleError(cause, 'CHAIN_REVERTED')) throw cause;
    throw new OracleError('CHAIN_UNREACHABLE', cause.message, { suggestedAction: 'Try again later.', cause });
  }
}
