import { type ParseArgsConfig, parseArgs } from 'node:util';
import { DEFAULT_HORIZON, HORIZON_RULE, recordHorizonInput } from '../../forecast/horizon-input.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { findClosestName } from './suggestions.ts';

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>;

/** Options that most commands take, for their help. */
export const SERVICE_HELP = `  --url <url>        the service; or SERVICE_URL. Default: the one of this machine`;
export const READER_HELP = `${SERVICE_HELP}
  --token <token>    access token to ask with; better ORACLE_TOKEN: others can read command lines. Default: that of svc login
  --json             for programs; also when the output is no terminal`;

/**
 * The words of a call.
 * @param maxPositionals how many words may stand beside the options @throws Misuse naming the option
 */
export function parseArguments<const T extends ArgumentOptions>(args: string[], options: T, maxPositionals = 0) {
  const { values, positionals } = parseOrReject(args, options);
  if (positionals.length > maxPositionals) throw new UsageError('arguments', 'there is one word too many');
  return { values, positionals };
}

function parseOrReject<const T extends ArgumentOptions>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw toUsageError(error, Object.keys(options));
  }
}

function toUsageError(error: unknown, names: readonly string[]): UsageError {
  // Only the first sentence: the rest teaches how to pass a word that begins with a dash.
  const [problem] = getErrorMessage(error).split('. ');
  const [, option] = /'(?:-\w, )?(--?[\w-]+)[^']*'/.exec(problem) ?? [];
  if (option === undefined) return new UsageError('arguments', problem.slice(0, 200));
  if ((error as { code?: string }).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return new UsageError(option, problem.slice(0, 200));
  const meant = findClosestName(option.replace(/^-+/, ''), names);
  return new UsageError(option, 'is unknown', `${meant === null ? '' : `Did you mean --${meant}? `}Try --help.`);
}

/** A horizon spelled `7d` or `7`; 7d unless named. @throws Misuse */
export function parseHorizonOption(name: string, value: string | undefined): HorizonName {
  const named = recordHorizonInput.default(DEFAULT_HORIZON).safeParse(value);
  if (named.success) return named.data;
  throw new UsageError(name, HORIZON_RULE);
}

/** @throws Misuse */
export function parseChoice<const T extends string>(name: string, value: string | undefined, all: readonly T[]): T | undefined {
  if (value === undefined || all.some((one) => one === value)) return value as T | undefined;
  throw new UsageError(name, `must be one of ${all.join(', ')}`);
}

/** An http(s) URL without anything secret in it, and without slashes at its end. @throws Misuse */
export function parseUrlOption(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new UsageError(name, 'must be an http(s) URL');
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new UsageError(name, 'must be a URL without user, password, query and fragment');
  }
  return text.replace(/\/+$/, '');
}
