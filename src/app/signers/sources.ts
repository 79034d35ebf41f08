import type { Hex } from 'viem';
import type { SignerSource } from '../../chain/signers/signer-source.ts';
import type { WalletRole } from '../../chain/tx/wallet.ts';
import type { SignerSettingRole } from '../../platform/config/settings/signers.ts';
import type { Config } from '../../platform/config/settings.ts';

/** Null for the facilitator when a remote one settles. With faulty settings others are null too. */
export type SignerSources = Record<Exclude<WalletRole, 'facilitator'>, SignerSource> & { facilitator: SignerSource | null };

export function readSignerSources(config: Config): SignerSources {
  const [attester, reporter, provider] = (['attester', 'reporter', 'provider'] as const).map((role) => readSignerSource(config, role)!);
  return { attester, reporter, provider, facilitator: readSignerSource(config, 'facilitator') };
}

/** Throw-away keys of a local chain. */
export function toKeySources(keys: Record<WalletRole, Hex>): Record<WalletRole, SignerSource> {
  const toSource = (role: WalletRole): SignerSource => ({ kind: 'key', privateKey: keys[role] });
  return {
    attester: toSource('attester'),
    reporter: toSource('reporter'),
    provider: toSource('provider'),
    facilitator: toSource('facilitator'),
  };
}

export const toSettingRole = (role: WalletRole) => role.toUpperCase() as SignerSettingRole;

/** The rules of the settings hold: one source a role, and an address with a URL. */
function readSignerSource(config: Config, role: WalletRole): SignerSource | null {
  const prefix = toSettingRole(role);
  const {
    [`${prefix}_PRIVATE_KEY` as const]: privateKey,
    [`${prefix}_SIGNER` as const]: signer,
    [`${prefix}_ADDRESS` as const]: address,
  } = config;
  if (privateKey !== undefined) return { kind: 'key', privateKey, address };
  if (signer === undefined) return null;
  return signer.startsWith('kms:')
    ? { kind: 'kms', keyId: signer.slice('kms:'.length), address }
    : { kind: 'web3signer', url: signer, address: address! };
}
