import { isIP } from 'node:net';
import { z } from 'zod';

export interface SettingDefinition {
  schema: z.ZodType;
  /** Text that applies when the setting is absent or empty. */
  default?: string;
  description: string;
  /** The value appears in no log, error or page. */
  secret?: boolean;
  /** Required on a real chain: with `CHAIN_RPC_URL`, unless `CHAIN_LOCAL` is 1. */
  requiredOnRealChain?: boolean;
}

export type SettingDefinitions = Readonly<Record<string, SettingDefinition>>;

export const integerSetting = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
};
export const urlSetting = (protocols: RegExp, what: string) => z.url({ protocol: protocols, error: `must be ${what}` });
export const serviceUrlSchema = urlSetting(/^https?$/, 'an http(s) URL').refine(isBareUrl, {
  error: 'must be a URL without user, password, query and fragment',
});
const MAX_URLS = 8;
export const serviceUrlListSchema = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((url) => url.trim().replace(/\/+$/, '')))])
  .pipe(z.array(serviceUrlSchema).max(MAX_URLS, `must be at most ${MAX_URLS} URLs`));
export const privateKeySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a private key: 0x and 64 hex characters')
  .transform((text) => text as `0x${string}`);
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex characters')
  .transform((text) => text as `0x${string}`);
export const addressListSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}(,0x[0-9a-fA-F]{40})*$/, 'must be addresses, 0x and 40 hex characters each, separated by commas')
  .transform((text) => text.split(',') as `0x${string}`[]);

export const hashListSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}(,0x[0-9a-fA-F]{64})*$/, 'must be hashes, 0x and 64 hex characters each, separated by commas')
  .transform((text) => text.toLowerCase().split(',') as `0x${string}`[]);

function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '';
}

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];
const isTrustedProxy = (text: string) => {
  const [ip = '', bits, ...rest] = text.split('/');
  const width = isIP(ip) === 4 ? 32 : isIP(ip) === 6 ? 128 : 0;
  const ranged = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= width);
  return PROXY_NAMES.includes(text) || (width > 0 && ranged && rest.length === 0);
};
export const trustedProxiesSchema = z
  .string()
  .refine((text) => /^\d$/.test(text) || text.split(',').every(isTrustedProxy), {
    error: `must be a number of proxies from 0 to 9, or addresses, ranges such as 10.0.0.0/8, or ${PROXY_NAMES.join(', ')}, separated by commas`,
  })
  .transform((text) => (/^\d$/.test(text) ? Number(text) : text.split(',')));

/** Host names as browsers serialize them in `Origin`, or the scheme of browser extensions. */
export const originHostsSchema = z
  .string()
  .regex(
    /^(([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]|(?!https?:)[a-z-]+:\/\/\*)(,|$))+(?<!,)$/,
    'must be host names in lower case without scheme and port, separated by commas, such as app.example.org',
  )
  .transform((text) => text.split(','));
