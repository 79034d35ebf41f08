import { SIGNER_ROLES, type SignerSettingRole } from './settings/signers.ts';
import type { Config, SettingName, SettingProblem } from './settings.ts';

export const ON_A_REAL_CHAIN = 'on a real chain (CHAIN_RPC_URL without CHAIN_LOCAL=1)';

export function formatWayToRealChain({ chainMode }: Pick<Config, 'chainMode'>): string {
  return chainMode === 'attached' ? 'unset CHAIN_LOCAL if CHAIN_RPC_URL is a real chain' : 'set CHAIN_RPC_URL to a real chain';
}

export function formatThrowAwayKeysOnly(config: Pick<Config, 'chainMode'>): string {
  return `is refused on a local chain, which uses throw-away keys only; unset it, or ${formatWayToRealChain(config)}`;
}

/** Each wallet has one signer and one nonce queue. */
export function findSignerProblems(config: Config): SettingProblem[] {
  const perRole = SIGNER_ROLES.flatMap((role) => findRoleProblems(config, role));
  return [...perRole, ...findShared(config, 'PRIVATE_KEY'), ...findShared(config, 'SIGNER'), ...findAwsProblems(config)];
}

function findRoleProblems(config: Config, role: SignerSettingRole): SettingProblem[] {
  const [keyName, signerName, addressName] = [`${role}_PRIVATE_KEY`, `${role}_SIGNER`, `${role}_ADDRESS`] as const;
  const { [keyName]: key, [signerName]: signer, [addressName]: address } = config;
  if (config.chainMode !== 'real') {
    const set = [keyName, signerName].filter((name) => config[name] !== undefined);
    return set.map((name) => ({ name, problem: formatThrowAwayKeysOnly(config) }));
  }
  if (key !== undefined && signer !== undefined)
    return [{ name: signerName, problem: `is set, and so is ${keyName}: a role has one signer; unset one of them` }];
  if (signer !== undefined && !signer.startsWith('kms:') && address === undefined)
    return [{ name: addressName, problem: `is required when ${signerName} is the URL of a Web3Signer` }];
  if (key !== undefined || signer !== undefined) return [];
  if (role !== 'FACILITATOR') return [{ name: keyName, problem: `is required ${ON_A_REAL_CHAIN}, or ${signerName} in its place` }];
  if (config.X402_FACILITATOR_URL !== undefined) return [];
  return [{ name: keyName, problem: `is required on a real chain unless X402_FACILITATOR_URL is set, or ${signerName} in its place` }];
}

/** ERC-8004 rejects feedback from the owner of an agent, the attester. Two names of one KMS key show only when it is asked. */
function findShared(config: Config, kind: 'PRIVATE_KEY' | 'SIGNER'): SettingProblem[] {
  const identify = (role: SignerSettingRole) => {
    const value = config[`${role}_${kind}`];
    // A Web3Signer holds the keys of several roles, distinguished by their addresses.
    if (kind === 'SIGNER' && value?.startsWith('http')) return config[`${role}_ADDRESS`]?.toLowerCase();
    return kind === 'PRIVATE_KEY' ? value?.toLowerCase() : value;
  };
  return SIGNER_ROLES.flatMap((role, index) => {
    const own = identify(role);
    const other = own === undefined ? undefined : SIGNER_ROLES.slice(0, index).find((before) => identify(before) === own);
    if (other === undefined) return [];
    return [{ name: `${role}_${kind}`, problem: `must not be the key of ${other}_${kind}: each role has a wallet of its own` }];
  });
}

function findAwsProblems(config: Config): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const unlocated = SIGNER_ROLES.map((role) => `${role}_SIGNER` as const).find((name) => /^kms:(?!arn:)/.test(config[name] ?? ''));
  if (unlocated !== undefined && config.AWS_REGION === undefined)
    problems.push({ name: 'AWS_REGION', problem: `is required, since ${unlocated} names its key without an ARN` });
  const pair = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const satisfies SettingName[];
  const [missing] = pair.filter((name) => config[name] === undefined);
  const [present] = pair.filter((name) => config[name] !== undefined);
  if (missing !== undefined && present !== undefined) problems.push({ name: missing, problem: `is required when ${present} is set` });
  return problems;
}
