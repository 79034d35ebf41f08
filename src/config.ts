import { createHash } from 'node:crypto';
import { OracleError } from './errors.ts';
import { isLoopbackAddress } from './platform/outbound/guarded.ts';
import { estimateEntropyBits, readSecretFile } from './platform/secrets.ts';
import { computeDistance } from './platform/validation.ts';
import {
  BASE_CHAIN_ID,
  type Config,
  LOCAL_CHAIN_ID,
  listSettings,
  listVariables,
  type SettingDefinition,
  type SettingName,
  type SettingProblem,
  type SettingValues,
  SIGNER_ROLES,
  type SignerSettingRole,
} from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Nothing else reads the environment. @throws OracleError CONFIG_INVALID listing every missing, malformed or unsafe setting, no secrets */
export function loadConfig(environment: Environment = process.env): Config {
  const { config, problems } = inspectConfig(environment);
  requireNoProblems(problems);
  return config;
}

/** All problems at once. A malformed setting is undefined in `config`. */
export function inspectConfig(environment: Environment = process.env): { config: Config; problems: SettingProblem[] } {
  const values: Record<string, unknown> = {};
  const files = readSecretFiles(environment);
  const malformed = [...files.problems];
  for (const [name, definition] of listSettings()) {
    const { value, problem } = parseSetting(files.contents[name] ?? environment[name], definition);
    values[name] = value;
    if (problem !== undefined) malformed.push({ name, problem });
  }
  const settings = values as SettingValues;
  const chainMode = getChainMode(settings);
  const CHAIN_ID = settings.CHAIN_ID ?? (chainMode === 'real' ? BASE_CHAIN_ID : LOCAL_CHAIN_ID);
  const unknownVariables = findUnknownVariables(environment);
  const config = { ...settings, chainMode, CHAIN_ID, unknownVariables };
  return {
    config,
    problems: [
      ...malformed,
      ...(chainMode === 'real' ? unknownVariables : []),
      ...findUnsafeSettings(config, new Set(malformed.map(({ name }) => name.replace(/_FILE$/, '')))),
    ],
  };
}

function parseSetting(text: string | undefined, definition: SettingDefinition): { value?: unknown; problem?: string } {
  const used = text || definition.default || undefined;
  const parsed = definition.schema.safeParse(used);
  if (parsed.success) return { value: parsed.data };
  const shown = definition.secret || used === undefined ? '' : ` (found "${stripUserInfo(used)}")`;
  return { problem: `${parsed.error.issues[0]?.message ?? 'is not valid'}${shown}` };
}

/** Text before an `@` may be user and password, however malformed the URL around it is. */
function stripUserInfo(text: string): string {
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `***${text.slice(at)}`;
}

function getChainMode({ CHAIN_RPC_URL, CHAIN_LOCAL }: SettingValues): Config['chainMode'] {
  if (CHAIN_RPC_URL === undefined) return 'own';
  return CHAIN_LOCAL === '1' ? 'attached' : 'real';
}

/** A malformed setting is reported once, without the rules that depend on its value. */
function findUnsafeSettings(config: Config, malformed: ReadonlySet<string>): SettingProblem[] {
  // The chain mode, which decides the rules that apply, is unknown.
  if (malformed.has('CHAIN_RPC_URL') || malformed.has('CHAIN_LOCAL')) return [];
  return [...findRuleProblems(config), ...findRealChainProblems(config)].filter(({ name }) => !malformed.has(name));
}

/** Reports all problems at once: one failed start shows everything to correct. */
function requireNoProblems(problems: readonly SettingProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const lines = problems.map(({ name, problem }) => `Setting ${name}: ${problem}`);
  const message = lines.length === 1 ? lines[0]! : `${lines.length} settings cannot be used:\n  ${lines.join('\n  ')}`;
  throw new OracleError('CONFIG_INVALID', message, {
    field: first.name,
    suggestedAction: suggestCorrection(problems.map(({ name }) => name)),
  });
}

export function suggestCorrection(variables: readonly string[]): string {
  const known = listVariables();
  const names = [...new Set(variables)];
  const wrong = names.filter((name) => known.includes(name));
  const unknown = names.filter((name) => !known.includes(name));
  return [
    ...(wrong.length === 0 ? [] : [`Set ${wrong.join(', ')} as docs/SETTINGS.md says.`]),
    ...(unknown.length === 0 ? [] : [`Rename or unset ${unknown.join(', ')}.`]),
  ].join(' ');
}

export function getListenHost(config: Config): string {
  return config.HOST ?? '127.0.0.1';
}

/** Whether webhooks may call this machine: by setting, else where no other machine reaches the service, on a local chain. */
export function allowsLocalWebhooks({ chainMode, HOST, PUBLIC_URL, PUSH_LOCAL_TARGETS }: Config): boolean {
  const hosts = [HOST ?? '127.0.0.1', ...(PUBLIC_URL === undefined ? [] : [new URL(PUBLIC_URL).hostname])];
  if (PUSH_LOCAL_TARGETS !== undefined) return PUSH_LOCAL_TARGETS === 'allow';
  return chainMode !== 'real' && hosts.every(isLocalHost);
}

export function isLocalHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host.replaceAll(/[[\]]/g, ''));
}

export function getLocalUrl(config: Config): string {
  return formatLocalUrl(getListenHost(config), config.PORT);
}

export function formatLocalUrl(host: string, port: number): string {
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}

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
function findRealChainProblems(config: Config): SettingProblem[] {
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

function findRuleProblems(config: Config): SettingProblem[] {
  const rules = [
    findChainProblems,
    findChainLocalProblems,
    findChainIdProblems,
    findGateProblems,
    findSignerProblems,
    findStakeProblems,
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
  if (isLocalHost(hostname)) return [];
  const problem =
    '1 is for the local chain of another process of this machine, whose keys everyone may use, and CHAIN_RPC_URL names another machine; unset it';
  return [{ name: 'CHAIN_LOCAL', problem }];
}

function findChainIdProblems(config: Config): SettingProblem[] {
  if (config.chainMode === 'real' || config.CHAIN_ID === LOCAL_CHAIN_ID) return [];
  const problem = `is for a real chain, the local one has ${LOCAL_CHAIN_ID}; unset it, or ${formatWayToRealChain(config)}`;
  return [{ name: 'CHAIN_ID', problem }];
}

function findGateProblems({ chainMode, GATE_TOKEN_ADDRESS, GATE_WALLETS }: Config): SettingProblem[] {
  if (GATE_TOKEN_ADDRESS !== undefined && GATE_WALLETS !== undefined)
    return [{ name: 'GATE_WALLETS', problem: 'must not be set with GATE_TOKEN_ADDRESS: tiers have one source' }];
  if (chainMode !== 'real' || GATE_TOKEN_ADDRESS !== undefined || GATE_WALLETS !== undefined) return [];
  const problem = `or GATE_WALLETS is required ${ON_A_REAL_CHAIN}: a token, or a list of the wallets with a tier (none: all pay per call)`;
  return [{ name: 'GATE_TOKEN_ADDRESS', problem }];
}

function findStakeProblems({ WAGERS, WAGER_MIN_STAKE_USD, WAGER_MAX_STAKE_USD }: Config): SettingProblem[] {
  if (WAGERS !== 'polymarket' || WAGER_MIN_STAKE_USD <= WAGER_MAX_STAKE_USD) return [];
  const problem = `must be at most WAGER_MAX_STAKE_USD, ${WAGER_MAX_STAKE_USD}: no wager would be placed`;
  return [{ name: 'WAGER_MIN_STAKE_USD', problem }];
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
  ['PROTOCOL_FIXTURES', 'is for a local chain only: what test suites call is no answer of this service'],
  ['PUSH_LOCAL_TARGETS', 'allow is for a local chain only: on a real one it would open this machine to callers'],
] as const satisfies [SettingName, string][];

function findLocalOnlySettings(config: Config): SettingProblem[] {
  if (config.chainMode !== 'real') return [];
  return LOCAL_ONLY.filter(([name]) => ![undefined, 'refuse'].includes(config[name])).map(([name, problem]) => ({ name, problem }));
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

const ON_A_REAL_CHAIN = 'on a real chain (CHAIN_RPC_URL without CHAIN_LOCAL=1)';

function formatWayToRealChain({ chainMode }: Pick<Config, 'chainMode'>): string {
  return chainMode === 'attached' ? 'unset CHAIN_LOCAL if CHAIN_RPC_URL is a real chain' : 'set CHAIN_RPC_URL to a real chain';
}

function formatThrowAwayKeysOnly(config: Pick<Config, 'chainMode'>): string {
  return `is refused on a local chain, which uses throw-away keys only; unset it, or ${formatWayToRealChain(config)}`;
}

/** Each wallet has one signer and one nonce queue. */
function findSignerProblems(config: Config): SettingProblem[] {
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

interface SecretFiles {
  /** Contents by setting, without their last newline. */
  contents: Partial<Record<SettingName, string>>;
  problems: SettingProblem[];
}

/** Reads the files that `<NAME>_FILE` names for secret settings. Problems name the file, never its content. */
function readSecretFiles(environment: Readonly<Record<string, string | undefined>>): SecretFiles {
  const found: SecretFiles = { contents: {}, problems: [] };
  for (const [name, { secret }] of listSettings()) {
    const path = environment[`${name}_FILE`];
    if (!secret || !path) continue;
    if (environment[name]) {
      found.problems.push({ name, problem: `is set, and so is ${name}_FILE: set one of them` });
      continue;
    }
    try {
      found.contents[name] = readSecretFile(path);
    } catch (error) {
      found.problems.push({ name: `${name}_FILE`, problem: `the file "${path}" ${(error as Error).message}` });
    }
  }
  return found;
}

/** Beginnings of names that only this service uses. Those of products, such as `AWS_` or `POLYMARKET_`, other programs of the machine share. */
const OWN_PREFIXES = [
  ...['RATE_LIMIT_', 'AGENT_COMMERCE_', 'ATTESTER_', 'REPORTER_', 'FACILITATOR_', 'WAGER_', 'MODEL_CHAMPION_'],
  ...['GATE_TOKEN_', 'STABLECOIN_', 'IDENTITY_REGISTRY_', 'REPUTATION_REGISTRY_'],
];
/** Kubernetes and Docker set these for each service that a container may reach, under the name of the service. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** The SDK reads many more of them than the settings here. */
const FOREIGN = /^AWS_/;
const MAX_DISTANCE = 3;

/** Variables that were meant as settings and have no effect, each with the nearest setting. Values are not shown. */
function findUnknownVariables(environment: Environment): SettingProblem[] {
  const known = listVariables();
  return Object.keys(environment).flatMap((name) => {
    if (!environment[name] || known.includes(name) || FOREIGN.test(name) || isServiceLink(name, environment[name])) return [];
    const file = findPlainSettingOfFile(name);
    if (file !== undefined) return [{ name, problem: `is not read, since ${file} is no secret; set ${file} itself` }];
    const nearest = findNearest(name, known, environment);
    return nearest === undefined ? [] : [{ name, problem: `is no setting and has no effect; did you mean ${nearest}?` }];
  });
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));
}

function findPlainSettingOfFile(name: string): string | undefined {
  const base = name.replace(/_FILE$/, '');
  // `PORT_FILE` and the like may be another program's.
  if (base === name || !base.includes('_')) return undefined;
  return listSettings().find(([setting, { secret }]) => setting === base && !secret)?.[0];
}

/** Undefined unless the name is an own one, or near a setting that is not set: where it is, nothing is lost. */
function findNearest(name: string, known: readonly string[], environment: Environment): string | undefined {
  const upper = name.includes('_') ? name.toUpperCase() : name;
  const isOwn = OWN_PREFIXES.some((prefix) => upper.startsWith(prefix));
  const candidates = isOwn ? known : known.filter(({ length }) => Math.abs(length - upper.length) <= MAX_DISTANCE);
  const distances = new Map(candidates.map((setting) => [setting, computeDistance(upper, setting)]));
  const [nearest] = candidates.toSorted((a, b) => distances.get(a)! - distances.get(b)!);
  if (isOwn) return known.find((setting) => setting.endsWith(`_${upper}`)) ?? nearest;
  if (nearest === undefined) return undefined;
  const isNear = distances.get(nearest)! <= Math.min(MAX_DISTANCE, Math.floor(nearest.length / 5));
  return isNear && !environment[nearest] ? nearest : undefined;
}
