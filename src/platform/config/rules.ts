import { isLoopbackAddress } from '../outbound/public-address.ts';
import { LOCAL_CHAIN_ID } from './chain-ids.ts';
import { type Config, listSettings, type SettingName, type SettingProblem } from './settings.ts';
import { findSignerProblems, formatThrowAwayKeysOnly, formatWayToRealChain, ON_A_REAL_CHAIN } from './signer-rules.ts';

export function findRuleProblems(config: Config): SettingProblem[] {
  const rules = [
    findChainProblems,
    findChainLocalProblems,
    findChainIdProblems,
    findSignerProblems,
    findRealMoneyProblems,
    findLocalOnlySettings,
    findAdminProblems,
    findFacilitatorKeyProblems,
  ];
  return rules.flatMap((find) => find(config));
}

function findChainProblems(config: Config): SettingProblem[] {
  const real = config.chainMode === 'real';
  return listSettings().flatMap(([name, { requiredOnRealChain, secret }]) => {
    if (!requiredOnRealChain) return [];
    if (real && config[name] === undefined) return [{ name, problem: `is required ${ON_A_REAL_CHAIN}` }];
    // A local chain carries the id of a public one: a real key's signatures would be valid on both.
    return !real && secret && config[name] !== undefined ? [{ name, problem: formatThrowAwayKeysOnly(config) }] : [];
  });
}

/** Keys of a data folder are shown on pages and sign for anyone who asks: on the chain of another machine they would act for real. */
function findChainLocalProblems({ chainMode, CHAIN_RPC_URL }: Config): SettingProblem[] {
  if (chainMode !== 'attached') return [];
  const { hostname } = new URL(CHAIN_RPC_URL!);
  if (hostname === 'localhost' || isLoopbackAddress(hostname.replaceAll(/[[\]]/g, ''))) return [];
  const problem =
    '1 is for the local chain of another process of this machine, whose keys everyone may use, and CHAIN_RPC_URL names another machine; unset it';
  return [{ name: 'CHAIN_LOCAL', problem }];
}

function findChainIdProblems(config: Config): SettingProblem[] {
  if (config.chainMode === 'real' || config.CHAIN_ID === LOCAL_CHAIN_ID) return [];
  const problem = `is for a real chain, the local one has ${LOCAL_CHAIN_ID}; unset it, or ${formatWayToRealChain(config)}`;
  return [{ name: 'CHAIN_ID', problem }];
}

function findRealMoneyProblems(config: Config): SettingProblem[] {
  if (config.WAGERS !== 'polymarket' || config.POLYMARKET_DRY_RUN) return [];
  if (config.chainMode !== 'real') {
    const problem = `false, which stakes real money, is refused on a local chain; ${formatWayToRealChain(config)}`;
    return [{ name: 'POLYMARKET_DRY_RUN', problem }];
  }
  const problems: SettingProblem[] = [];
  if (config.POLYMARKET_PRIVATE_KEY === undefined)
    problems.push({ name: 'POLYMARKET_PRIVATE_KEY', problem: 'is required when WAGERS is polymarket and POLYMARKET_DRY_RUN is false' });
  if (config.POLYMARKET_SIGNATURE_TYPE !== 0 && config.POLYMARKET_FUNDER === undefined)
    problems.push({ name: 'POLYMARKET_FUNDER', problem: `is required for POLYMARKET_SIGNATURE_TYPE ${config.POLYMARKET_SIGNATURE_TYPE}` });
  return problems;
}

const LOCAL_ONLY = [
  ['PROTOCOL_FIXTURES', 'on', 'on is for a local chain only: what test suites call is no answer of this service'],
  ['PUSH_LOCAL_TARGETS', 'allow', 'allow is for a local chain only: on a real one it would open this machine to callers'],
] as const satisfies [SettingName, string, string][];

function findLocalOnlySettings(config: Config): SettingProblem[] {
  if (config.chainMode !== 'real') return [];
  return LOCAL_ONLY.filter(([name, value]) => config[name] === value).map(([name, , problem]) => ({ name, problem }));
}

function findAdminProblems({ ADMIN_USER, ADMIN_PASSWORD }: Config): SettingProblem[] {
  if (ADMIN_USER !== undefined && ADMIN_PASSWORD === undefined)
    return [{ name: 'ADMIN_PASSWORD', problem: 'is required when ADMIN_USER is set' }];
  if (ADMIN_PASSWORD !== undefined && ADMIN_USER === undefined)
    return [{ name: 'ADMIN_USER', problem: 'is required when ADMIN_PASSWORD is set' }];
  return [];
}

function findFacilitatorKeyProblems({
  CDP_API_KEY_ID: id,
  CDP_API_KEY_SECRET: secret,
  X402_FACILITATOR_URL: url,
}: Config): SettingProblem[] {
  if (id === undefined && secret === undefined) return [];
  if (secret === undefined) return [{ name: 'CDP_API_KEY_SECRET', problem: 'is required when CDP_API_KEY_ID is set' }];
  if (id === undefined) return [{ name: 'CDP_API_KEY_ID', problem: 'is required when CDP_API_KEY_SECRET is set' }];
  if (url === undefined)
    return [{ name: 'X402_FACILITATOR_URL', problem: 'is required when CDP_API_KEY_ID is set: the key is for a facilitator' }];
  const { protocol, hostname } = new URL(url);
  // Each request carries a token.
  if (protocol === 'https:' || hostname === 'localhost' || hostname === '127.0.0.1') return [];
  return [{ name: 'X402_FACILITATOR_URL', problem: 'must be an https URL when CDP_API_KEY_ID is set' }];
}
