import { OracleError } from '../errors.ts';
import { BASE_CHAIN_ID, LOCAL_CHAIN_ID } from './chain-ids.ts';
import { findRealChainProblems } from './real-chain-rules.ts';
import { findRuleProblems } from './rules.ts';
import { readSecretFiles } from './secret-files.ts';
import type { SettingDefinition } from './settings/define.ts';
import { type Config, listSettings, listVariables, type SettingProblem, type SettingValues } from './settings.ts';
import { findUnknownVariables } from './unknown-settings.ts';

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

export function getLocalUrl(config: Config): string {
  return formatLocalUrl(getListenHost(config), config.PORT);
}

export function formatLocalUrl(host: string, port: number): string {
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}
