import { z } from 'zod';
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
const THIS_DEVICE = 'this device';
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

/** @param document unvalidated @throws ClientMetadataError */
export function parseClientMetadata(document: unknown): ClientMetadata {
  const parsed = METADATA.safeParse(document);
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
    throw new ClientMetadataError(path[0] === 'redirect_uris', `${path.join('.') || 'the document'} ${message}`);
  }
  const { client_name: name, redirect_uris, grant_types, token_endpoint_auth_method: method, jwks, jwks_uri } = parsed.data;
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
    ...(hasKeys ? { jwks, jwks_uri } : {}),
  };
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
  redirectUris: readonly string[];
  /** As the client calls itself. */
  claimedName?: string | undefined;
}

/** The host that a client has proven by its client id or its redirect URI; null for one on this device, which proves nothing. */
export function findCheckedHost({ clientId, redirectUris }: ClientIdentity): string | null {
  const host = getClientHost(clientId, redirectUris);
  return host === THIS_DEVICE || host.endsWith(':') ? null : host;
}

/** How a client is named to the owner of a wallet: by its checked host, or else in quotation marks as it calls itself. */
export function formatClientName(client: ClientIdentity): string {
  const host = findCheckedHost(client);
  if (host !== null) return host;
  return client.claimedName ? `“${client.claimedName}” on this device` : 'an application on this device';
}

/** The host of the client id, or that of a redirect URI when the id is ours. */
export function getClientHost(clientId: string, redirectUris: readonly string[]): string {
  return URL.parse(clientId)?.host ?? getRedirectHost(redirectUris[0] ?? '');
}

/** The host that gets the code; the scheme where it is one of an application. */
export function getRedirectHost(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return 'an application';
  if (LOOPBACK_HOSTS.includes(url.hostname)) return THIS_DEVICE;
  return url.protocol === 'https:' ? url.host : url.protocol;
}
