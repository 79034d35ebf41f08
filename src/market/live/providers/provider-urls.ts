import { OracleError } from '../../../platform/errors.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from './providers.ts';

/** Where providers are asked instead of at their own addresses. */
export interface ProviderUrls {
  named: Partial<Record<ProviderId, string>>;
  /** For every provider that is not named, with `{provider}` in place of its id; null leaves them where they are. */
  others: string | null;
}

const WILDCARD = '*';
const PLACEHOLDER = '{provider}';

/**
 * Reads the setting PROVIDER_URLS: pairs `provider=url`, separated by commas; `*=https://host/{provider}` stands for all providers
 * that are not named. URLs may have a path.
 * @throws OracleError CONFIG_INVALID naming the wrong pair
 */
export function parseProviderUrls(text: string): ProviderUrls {
  const urls: ProviderUrls = { named: {}, others: null };
  for (const part of text.split(',').map((part) => part.trim())) {
    if (part !== '') addPair(urls, part);
  }
  return urls;
}

/** Base URL of a provider, without a slash at its end. */
export function getBaseUrl(urls: ProviderUrls, id: ProviderId): string {
  return urls.named[id] ?? urls.others?.replaceAll(PLACEHOLDER, id) ?? PROVIDERS[id].baseUrl;
}

function addPair(urls: ProviderUrls, pair: string): void {
  const [, name, url] = /^([^=]+?)\s*=\s*(.+)$/.exec(pair) ?? [];
  if (name === undefined) throw invalidProviderUrls(`"${pair}" is not of the form provider=url`);
  const baseUrl = parseBaseUrl(name, url);
  if (name === WILDCARD) urls.others = baseUrl;
  else urls.named[parseProviderId(name)] = baseUrl;
}

function parseProviderId(name: string): ProviderId {
  const id = PROVIDER_IDS.find((known) => known === name);
  if (id === undefined) throw invalidProviderUrls(`"${name}" is not a provider`);
  return id;
}

function parseBaseUrl(name: string, text: string): string {
  if ((name === WILDCARD) !== text.includes(PLACEHOLDER))
    throw invalidProviderUrls(`"${name}=${text}": ${PLACEHOLDER} belongs to ${WILDCARD}, and only there`);
  const url = URL.parse(text.replaceAll(PLACEHOLDER, 'provider'));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw invalidProviderUrls(`"${name}=${text}" has no http or https URL`);
  // A request with credentials in its URL is refused, and a query would end up in the middle of every address.
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
