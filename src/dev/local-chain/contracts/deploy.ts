import { type Address, concatHex, encodeDeployData, getContractAddress, type Hex, type LocalAccount, zeroHash } from 'viem';
import {
  BASE_SEPOLIA_ADDRESSES,
  type ChainAddresses,
  EAS_ADDRESS,
  MULTICALL3_ADDRESS,
  SCHEMA_REGISTRY_ADDRESS,
} from '../../../chain/addresses.ts';
import { OracleError } from '../../../platform/errors.ts';
import { callJsonRpc } from '../json-rpc.ts';
import { type Artifact, readArtifact } from './artifacts.ts';
import { fundGas } from './fund-wallets.ts';
import { type LocalTransaction, sendTransactions } from './send-transactions.ts';

/** Gate tokens of the deployer, 18 decimals: ten times the Premium threshold. */
const GATE_SUPPLY = 10_000_000_000n * 10n ** 18n;
/** Nonces of the deployer, which determine the addresses. */
const DEPLOYMENT_NONCES = { schemaRegistry: 0, eas: 1, gateToken: 2, stablecoin: 3, identityRegistry: 4, reputationRegistry: 5 } as const;
/** The deterministic deployment proxy of anvil, for later contracts: on existing chains the deployer's next nonces are used up. */
const CREATE2_PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** The deployer's contracts are copied there. */
const PUBLISHED_ADDRESSES = { schemaRegistry: SCHEMA_REGISTRY_ADDRESS, eas: EAS_ADDRESS, ...BASE_SEPOLIA_ADDRESSES };

type LocalAddresses = ChainAddresses & { agentCommerce: Address };

const buildWalletFactory = () => buildCreation(readArtifact('SmartWalletFactory')).data;

/** Factory of contract wallets that pay before they are deployed. */
export function getLocalWalletFactory(): Address {
  return computeCreate2Address(buildWalletFactory());
}

/** At the addresses of Base Sepolia where there are any, others by the deployer's nonces. Idempotent. @throws OracleError CONFIG_INVALID, CHAIN_REVERTED */
export async function deployContracts(rpcUrl: string, deployer: LocalAccount): Promise<LocalAddresses> {
  const gateToken = computeContractAddress(deployer, DEPLOYMENT_NONCES.gateToken);
  const first = { ...PUBLISHED_ADDRESSES, gateToken };
  const commerce = buildCreation(readArtifact('AgenticCommerce'), first.stablecoin).data;
  const agentCommerce = computeCreate2Address(commerce);
  const addresses = { ...first, agentCommerce };
  const multicall3 = buildCreation(readArtifact('Multicall3')).data;
  const all = { ...addresses, multicall3: MULTICALL3_ADDRESS, walletFactory: getLocalWalletFactory() };
  if (await allHaveCode(rpcUrl, all)) return addresses;
  await fundGas(rpcUrl, [deployer.address]);
  if (!(await allHaveCode(rpcUrl, first))) await deployBaseContracts(rpcUrl, deployer);
  await createMissing(rpcUrl, deployer, [commerce, buildWalletFactory(), multicall3]);
  await copyCode(rpcUrl, computeCreate2Address(multicall3), MULTICALL3_ADDRESS);
  if (!(await allHaveCode(rpcUrl, all))) throw new OracleError('CHAIN_REVERTED', 'A contract of the local chain could not be deployed');
  return addresses;
}

async function deployBaseContracts(rpcUrl: string, deployer: LocalAccount): Promise<void> {
  // Continues after an interrupted start.
  const done = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', deployer.address, 'latest'));
  await sendTransactions(rpcUrl, deployer, buildDeployments().slice(done));
  const names = Object.keys(PUBLISHED_ADDRESSES) as (keyof typeof PUBLISHED_ADDRESSES)[];
  await Promise.all(
    names.map((name) => copyCode(rpcUrl, computeContractAddress(deployer, DEPLOYMENT_NONCES[name]), PUBLISHED_ADDRESSES[name])),
  );
}

/** By the deterministic deployment proxy, each at an address that follows from its code. */
async function createMissing(rpcUrl: string, deployer: LocalAccount, creations: readonly Hex[]): Promise<void> {
  for (const creation of creations) {
    if (await allHaveCode(rpcUrl, { created: computeCreate2Address(creation) })) continue;
    await sendTransactions(rpcUrl, deployer, [{ to: CREATE2_PROXY, data: concatHex([zeroHash, creation]) }]);
  }
}

function computeCreate2Address(creation: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt: zeroHash, bytecode: creation });
}

function buildDeployments(): LocalTransaction[] {
  return [
    buildCreation(readArtifact('eas/SchemaRegistry')),
    buildCreation(readArtifact('eas/EAS'), SCHEMA_REGISTRY_ADDRESS),
    buildCreation(readArtifact('GateToken'), GATE_SUPPLY),
    buildCreation(readArtifact('TestStablecoin')),
    buildCreation(readArtifact('IdentityRegistry')),
    buildCreation(readArtifact('ReputationRegistry'), PUBLISHED_ADDRESSES.identityRegistry),
  ];
}

function computeContractAddress({ address }: LocalAccount, nonce: number): Address {
  return getContractAddress({ from: address, nonce: BigInt(nonce) });
}

function buildCreation({ abi, bytecode }: Artifact, ...args: unknown[]): LocalTransaction {
  return { data: encodeDeployData({ abi, bytecode, args }) };
}

async function copyCode(rpcUrl: string, from: Address, to: Address): Promise<void> {
  await callJsonRpc(rpcUrl, 'anvil_setCode', to, await callJsonRpc<Hex>(rpcUrl, 'eth_getCode', from, 'latest'));
}

async function allHaveCode(rpcUrl: string, addresses: Record<string, Address>): Promise<boolean> {
  const codes = await Promise.all(Object.values(addresses).map((address) => callJsonRpc<Hex>(rpcUrl, 'eth_getCode', address, 'latest')));
  return codes.every((code) => code !== '0x');
}
