import { HORIZON_NAMES, HORIZON_RULE, recordHorizonInput } from '../../forecast/horizon-input.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { UsageError } from '../../platform/usage-error.ts';
import type { OptionSyntax } from './command-line.ts';

export const URL_OPTION: OptionSyntax = [
  '--url <url>',
  'the service; or SERVICE_URL (default: the service of this machine)',
  parseUrlOption,
];
export const JSON_OPTION: OptionSyntax = ['--json', 'print JSON; the default when the output is not a terminal'];
export const TOKEN_OPTION: OptionSyntax = [
  '--token <token>',
  'access token or API key; prefer ORACLE_TOKEN, as other users can read command lines (default: the token of svc login)',
];
export const HORIZON_OPTION: OptionSyntax = [
  '--horizon <days>',
  'days of the outcome window (default: 7d)',
  parseHorizonOption,
  HORIZON_NAMES,
];

/** Of commands that show all horizons. */
export const HORIZON_VIEW_OPTION: OptionSyntax = [
  '--horizon <days>',
  'one horizon in detail (default: all, in a table)',
  parseHorizonOption,
  HORIZON_NAMES,
];

export interface ServiceValues {
  url?: string;
  json?: boolean;
}

function parseHorizonOption(name: string, value: string): HorizonName {
  const named = recordHorizonInput.safeParse(value);
  if (named.success) return named.data;
  throw new UsageError(name, HORIZON_RULE);
}

export function parseChoice<const T extends string>(name: string, value: string | undefined, choices: readonly T[]): T | undefined {
  if (value === undefined || choices.some((choice) => choice === value)) return value as T | undefined;
  throw new UsageError(name, `must be one of ${choices.join(', ')}`);
}

/** An http(s) URL that carries no secret, without trailing slashes. @throws UsageError */
export function parseUrlOption(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new UsageError(name, 'must be an http(s) URL');
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new UsageError(name, 'must be a URL without user, password, query and fragment');
  }
  return text.replace(/\/+$/, '');
}
