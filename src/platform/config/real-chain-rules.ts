import { isPublishedKey } from '../secrets/published-keys.ts';
import { estimateEntropyBits } from '../secrets/secret-strength.ts';
import type { Config, SettingName } from './config.ts';

/** A setting that is missing or wrong, and what to do. Holds no value of a secret. */
export interface SettingProblem {
  name: SettingName;
  problem: string;
}

const KEY_SETTINGS = [
  'ATTESTER_PRIVATE_KEY',
  'REPORTER_PRIVATE_KEY',
  'FACILITATOR_PRIVATE_KEY',
  'PROVIDER_PRIVATE_KEY',
  'POLYMARKET_PRIVATE_KEY',
] as const satisfies SettingName[];
const MASTER_SECRETS = ['SALT_SECRET', 'ENCRYPTION_SECRET'] as const satisfies SettingName[];

/** Of random text with 32 characters, the shortest that is taken, the estimate is 90 and more. */
const MIN_SECRET_BITS = 72;
/** Guesses at the password are limited to 60 a minute of an address. */
const MIN_PASSWORD_BITS = 24;

/** What a demonstration may have and a record that counts may not: keys that are published, secrets that can be guessed, no encryption. */
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

/** One that leaks would give the other away. */
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
