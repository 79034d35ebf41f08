import { OracleError } from '../../../platform/errors.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from './providers.ts';

export interface ProviderUrls {
  named: Partial<Record<ProviderId, string>>;
  /** Template with `{provider}` for all other providers; null: their own URLs. */
  others: string | null;
}

const WILDCARD = '*';
const PLACEHOLDER = '{provider}';

/**
 * Parses the setting PROVIDER_URLS: comma-separated pairs `provider=url`; `*=https://host/{provider}` applies to all other providers.
 * @throws OracleError CONFIG_INVALID naming the invalid pair
 */
export function parseProviderUrls(text: string): ProviderUrls {
  const urls: ProviderUrls = { named: {}, others: null };
  for (const part of text.split(',')) if (part.trim() !== '') addPair(urls, part.trim());
  return urls;
}

/** Without a trailing slash. */
export function getBaseUrl(urls: ProviderUrls, id: ProviderId): string {
  return urls.named[id] ?? urls.others?.replaceAll(PLACEHOLDER, id) ?? PROVIDERS[id].baseUrl;
}

function addPair(urls: ProviderUrls, pair: string): void {
  const [, name, url] = /^([^=]+?)\s*=\s*(.+)$/.exec(pair) ?? [];
  if (name === undefined) throw invalidProviderUrls(`"${pair}" is not of the form provider=url`);
  const baseUrl = parseBaseUrl(name, url);
  const id = PROVIDER_IDS.find((known) => known === name);
  if (name === WILDCARD) urls.others = baseUrl;
  else if (id !== undefined) urls.named[id] = baseUrl;
  else throw invalidProviderUrls(`"${name}" is not a provider`);
}

function parseBaseUrl(name: string, text: string): string {
  if ((name === WILDCARD) !== text.includes(PLACEHOLDER))
    throw invalidProviderUrls(`"${name}=${text}": ${PLACEHOLDER} belongs to ${WILDCARD}, and only there`);
  const url = URL.parse(text.replaceAll(PLACEHOLDER, 'provider'));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw invalidProviderUrls(`"${name}=${text}" has no http or https URL`);
  // fetch rejects URLs with credentials, and paths are appended to the base URL, so it cannot have a query or hash.
  if (url.username + url.password + url.search + url.hash !== '')
    throw invalidProviderUrls(`the URL of "${name}" may have a host and a path only`);
  return text.replace(/\/+$/, '');
}

function invalidProviderUrls(problem: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting PROVIDER_URLS: ${problem}`, {
    field: 'PROVIDER_URLS',
    suggestedAction: `Name providers as ${WILDCARD} or one of ${PROVIDER_IDS.join(', ')}, each followed by = and a URL.`,
  });
}
