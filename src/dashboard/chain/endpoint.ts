import type { ApiResponses } from '../state/responses.ts';

/** The RPC endpoint chosen by the reader, kept for this tab. */

const ENDPOINT_STORAGE_KEY = 'oracle-rpc';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];

/** A local chain is only reachable through this service. @param base of the page */
export function getDefaultEndpoint({ local, rpcUrl }: ApiResponses['info']['chain'], base: string) {
  return local ? new URL('rpc', base).href : (rpcUrl ?? '');
}

/** Accepts `https:` anywhere, `http:` on this machine, and the origin of the service. @param base of the page */
export function parseEndpoint(text: string, base: string): { url: string } | { problem: string } {
  if (text.trim() === '') return { problem: 'Enter an RPC endpoint of the chain.' };
  const url = URL.parse(text.trim(), base);
  if (url === null) return { problem: 'This is not a URL.' };
  if (url.username !== '' || url.password !== '') return { problem: 'Browsers do not send user and password in a URL.' };
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)) || url.origin === new URL(base).origin;
  return allowed ? { url: url.href } : { problem: 'The URL must begin with https:// or point to this machine (127.0.0.1 or localhost).' };
}

export function loadEndpoint(storage: Storage = sessionStorage) {
  return storage.getItem(ENDPOINT_STORAGE_KEY);
}

/** @param url null resets to the default */
export function saveEndpoint(url: string | null, storage: Storage = sessionStorage) {
  if (url === null) storage.removeItem(ENDPOINT_STORAGE_KEY);
  else storage.setItem(ENDPOINT_STORAGE_KEY, url);
}
