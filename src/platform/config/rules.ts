import { LOCAL_CHAIN_ID } from './chain-ids.ts';
import { type Config, listSettings, type SettingName, type SettingProblem } from './settings.ts';

export function findRuleProblems(config: Config): SettingProblem[] {
  const rules = [findChainProblems, findPaymentProblems, findSharedKeys, findRealMoneyProblems, findLocalOnlySettings, findAdminProblems, findChainIdProblems];
  return rules.flatMap((find) => find(config));
}

const THROW_AWAY_KEYS_ONLY = 'is refused on a local chain, which uses throw-away keys only; unset it, or set CHAIN_RPC_URL to a real chain';

function findChainProblems(config: Config): SettingProblem[] {
  const real = config.chainMode === 'real';
  return listSettings().flatMap(([name, { requiredOnRealChain, secret }]) => {
    if (!requiredOnRealChain) return [];
    if (real && config[name] === undefined) return [{ name, problem: 'is required when CHAIN_RPC_URL names a real chain' }];
    // A local chain carries the id of a public one: a real key's signatures would be valid on both.
    return !real && secret && config[name] !== undefined ? [{ name, problem: THROW_AWAY_KEYS_ONLY }] : [];
  });
}

function findChainIdProblems({ chainMode, CHAIN_ID }: Config): SettingProblem[] {
  if (chainMode === 'real' || CHAIN_ID === LOCAL_CHAIN_ID) return [];
  return [{ name: 'CHAIN_ID', problem: `is for a real chain, the local one has ${LOCAL_CHAIN_ID}; unset it, or set CHAIN_RPC_URL` }];
}

function findPaymentProblems({ chainMode, FACILITATOR_PRIVATE_KEY, X402_FACILITATOR_URL }: Config): SettingProblem[] {
  const name = 'FACILITATOR_PRIVATE_KEY';
  if (chainMode === 'real' && FACILITATOR_PRIVATE_KEY === undefined && X402_FACILITATOR_URL === undefined)
    return [{ name, problem: 'is required on a real chain unless X402_FACILITATOR_URL is set' }];
  return chainMode !== 'real' && FACILITATOR_PRIVATE_KEY !== undefined ? [{ name, problem: THROW_AWAY_KEYS_ONLY }] : [];
}

const ROLE_KEYS = ['ATTESTER_PRIVATE_KEY', 'REPORTER_PRIVATE_KEY', 'FACILITATOR_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY'] as const;

/** Each wallet has one nonce queue, and ERC-8004 rejects feedback from the owner of an agent, the attester. */
function findSharedKeys(config: Config): SettingProblem[] {
  return ROLE_KEYS.flatMap((name, index) => {
    const key = config[name]?.toLowerCase();
    const other = ROLE_KEYS.slice(0, index).find((before) => key !== undefined && config[before]?.toLowerCase() === key);
    return other === undefined ? [] : [{ name, problem: `must not be the key of ${other}: each role has a wallet of its own` }];
  });
}

function findRealMoneyProblems(config: Config): SettingProblem[] {
  if (config.WAGERS !== 'polymarket' || config.POLYMARKET_DRY_RUN) return [];
  if (config.chainMode !== 'real') {
    const problem = 'false, which stakes real money, is refused on a local chain; set CHAIN_RPC_URL to a real one';
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
