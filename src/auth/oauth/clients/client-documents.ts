import { isOracleError } from '../../../platform/errors.ts';
import { getGuarded } from '../../../platform/outbound/guarded/guarded-get.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';
import { ClientMetadataError, parseClientMetadata } from './client-metadata.ts';

/** As the draft of Client ID Metadata Documents recommends. */
export const MAX_DOCUMENT_BYTES = 5 * 1_024;
const TIMEOUT_MS = 5_000;

/** Keys of a client (`jwks_uri`) are read by the same way, and are no metadata. */
type ReadDocument = (url: string) => Promise<Response>;

/**
 * Reads documents that clients name: public addresses only, no redirects, bounded in size and time. A client's metadata is replaced by
 * what this service uses of it. A failure is a response with status 502, whose reason is logged by the caller.
 */
export function createDocumentReader(rules: TargetRules, onFailure: (host: string, reason: string) => void): ReadDocument {
  return async (url) => {
    const host = URL.parse(url)?.host.slice(0, 100) ?? '';
    try {
      const headers = { Accept: 'application/json', 'User-Agent': 'bitcoin-signal-oracle' };
      const {
        status,
        headers: answered,
        body,
      } = await getGuarded({ url, headers, maxBytes: MAX_DOCUMENT_BYTES, timeoutMs: TIMEOUT_MS, rules });
      if (status !== 200) onFailure(host, `status ${status}`);
      const text = status === 200 ? toUsedMetadata(url, body) : '';
      return new Response(text, { status: status === 200 ? 200 : 502, headers: pickCacheHeaders(answered) });
    } catch (error) {
      if (!isOracleError(error) && !(error instanceof ClientMetadataError) && !(error instanceof SyntaxError)) throw error;
      onFailure(host, isOracleError(error) || error instanceof ClientMetadataError ? error.message : 'not JSON');
      return new Response(null, { status: 502 });
    }
  };
}

function toUsedMetadata(url: string, body: Buffer): string {
  const document = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  if (document === null || typeof document !== 'object') throw new ClientMetadataError(false, 'the document must be an object');
  if (!('client_id' in document) && Array.isArray(document.keys)) return JSON.stringify({ keys: document.keys });
  if (document.client_id !== url) throw new ClientMetadataError(false, 'client_id must be the URL of the document');
  if ('client_secret' in document) throw new ClientMetadataError(false, 'client_secret must not be in a public document');
  return JSON.stringify({ client_id: url, ...parseClientMetadata(document) });
}

function pickCacheHeaders({ 'cache-control': control }: { 'cache-control'?: string }): Record<string, string> {
  return { 'Content-Type': 'application/json', ...(control === undefined ? {} : { 'Cache-Control': control }) };
}
