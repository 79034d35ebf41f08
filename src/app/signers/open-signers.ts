import { type Address, isAddressEqual } from 'viem';
import { checkSigner } from '../../chain/signers/check-signer.ts';
import { openKmsBackend } from '../../chain/signers/kms-backend.ts';
import { openKmsKey } from '../../chain/signers/kms-key.ts';
import { createKeySigner } from '../../chain/signers/raw-key.ts';
import { createRoleSigner, type RoleSigner, SignerRefusal, signerCall } from '../../chain/signers/role-signer.ts';
import { getArnRegion, type SignerSource } from '../../chain/signers/signer-source.ts';
import { createWeb3SignerBackend } from '../../chain/signers/web3signer-backend.ts';
import { createWeb3SignerRpc } from '../../chain/signers/web3signer-rpc.ts';
import type { WalletRole } from '../../chain/tx/wallet.ts';
import type { Config } from '../../platform/config/settings.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { loadKmsSdk } from './kms-sdk.ts';
import { type SignerSources, toSettingRole } from './sources.ts';

export type SignerConfig = Pick<
  Config,
  'CHAIN_ID' | 'AWS_REGION' | 'AWS_ENDPOINT_URL_KMS' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN'
>;

export type RoleSigners = Record<Exclude<WalletRole, 'facilitator'>, RoleSigner> & { facilitator: RoleSigner | null };

/**
 * Opens the signers of all roles and has each sign what its role needs. @throws OracleError CONFIG_INVALID for a signer that refuses, one of
 * another address or one in two roles; SIGNER_UNAVAILABLE for one that does not answer
 */
export async function openSigners(config: SignerConfig, sources: SignerSources): Promise<RoleSigners> {
  const open = async (role: WalletRole, source: SignerSource) => {
    const signer = await openSigner(config, role, source);
    await explainRefusal(role, () => checkSigner(signer, config.CHAIN_ID));
    return signer;
  };
  const [attester, reporter, provider, facilitator] = await Promise.all([
    open('attester', sources.attester),
    open('reporter', sources.reporter),
    open('provider', sources.provider),
    sources.facilitator === null ? null : open('facilitator', sources.facilitator),
  ]);
  requireDistinct([attester, reporter, facilitator, provider].filter((signer) => signer !== null));
  return { attester, reporter, provider, facilitator };
}

/** Without having it sign anything. @throws OracleError as `openSigners` */
export async function openSigner(config: SignerConfig, role: WalletRole, source: SignerSource): Promise<RoleSigner> {
  const signer = await explainRefusal(role, () => createSigner(config, role, source));
  requireAddress(signer, source.address);
  return signer;
}

async function createSigner(config: SignerConfig, role: WalletRole, source: SignerSource): Promise<RoleSigner> {
  if (source.kind === 'key') return createKeySigner(role, source.privateKey);
  if (source.kind === 'web3signer') return createRoleSigner(role, createWeb3SignerBackend(createWeb3SignerRpc(source.url), source.address));
  const sdk = loadKmsSdk(`${toSettingRole(role)}_SIGNER`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = config;
  const key = openKmsKey(sdk, {
    keyId: source.keyId,
    region: getArnRegion(source.keyId) ?? config.AWS_REGION!,
    endpoint: config.AWS_ENDPOINT_URL_KMS,
    ...(accessKeyId !== undefined && secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey, sessionToken } }),
  });
  return createRoleSigner(role, await signerCall(role, () => openKmsBackend(key)));
}

/** At the start an answer that is an error is a wrong setting: waiting does not change it. */
async function explainRefusal<T>(role: WalletRole, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOracleError(error, 'SIGNER_UNAVAILABLE') || !(error.cause instanceof SignerRefusal)) throw error;
    throw settingError(role, 'SIGNER', `cannot sign for the ${role}: ${error.cause.message}`, error.cause);
  }
}

function requireAddress({ role, account }: RoleSigner, expected: Address | undefined): void {
  if (expected === undefined || isAddressEqual(account.address, expected)) return;
  throw settingError(role, 'ADDRESS', `is ${expected}, but the wallet of the ${role} is ${account.address}`);
}

/** Two names may lead to one key of KMS. Each wallet has one nonce queue. */
function requireDistinct(signers: readonly RoleSigner[]): void {
  signers.forEach(({ role, account }, index) => {
    const other = signers.slice(0, index).find((before) => isAddressEqual(before.account.address, account.address));
    if (other !== undefined)
      throw settingError(role, 'SIGNER', `has the wallet of the ${other.role}, ${account.address}: each role has a wallet of its own`);
  });
}

function settingError(role: WalletRole, kind: 'SIGNER' | 'ADDRESS', problem: string, cause?: Error): OracleError {
  const field = `${toSettingRole(role)}_${kind}`;
  return new OracleError('CONFIG_INVALID', `Setting ${field}: ${problem}`, {
    field,
    suggestedAction: `Correct ${field}; docs/OPERATE.md, "Keys", says what a signer needs.`,
    cause,
  });
}
