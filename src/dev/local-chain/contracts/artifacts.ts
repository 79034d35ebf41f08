import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Abi, Hex } from 'viem';
import { OracleError } from '../../../platform/errors.ts';

export interface Artifact {
  contractName: string;
  abi: Abi;
  bytecode: Hex;
}

export type OwnContractName = 'AgenticCommerce' | 'GateToken' | 'TestStablecoin' | 'IdentityRegistry' | 'ReputationRegistry';

const EAS_PACKAGE = '@ethereum-attestation-service/eas-contracts';

export function readOwnArtifact(name: OwnContractName): Artifact {
  return readArtifact(new URL(`../../../../contracts/compiled/${name}.json`, import.meta.url));
}

/** From the package of its authors. @throws OracleError CONFIG_INVALID if the optional package is not installed */
export function readEasArtifact(name: 'EAS' | 'SchemaRegistry'): Artifact {
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve(`${EAS_PACKAGE}/artifacts/contracts/${name}.sol/${name}.json`);
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `The local chain needs the package ${EAS_PACKAGE}`, {
      field: 'CHAIN_RPC_URL',
      suggestedAction: 'Install the optional dependencies, or set CHAIN_RPC_URL to a chain.',
      cause,
    });
  }
  return readArtifact(path);
}

function readArtifact(path: URL | string): Artifact {
  const { contractName, abi, bytecode } = JSON.parse(readFileSync(path, 'utf8')) as Artifact;
  return { contractName, abi, bytecode };
}
