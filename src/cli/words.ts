import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Misuse } from '../audit/misuse.ts';
import { messageOf } from '../errors.ts';
import type { HorizonName } from '../forecast/model.ts';
import { DEFAULT_HORIZON, HORIZON_RULE, recordHorizonInput } from '../horizon-input.ts';
import { nearest } from './suggest.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Options that most commands take, for their help. */
export const SERVICE_HELP = `  --url <url>        the service; or SERVICE_URL. Default: the one of this machine`;
export const READER_HELP = `${SERVICE_HELP}
  --token <token>    access token to ask with; better ORACLE_TOKEN: others can read command lines. Default: that of svc login
  --json             for programs; also when the output is no terminal`;

/**
 * The words of a call.
 * @param most how many words may stand beside the options @throws Misuse naming the option
 */
export function parseWords<const T extends Options>(args: string[], options: T, most = 0) {
  const { values, positionals } = parsed(args, options);
  if (positionals.length > most) throw new Misuse('arguments', 'there is one word too many');
  return { values, positionals };
}

function parsed<const T extends Options>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw misuseOf(error, Object.keys(options));
  }
}

function misuseOf(error: unknown, names: readonly string[]): Misuse {
  // Only the first sentence: the rest teaches how to pass a word that begins with a dash.
  const [problem] = messageOf(error).split('. ');
  const [, option] = /'(?:-\w, )?(--?[\w-]+)[^']*'/.exec(problem) ?? [];
  if (option === undefined) return new Misuse('arguments', problem.slice(0, 200));
  if ((error as { code?: string }).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return new Misuse(option, problem.slice(0, 200));
  const meant = nearest(option.replace(/^-+/, ''), names);
  return new Misuse(option, 'is unknown', `${meant === null ? '' : `Did you mean --${meant}? `}Try --help.`);
}

/** A horizon spelled `7d` or `7`; 7d unless named. @throws Misuse */
export function horizonOf(name: string, value: string | undefined): HorizonName {
  const named = recordHorizonInput.default(DEFAULT_HORIZON).safeParse(value);
  if (named.success) return named.data;
  throw new Misuse(name, HORIZON_RULE);
}

/** @throws Misuse */
export function oneOf<const T extends string>(name: string, value: string | undefined, all: readonly T[]): T | undefined {
  if (value === undefined || all.some((one) => one === value)) return value as T | undefined;
  throw new Misuse(name, `must be one of ${all.join(', ')}`);
}

/** An http(s) URL without anything secret in it, and without slashes at its end. @throws Misuse */
export function urlIn(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new Misuse(name, 'must be an http(s) URL');
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new Misuse(name, 'must be a URL without user, password, query and fragment');
  }
  return text.replace(/\/+$/, '');
}
