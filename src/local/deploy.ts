import { type Address, concatHex, encodeDeployData, getContractAddress, type Hex, type LocalAccount, zeroHash } from 'viem';
import { type ChainAddresses, EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../chain/addresses.ts';
import { OracleError } from '../errors.ts';
import { type Artifact, easArtifact, ownArtifact } from './artifacts.ts';
import { type LocalCall, sendInOrder } from './deploy-send.ts';
import { fundGas } from './deploy-wallets.ts';
import { jsonRpc } from './json-rpc.ts';

/** Gate tokens the deployer gets, of 18 decimals: ten times the premium threshold. */
const GATE_SUPPLY = 10_000_000_000n * 10n ** 18n;

/** The deployer's nonces, which decide the addresses of the first contracts. */
const NONCES = { schemaRegistry: 0, eas: 1, gateToken: 2, stablecoin: 3, identityRegistry: 4, reputationRegistry: 5 } as const;

/**
 * The deterministic deployment proxy, which anvil brings along: what was added after the first version goes through it, since on
 * chains of before the deployer's next nonces are taken.
 */
const PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

type LocalAddresses = ChainAddresses & { agentCommerce: Address };

/**
 * Puts all contracts on a local chain: EAS and its schema registry at the addresses they have on Base, the others at
 * addresses that follow from the deployer, whose first transactions these must be. Adds what a chain of an earlier version lacks,
 * and does nothing when all are there.
 * @throws OracleError CONFIG_INVALID without the EAS package, CHAIN_REVERTED when a deployment fails.
 */
export async function deployContracts(rpcUrl: string, deployer: LocalAccount): Promise<LocalAddresses> {
  const created = (nonce: number) => createdBy(deployer, nonce);
  const first = {
    eas: EAS_ADDRESS,
    schemaRegistry: SCHEMA_REGISTRY_ADDRESS,
    gateToken: created(NONCES.gateToken),
    stablecoin: created(NONCES.stablecoin),
    identityRegistry: created(NONCES.identityRegistry),
    reputationRegistry: created(NONCES.reputationRegistry),
  };
  const commerce = creation(ownArtifact('AgenticCommerce'), first.stablecoin).data;
  const agentCommerce = getContractAddress({ opcode: 'CREATE2', from: PROXY, salt: zeroHash, bytecode: commerce });
  const addresses = { ...first, agentCommerce };
  if (await haveCode(rpcUrl, addresses)) return addresses;
  await fundGas(rpcUrl, [deployer.address]);
  if (!(await haveCode(rpcUrl, first))) await deployFirst(rpcUrl, deployer, first.identityRegistry);
  if (!(await haveCode(rpcUrl, { agentCommerce })))
    await sendInOrder(rpcUrl, deployer, [{ to: PROXY, data: concatHex([zeroHash, commerce]) }]);
  if (!(await haveCode(rpcUrl, addresses))) throw new OracleError('CHAIN_REVERTED', 'A contract of the local chain could not be deployed');
  return addresses;
}

/** Those of the deployer's first nonces. */
async function deployFirst(rpcUrl: string, deployer: LocalAccount, identityRegistry: Address): Promise<void> {
  // Continues where a start that was interrupted ended.
  const done = Number(await jsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', deployer.address, 'latest'));
  await sendInOrder(rpcUrl, deployer, deployments(identityRegistry).slice(done));
  await copyCode(rpcUrl, createdBy(deployer, NONCES.schemaRegistry), SCHEMA_REGISTRY_ADDRESS);
  await copyCode(rpcUrl, createdBy(deployer, NONCES.eas), EAS_ADDRESS);
}

function deployments(identityRegistry: Address): LocalCall[] {
  return [
    creation(easArtifact('SchemaRegistry')),
    creation(easArtifact('EAS'), SCHEMA_REGISTRY_ADDRESS),
    creation(ownArtifact('GateToken'), GATE_SUPPLY),
    creation(ownArtifact('TestStablecoin')),
    creation(ownArtifact('IdentityRegistry')),
    creation(ownArtifact('ReputationRegistry'), identityRegistry),
  ];
}

function createdBy({ address }: LocalAccount, nonce: number): Address {
  return getContractAddress({ from: address, nonce: BigInt(nonce) });
}

function creation({ abi, bytecode }: Artifact, ...args: unknown[]): LocalCall {
  return { data: encodeDeployData({ abi, bytecode, args }) };
}

async function copyCode(rpcUrl: string, from: Address, to: Address): Promise<void> {
  await jsonRpc(rpcUrl, 'anvil_setCode', to, await jsonRpc<Hex>(rpcUrl, 'eth_getCode', from, 'latest'));
}

async function haveCode(rpcUrl: string, addresses: Record<string, Address>): Promise<boolean> {
  const codes = await Promise.all(Object.values(addresses).map((address) => jsonRpc<Hex>(rpcUrl, 'eth_getCode', address, 'latest')));
  return codes.every((code) => code !== '0x');
}
