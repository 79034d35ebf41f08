/** @import { Answers } from '../state/answers.ts' */

/** Where the reader wants the chain to be read: kept for this tab. */

const KEY = 'oracle-rpc';
const LOOPBACK = ['127.0.0.1', 'localhost'];

/**
 * The endpoint that is asked unless the reader names another: on a local chain that of this service, the only one that has it.
 * @param {Answers['info']['chain']} chain
 * @param {string} base of the page
 */
export function defaultEndpoint({ local, rpcUrl }, base) {
  return local ? new URL('rpc', base).href : (rpcUrl ?? '');
}

/**
 * An endpoint as it can be asked: `https` anywhere, `http` on this machine, or this service itself.
 * @param {string} text
 * @param {string} base of the page
 * @returns {{ url: string } | { problem: string }}
 */
export function readEndpoint(text, base) {
  if (text.trim() === '') return { problem: 'Name an RPC endpoint of the chain.' };
  const url = URL.parse(text.trim(), base);
  if (url === null) return { problem: 'That is no URL.' };
  if (url.username !== '' || url.password !== '') return { problem: 'Browsers send no user and password in a URL.' };
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname)) || url.origin === new URL(base).origin;
  return allowed ? { url: url.href } : { problem: 'It has to begin with https://, or be on this machine (127.0.0.1 or localhost).' };
}

/** @param {Storage} [storage] */
export function keptEndpoint(storage = sessionStorage) {
  return storage.getItem(KEY);
}

/**
 * @param {string | null} url null: the default again
 * @param {Storage} [storage]
 */
export function keepEndpoint(url, storage = sessionStorage) {
  if (url === null) storage.removeItem(KEY);
  else storage.setItem(KEY, url);
}
