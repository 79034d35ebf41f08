import { readFileSync } from 'node:fs';
import type { Abi, Hex } from 'viem';

export interface Artifact {
  contractName: string;
  abi: Abi;
  bytecode: Hex;
}

type OwnContractName =
  | 'AgenticCommerce'
  | 'GateToken'
  | 'TestStablecoin'
  | 'IdentityRegistry'
  | 'ReputationRegistry'
  | 'Multicall3'
  | 'SmartWalletFactory';

/** `eas/` has those of the Ethereum Attestation Service, as its authors compiled them. */
export type ContractName = OwnContractName | 'eas/EAS' | 'eas/SchemaRegistry';

export function readArtifact(name: ContractName): Artifact {
  const path = new URL(`../../../../contracts/compiled/${name}.json`, import.meta.url);
  const { contractName, abi, bytecode } = JSON.parse(readFileSync(path, 'utf8')) as Artifact;
  return { contractName, abi, bytecode };
}
