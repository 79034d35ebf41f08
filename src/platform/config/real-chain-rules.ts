import { isPublishedKey } from '../secrets/published-keys.ts';
import { estimateEntropyBits } from '../secrets/secret-strength.ts';
import type { Config, SettingName, SettingProblem } from './settings.ts';

const KEY_SETTINGS = [
  'ATTESTER_PRIVATE_KEY',
  'REPORTER_PRIVATE_KEY',
  'FACILITATOR_PRIVATE_KEY',
  'PROVIDER_PRIVATE_KEY',
  'POLYMARKET_PRIVATE_KEY',
] as const satisfies SettingName[];
const MASTER_SECRETS = ['SALT_SECRET', 'ENCRYPTION_SECRET'] as const satisfies SettingName[];
/** Random text of the minimum length, 32 characters, is estimated at 90 bits and more. */
const MIN_SECRET_BITS = 72;
/** Password guesses are rate limited to 60 a minute per address. */
const MIN_PASSWORD_BITS = 24;

/** Rejects on a real chain what a demo may use: published keys, guessable secrets, plain HTTP. */
export function findRealChainProblems(config: Config): SettingProblem[] {
  if (config.chainMode !== 'real') return [];
  return [
    ...findPublishedKeys(config),
    ...findWeakSecrets(config),
    ...findEqualSecrets(config),
    ...findWeakPassword(config),
    ...findPlainUrl(config),
  ];
}

function findPublishedKeys(config: Config): SettingProblem[] {
  const published = KEY_SETTINGS.filter((name) => config[name] !== undefined && isPublishedKey(config[name]));
  return published.map((name) => ({ name, problem: 'is one of the keys that anvil and hardhat publish; make a new wallet for this role' }));
}

function findWeakSecrets(config: Config): SettingProblem[] {
  const weak = MASTER_SECRETS.filter((name) => config[name] !== undefined && estimateEntropyBits(config[name]) < MIN_SECRET_BITS);
  return weak.map((name) => ({
    name,
    problem: 'can be guessed: it repeats itself or is made of words; make one with openssl rand -hex 32',
  }));
}

/** A leak of one secret would disclose the other. */
function findEqualSecrets(config: Config): SettingProblem[] {
  const comparable = (name: SettingName) => String(config[name]).toLowerCase().replace(/^0x/, '');
  const others = [...KEY_SETTINGS, 'ADMIN_PASSWORD', ...MASTER_SECRETS] as const;
  return MASTER_SECRETS.flatMap((name) => {
    const before = others.slice(0, others.indexOf(name)).filter((other) => config[name] && config[other]);
    const equal = before.find((other) => comparable(other) === comparable(name));
    return equal === undefined ? [] : [{ name, problem: `must not be equal to ${equal}; make one with openssl rand -hex 32` }];
  });
}

function findWeakPassword({ ADMIN_PASSWORD, ADMIN_USER = '' }: Config): SettingProblem[] {
  if (ADMIN_PASSWORD === undefined || estimateEntropyBits(ADMIN_PASSWORD, [ADMIN_USER]) >= MIN_PASSWORD_BITS) return [];
  return [{ name: 'ADMIN_PASSWORD', problem: 'is well known or easy to guess; make one with openssl rand -base64 18' }];
}

function findPlainUrl({ PUBLIC_URL }: Config): SettingProblem[] {
  if (PUBLIC_URL === undefined || new URL(PUBLIC_URL).protocol === 'https:') return [];
  return [
    {
      name: 'PUBLIC_URL',
      problem: 'must begin with https: on a real chain, since tokens and passwords come with requests; put TLS in front',
    },
  ];
}
