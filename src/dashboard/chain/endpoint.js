/** @import { ApiResponses } from '../state/responses.ts' */

/** Where the reader wants the chain to be read: kept for this tab. */

const ENDPOINT_STORAGE_KEY = 'oracle-rpc';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];

/**
 * The endpoint that is asked unless the reader names another: on a local chain that of this service, the only one that has it.
 * @param {ApiResponses['info']['chain']} chain
 * @param {string} base of the page
 */
export function getDefaultEndpoint({ local, rpcUrl }, base) {
  return local ? new URL('rpc', base).href : (rpcUrl ?? '');
}

/**
 * An endpoint as it can be asked: `https` anywhere, `http` on this machine, or this service itself.
 * @param {string} text
 * @param {string} base of the page
 * @returns {{ url: string } | { problem: string }}
 */
export function parseEndpoint(text, base) {
  if (text.trim() === '') return { problem: 'Name an RPC endpoint of the chain.' };
  const url = URL.parse(text.trim(), base);
  if (url === null) return { problem: 'That is no URL.' };
  if (url.username !== '' || url.password !== '') return { problem: 'Browsers send no user and password in a URL.' };
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)) || url.origin === new URL(base).origin;
  return allowed ? { url: url.href } : { problem: 'It has to begin with https://, or be on this machine (127.0.0.1 or localhost).' };
}

/** @param {Storage} [storage] */
export function loadEndpoint(storage = sessionStorage) {
  return storage.getItem(ENDPOINT_STORAGE_KEY);
}

/**
 * @param {string | null} url null: the default again
 * @param {Storage} [storage]
 */
export function saveEndpoint(url, storage = sessionStorage) {
  if (url === null) storage.removeItem(ENDPOINT_STORAGE_KEY);
  else storage.setItem(ENDPOINT_STORAGE_KEY, url);
}
