import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Abi,
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  type LocalAccount,
  numberToHex,
  parseAbi,
  parseEther,
  zeroHash,
} from 'viem';
import {
  BASE_SEPOLIA_ADDRESSES,
  type ChainAddresses,
  EAS_ADDRESS,
  MULTICALL3_ADDRESS,
  SCHEMA_REGISTRY_ADDRESS,
} from '../../chain/addresses.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { createOperatorFetch } from '../../platform/outbound/operator.ts';

export interface LocalTransaction {
  to?: Address;
  data: Hex;
}

export type DemoWallets = Record<'basic' | 'premium' | 'poor' | 'buyer', Address>;

/** With both that a service may do without. */
export type LocalAddresses = ChainAddresses & { agentCommerce: Address; gateToken: Address };

interface Artifact {
  contractName: string;
  abi: Abi;
  bytecode: Hex;
}

/** Gate tokens of the deployer, 18 decimals: ten times the Premium threshold. */
const GATE_SUPPLY = 10_000_000_000n * 10n ** 18n;
/** Tier thresholds, in 10^-18 tokens. */
const BASIC_BALANCE = 500_000_000n * 10n ** 18n;
const PREMIUM_BALANCE = 1_000_000_000n * 10n ** 18n;
/** 1,000 coins of 6 decimals. */
const STABLECOIN_BALANCE = 1_000_000_000n;
/** Enough for the transactions of decades. */
const GAS_BALANCE = parseEther('10000');
/** Nonces of the deployer, which determine the addresses. */
const DEPLOYMENT_NONCES = { schemaRegistry: 0, eas: 1, gateToken: 2, stablecoin: 3, identityRegistry: 4, reputationRegistry: 5 } as const;
/** The deterministic deployment proxy, for later contracts: on existing chains the deployer's next nonces are used up. Anvil has it, forks do not. */
const CREATE2_PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const CREATE2_PROXY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';
/** The deployer's contracts are copied there. */
const PUBLISHED_ADDRESSES = { schemaRegistry: SCHEMA_REGISTRY_ADDRESS, eas: EAS_ADDRESS, ...BASE_SEPOLIA_ADDRESSES };
const GAS_LIMIT = 6_000_000n;
const MAX_FEE_PER_GAS = 100n * 10n ** 9n;
const RECEIPT_TIMEOUT_MS = 10_000;
/** Enough for a dump of the chain's state. */
const RPC_TIMEOUT_MS = 120_000;
const MAX_RPC_BYTES = 512 * 2 ** 20;

const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function mint(address to, uint256 value)',
]);

/** At the addresses of Base Sepolia where there are any, others by the deployer's nonces. Idempotent. @throws OracleError CHAIN_REVERTED */
export async function deployContracts(rpcUrl: string, deployer: LocalAccount): Promise<LocalAddresses> {
  const first = { ...PUBLISHED_ADDRESSES, gateToken: computeContractAddress(deployer, DEPLOYMENT_NONCES.gateToken) };
  const commerce = buildCreation('AgenticCommerce', first.stablecoin).data;
  const addresses = { ...first, agentCommerce: computeCreate2Address(commerce) };
  const multicall3 = buildCreation('Multicall3').data;
  const all = { ...addresses, multicall3: MULTICALL3_ADDRESS, walletFactory: getLocalWalletFactory() };
  if (await allHaveCode(rpcUrl, all)) return addresses;
  await fundGas(rpcUrl, [deployer.address]);
  if (!(await allHaveCode(rpcUrl, first))) await deployBaseContracts(rpcUrl, deployer);
  await callJsonRpc(rpcUrl, 'anvil_setCode', CREATE2_PROXY, CREATE2_PROXY_CODE);
  for (const creation of [commerce, buildCreation('SmartWalletFactory').data, multicall3]) {
    if (await allHaveCode(rpcUrl, { created: computeCreate2Address(creation) })) continue;
    await sendTransactions(rpcUrl, deployer, [{ to: CREATE2_PROXY, data: concatHex([zeroHash, creation]) }]);
  }
  await copyCode(rpcUrl, computeCreate2Address(multicall3), MULTICALL3_ADDRESS);
  if (!(await allHaveCode(rpcUrl, all))) throw new OracleError('CHAIN_REVERTED', 'A contract of the local chain could not be deployed');
  return addresses;
}

/** Continues after an interrupted start. */
async function deployBaseContracts(rpcUrl: string, deployer: LocalAccount): Promise<void> {
  const done = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', deployer.address, 'latest'));
  const deployments = [
    buildCreation('eas/SchemaRegistry'),
    buildCreation('eas/EAS', SCHEMA_REGISTRY_ADDRESS),
    buildCreation('GateToken', GATE_SUPPLY),
    buildCreation('TestStablecoin'),
    buildCreation('IdentityRegistry'),
    buildCreation('ReputationRegistry', PUBLISHED_ADDRESSES.identityRegistry),
  ];
  await sendTransactions(rpcUrl, deployer, deployments.slice(done));
  const names = Object.keys(PUBLISHED_ADDRESSES) as (keyof typeof PUBLISHED_ADDRESSES)[];
  const from = (name: keyof typeof PUBLISHED_ADDRESSES) => computeContractAddress(deployer, DEPLOYMENT_NONCES[name]);
  await Promise.all(names.map((name) => copyCode(rpcUrl, from(name), PUBLISHED_ADDRESSES[name])));
}

/** Factory of contract wallets that pay before they are deployed. */
export function getLocalWalletFactory(): Address {
  return computeCreate2Address(buildCreation('SmartWalletFactory').data);
}

/** @param name in contracts/compiled; `eas/` has those of the Ethereum Attestation Service, as its authors compiled them */
export function readArtifact(name: string): Artifact {
  const path = new URL(`../../../contracts/compiled/${name}.json`, import.meta.url);
  const { contractName, abi, bytecode } = JSON.parse(readFileSync(path, 'utf8')) as Artifact;
  return { contractName, abi, bytecode };
}

function buildCreation(name: string, ...args: unknown[]): LocalTransaction {
  const { abi, bytecode } = readArtifact(name);
  return { data: encodeDeployData({ abi, bytecode, args }) };
}

/** By the deterministic deployment proxy, at an address that follows from the code. */
function computeCreate2Address(creation: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt: zeroHash, bytecode: creation });
}

function computeContractAddress({ address }: LocalAccount, nonce: number): Address {
  return getContractAddress({ from: address, nonce: BigInt(nonce) });
}

async function copyCode(rpcUrl: string, from: Address, to: Address): Promise<void> {
  await callJsonRpc(rpcUrl, 'anvil_setCode', to, await callJsonRpc<Hex>(rpcUrl, 'eth_getCode', from, 'latest'));
}

async function allHaveCode(rpcUrl: string, addresses: Record<string, Address>): Promise<boolean> {
  const codes = await Promise.all(Object.values(addresses).map((address) => callJsonRpc<Hex>(rpcUrl, 'eth_getCode', address, 'latest')));
  return codes.every((code) => code !== '0x');
}

export async function fundGas(rpcUrl: string, addresses: Address[]): Promise<void> {
  await Promise.all(addresses.map((address) => callJsonRpc(rpcUrl, 'anvil_setBalance', address, numberToHex(GAS_BALANCE))));
}

/** Tops up, so it can be repeated after a crash. */
export async function fundDemoWallets(
  rpcUrl: string,
  deployer: LocalAccount,
  { addresses: { gateToken, stablecoin }, wallets }: { addresses: LocalAddresses; wallets: DemoWallets },
): Promise<void> {
  await fundGas(rpcUrl, Object.values(wallets));
  const calls = await Promise.all([
    buildTopUp(rpcUrl, gateToken, { functionName: 'transfer', to: wallets.basic, target: BASIC_BALANCE }),
    buildTopUp(rpcUrl, gateToken, { functionName: 'transfer', to: wallets.premium, target: PREMIUM_BALANCE }),
    buildTopUp(rpcUrl, stablecoin, { functionName: 'mint', to: wallets.buyer, target: STABLECOIN_BALANCE }),
  ]);
  await sendTransactions(rpcUrl, deployer, calls.flat());
}

interface TopUp {
  functionName: 'transfer' | 'mint';
  to: Address;
  target: bigint;
}

async function buildTopUp(rpcUrl: string, token: Address, { functionName, to, target }: TopUp): Promise<LocalTransaction[]> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [to] });
  const missing = target - BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_call', { to: token, data }, 'latest'));
  return missing > 0n ? [{ to: token, data: encodeFunctionData({ abi: tokenAbi, functionName, args: [to, missing] }) }] : [];
}

/** In order, with the account's next nonces; resolves once all are mined. @throws OracleError CHAIN_REVERTED */
export async function sendTransactions(rpcUrl: string, from: LocalAccount, calls: LocalTransaction[]): Promise<void> {
  await sendTransactionsForHashes(rpcUrl, from, calls);
}

export async function sendTransactionsForHashes(rpcUrl: string, from: LocalAccount, calls: LocalTransaction[]): Promise<Hex[]> {
  const chainId = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_chainId'));
  const first = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', from.address, 'latest'));
  const fields = { type: 'eip1559', chainId, gas: GAS_LIMIT, maxFeePerGas: MAX_FEE_PER_GAS, maxPriorityFeePerGas: 0n } as const;
  const hashes: Hex[] = [];
  for (const [index, call] of calls.entries()) {
    const raw = await from.signTransaction({ ...fields, nonce: first + index, ...call });
    hashes.push(await callJsonRpc<Hex>(rpcUrl, 'eth_sendRawTransaction', raw));
  }
  await Promise.all(hashes.map((hash) => requireSuccess(rpcUrl, hash)));
  return hashes;
}

/** The node may respond before it has mined the transaction. */
async function requireSuccess(rpcUrl: string, hash: Hex): Promise<void> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const receipt = await callJsonRpc<{ status: Hex } | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return;
    if (receipt !== null || performance.now() > deadline)
      throw new OracleError('CHAIN_REVERTED', `Transaction ${hash} of the local chain failed`);
    await delay(2);
  }
}

/** For `anvil_*` and `evm_*` methods. @throws OracleError CHAIN_UNREACHABLE without a response, CHAIN_REVERTED for an error of the node */
export async function callJsonRpc<T = unknown>(rpcUrl: string, method: string, ...params: unknown[]): Promise<T> {
  const { error, result } = await postJsonRpc(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
  return result as T;
}

async function postJsonRpc(rpcUrl: string, body: string): Promise<{ result?: unknown; error?: { message: string } }> {
  try {
    const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: RPC_TIMEOUT_MS, maxBytes: MAX_RPC_BYTES });
    const response = await fetchNode(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await response.json()) as { result?: unknown; error?: { message: string } };
  } catch (cause) {
    throw new OracleError('CHAIN_UNREACHABLE', `The local chain does not answer: ${getErrorMessage(cause)}`, { cause });
  }
}
