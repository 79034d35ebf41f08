import { createHash } from 'node:crypto';
import { estimateEntropyBits } from '../secrets/secret-strength.ts';
import type { Config, SettingName, SettingProblem } from './settings.ts';

/** Digests of 30 keys of anvil and hardhat, whose wallets bots empty within seconds; secret scanners would report the keys themselves. */
const PUBLISHED_KEY_DIGESTS: ReadonlySet<string> = new Set(
  [
    'bc1a50966c9e6486bc4ebf880b51611a 8335c55334821eefd4334369ff9c04a8 b26ab6529d20ebebb4192256f2029847 64034b44c579b335ab5e85debbfe7278',
    '4d3e46eec8244d1d106f866ee48994f6 0aedba9d586f34f95cf1f0d54926f62e 28e543d3753fc9d14c658ebef20b76a3 f070994a8599478580678f2b9482c5f0',
    '38e69fdd19aefeb4adf56312f10e62c3 967f21586cdf1248a862f2cfb3300997 0b33e0132123e78d42dd12a0fbbbacd1 84bc109b3d59b0173a76fc3d831360a6',
    '85bde548053aab4b5a6c78473d5eb2ad f1513114f60e5e95732b840669fe8395 5330d388af894c9e1a181a06a3ce44d6 a2e06155cb1a424f972c3abfaddc9cea',
    '4a67d7a0d8a16d6d954cef19eb5afdbd b08bdfde9930d9202809530dcbe193c5 cf1fc66f853151a4c6666909c8f1f80e 100546a8b020a55aa09b2d34b50de9a3',
    'bc2003d8fb59561f1a7a744a906d16fb 1d29358cbca03f105ec65ec212f6be84 ba433c716625eccfb86da46d05d5b334 f464b33d5e5aba363d2f0dcd1a3f3351',
    '99f8d00effd2a070bb0ac4ee410d8561 15881e3c5459afc1003b711feb633860 4e7f5e18a5e20f68d2883dab77806f29 b0572fddcbc908e26834e0427ee99395',
    '91fbdda3362557468854dd22cd65578b 8b3a3fdb02347d0c537d6ea33b39df8f',
  ].flatMap((line) => line.split(' ')),
);

const KEY_SETTINGS = [
  'ATTESTER_PRIVATE_KEY',
  'REPORTER_PRIVATE_KEY',
  'FACILITATOR_PRIVATE_KEY',
  'PROVIDER_PRIVATE_KEY',
  'POLYMARKET_PRIVATE_KEY',
] as const satisfies SettingName[];
const MASTER_SECRETS = ['SALT_SECRET', 'ENCRYPTION_SECRET', 'BACKUP_KEY'] as const satisfies SettingName[];
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

function isPublishedKey(privateKey: string): boolean {
  const digits = privateKey.toLowerCase().replace(/^0x/, '');
  return PUBLISHED_KEY_DIGESTS.has(createHash('sha256').update(digits).digest('hex').slice(0, 32));
}
