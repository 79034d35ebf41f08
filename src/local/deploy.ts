import { type Address, encodeDeployData, getContractAddress, type Hex, type LocalAccount } from 'viem';
import { type ChainAddresses, EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../chain/addresses.ts';
import { OracleError } from '../errors.ts';
import { type Artifact, easArtifact, ownArtifact } from './artifacts.ts';
import { type LocalCall, sendInOrder } from './deploy-send.ts';
import { fundGas } from './deploy-wallets.ts';
import { jsonRpc } from './json-rpc.ts';

/** Gate tokens the deployer gets, of 18 decimals: ten times the premium threshold. */
const GATE_SUPPLY = 10_000_000_000n * 10n ** 18n;

/** The deployer's nonces, which decide the addresses. */
const NONCES = { schemaRegistry: 0, eas: 1, gateToken: 2, stablecoin: 3, identityRegistry: 4, reputationRegistry: 5 } as const;

/**
 * Puts all contracts on a local chain: EAS and its schema registry at the addresses they have on Base, the others at
 * addresses that follow from the deployer, whose first transactions these must be. Does nothing when they are there.
 * @throws OracleError CONFIG_INVALID without the EAS package, CHAIN_REVERTED when a deployment fails.
 */
export async function deployContracts(rpcUrl: string, deployer: LocalAccount): Promise<ChainAddresses> {
  const created = (nonce: number) => getContractAddress({ from: deployer.address, nonce: BigInt(nonce) });
  const addresses: ChainAddresses = {
    eas: EAS_ADDRESS,
    schemaRegistry: SCHEMA_REGISTRY_ADDRESS,
    gateToken: created(NONCES.gateToken),
    stablecoin: created(NONCES.stablecoin),
    identityRegistry: created(NONCES.identityRegistry),
    reputationRegistry: created(NONCES.reputationRegistry),
  };
  if (await haveCode(rpcUrl, addresses)) return addresses;
  await fundGas(rpcUrl, [deployer.address]);
  // Continues where a start that was interrupted ended.
  const done = Number(await jsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', deployer.address, 'latest'));
  await sendInOrder(rpcUrl, deployer, deployments(addresses).slice(done));
  await copyCode(rpcUrl, created(NONCES.schemaRegistry), SCHEMA_REGISTRY_ADDRESS);
  await copyCode(rpcUrl, created(NONCES.eas), EAS_ADDRESS);
  if (!(await haveCode(rpcUrl, addresses))) throw new OracleError('CHAIN_REVERTED', 'A contract of the local chain could not be deployed');
  return addresses;
}

function deployments({ identityRegistry }: ChainAddresses): LocalCall[] {
  return [
    creation(easArtifact('SchemaRegistry')),
    creation(easArtifact('EAS'), SCHEMA_REGISTRY_ADDRESS),
    creation(ownArtifact('GateToken'), GATE_SUPPLY),
    creation(ownArtifact('TestStablecoin')),
    creation(ownArtifact('IdentityRegistry')),
    creation(ownArtifact('ReputationRegistry'), identityRegistry),
  ];
}

function creation({ abi, bytecode }: Artifact, ...args: unknown[]): LocalCall {
  return { data: encodeDeployData({ abi, bytecode, args }) };
}

async function copyCode(rpcUrl: string, from: Address, to: Address): Promise<void> {
  await jsonRpc(rpcUrl, 'anvil_setCode', to, await jsonRpc<Hex>(rpcUrl, 'eth_getCode', from, 'latest'));
}

async function haveCode(rpcUrl: string, addresses: ChainAddresses): Promise<boolean> {
  const codes = await Promise.all(Object.values(addresses).map((address) => jsonRpc<Hex>(rpcUrl, 'eth_getCode', address, 'latest')));
  return codes.every((code) => code !== '0x');
}
