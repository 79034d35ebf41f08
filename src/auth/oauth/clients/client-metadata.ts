import { getDomain } from 'tldts';
import { z } from 'zod';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { type CLIENT_AUTH_METHODS, GRANT_TYPES } from '../metadata.ts';

/** What a client says of itself (RFC 7591), as far as this service uses it; everything else is dropped. */
export interface ClientMetadata {
  client_name?: string;
  redirect_uris: string[];
  /** Native clients may listen at any port of this machine (RFC 8252). */
  application_type: 'web' | 'native';
  grant_types: string[];
  response_types: ['code'];
  token_endpoint_auth_method: (typeof CLIENT_AUTH_METHODS)[number];
  jwks?: object;
  jwks_uri?: string;
}

const MAX_REDIRECT_URIS = 20;
const MAX_URI_CHARS = 512;
const MAX_NAME_CHARS = 80;

/** Schemes with a meaning in browsers and systems that no application may claim. */
const RESERVED_SCHEMES = /^(javascript|data|vbscript|file|filesystem|blob|about|ftp|ws|wss|view-source|mailto|tel|chrome|intent):$/;
const THIS_DEVICE = 'this computer';
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];

const redirectUri = z
  .string()
  .max(MAX_URI_CHARS, `must have at most ${MAX_URI_CHARS} characters`)
  .refine(isRedirectUri, 'must be an https URL, an http URL of this machine, or have a scheme of the application, without a fragment');

const METADATA = z.object({
  client_name: z.string().optional(),
  redirect_uris: z.array(redirectUri).min(1, 'must name at least one').max(MAX_REDIRECT_URIS, `must name at most ${MAX_REDIRECT_URIS}`),
  grant_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  jwks: z.looseObject({}).optional(),
  jwks_uri: z.url().max(MAX_URI_CHARS).optional(),
});

/** @param document unvalidated; an optional member that is null or empty is the same as an absent one @throws ClientMetadataError */
export function parseClientMetadata(document: unknown): ClientMetadata {
  const parsed = METADATA.safeParse(dropEmptyMembers(document));
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
    throw new ClientMetadataError(path[0] === 'redirect_uris', `${path.join('.') || 'the document'} ${message}`);
  }
  const { client_name: name, redirect_uris, grant_types, token_endpoint_auth_method: method, jwks, jwks_uri } = parsed.data;
  if (jwks !== undefined && jwks_uri !== undefined) throw new ClientMetadataError(false, 'jwks and jwks_uri must not both be present');
  // Other methods need a secret, which a public client cannot keep: the server may replace them (RFC 7591, section 3.2.1).
  const hasKeys = method === 'private_key_jwt' && (jwks ?? jwks_uri) !== undefined;
  const granted = GRANT_TYPES.filter((type) => grant_types === undefined || grant_types.includes(type));
  if (!granted.includes('authorization_code')) throw new ClientMetadataError(false, 'grant_types must contain authorization_code');
  return {
    ...(name === undefined ? {} : { client_name: cleanName(name) }),
    redirect_uris,
    application_type: redirect_uris.every(isWebUri) ? 'web' : 'native',
    grant_types: granted,
    response_types: ['code'],
    token_endpoint_auth_method: hasKeys ? 'private_key_jwt' : 'none',
    // The database stores an absent value as null, which the provider refuses.
    ...(hasKeys && jwks !== undefined ? { jwks } : {}),
    ...(hasKeys && jwks_uri !== undefined ? { jwks_uri } : {}),
  };
}

function dropEmptyMembers(document: unknown): unknown {
  if (!isPlainObject(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([name, value]) => name === 'redirect_uris' || !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * A registration proves nothing, and is named by the host that gets the code: its hosts are of one owner, by the Public Suffix List.
 * @throws ClientMetadataError
 */
export function requireOneDomain({ redirect_uris: uris }: Pick<ClientMetadata, 'redirect_uris'>): void {
  const hosts = uris.filter(isWebUri).map((uri) => new URL(uri).hostname);
  const domains = new Set(hosts.map((host) => getDomain(host, { allowPrivateDomains: true }) ?? host));
  if (domains.size <= 1) return;
  const problem = `redirect_uris must have https hosts of one domain, not of ${[...domains].join(' and ')}: register one client for each`;
  throw new ClientMetadataError(true, problem);
}

/** Its message names the member and the rule, and nothing of the document. */
export class ClientMetadataError extends Error {
  readonly isAboutRedirect: boolean;

  constructor(isAboutRedirect: boolean, message: string) {
    super(message);
    this.isAboutRedirect = isAboutRedirect;
  }
}

function isRedirectUri(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return !LOOPBACK_HOSTS.includes(url.hostname);
  if (url.protocol === 'http:') return LOOPBACK_HOSTS.includes(url.hostname);
  return !RESERVED_SCHEMES.test(url.protocol);
}

function isWebUri(text: string): boolean {
  return new URL(text).protocol === 'https:';
}

/** A name is a claim that is shown to the wallet's owner: on one line, without characters that reorder or hide others. */
function cleanName(name: string): string {
  const visible = name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return [...visible].slice(0, MAX_NAME_CHARS).join('');
}

export interface ClientIdentity {
  clientId: string;
  /** The one in use. */
  redirectUri: string;
  /** As the client calls itself. */
  claimedName?: string | undefined;
}

/** The host of the metadata document that is the client, which this service has read there; null for a registered one. */
export function findDocumentHost(clientId: string): string | null {
  return URL.parse(clientId)?.host ?? null;
}

/** How a client is named to the owner of a wallet: by its document, else by who gets the code, and in quotation marks as it calls itself. */
export function formatClientName({ clientId, redirectUri, claimedName }: ClientIdentity): string {
  const host = findDocumentHost(clientId);
  if (host !== null) return host;
  const claim = claimedName ? `“${claimedName}”, ` : '';
  const place = getRedirectHost(redirectUri);
  if (place === THIS_DEVICE) return `${claim}a program on this computer`;
  return place.endsWith(':') ? `${claim}an application that opens ${place} links` : place;
}

/** The host that gets the code; the scheme, with its colon, where it is one of an application. */
export function getRedirectHost(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return 'an application';
  if (LOOPBACK_HOSTS.includes(url.hostname)) return THIS_DEVICE;
  return url.protocol === 'https:' ? url.host : url.protocol;
}

/** Whether a scheme names its owner, as RFC 8252, section 7.1, requires: any application could claim another. */
export function isOwnedRedirect(redirectUri: string): boolean {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' || protocol.includes('.');
}
