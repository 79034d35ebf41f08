import { ago } from '../lib/ago.js';
import { h } from '../lib/dom.js';
import { attestationWords, eventWords } from './event-words.js';

/** @import { Told } from './event-words.js' */
/** @import { PushedEvent } from './live.js' */

/** One line of a list of events. @typedef {Told & { key: string, time: string, replayed: boolean, uid: string | null }} Line */

const UID = /^0x[0-9a-f]{64}$/;

/** @param {PushedEvent} event @returns {Line} */
export function lineOfEvent({ id, type, timestamp, data }) {
  return {
    ...eventWords(type, data),
    key: `event-${id}`,
    time: timestamp,
    replayed: data.replayed === true,
    uid: uidOf(data.uid ?? data.resolutionUid),
  };
}

/** @param {Record<string, any>} row of `GET /api/svc/onchain-oracle/history` @returns {Line} */
export function lineOfAttestation(row) {
  return { ...attestationWords(row), key: row.uid, time: row.attestedAt, replayed: row.replayed === true, uid: uidOf(row.uid) };
}

/** @param {unknown} uid */
function uidOf(uid) {
  return typeof uid === 'string' && UID.test(uid) ? uid : null;
}

/**
 * Puts what is new on top, and takes away what is no longer wanted: what stays is not touched, so that it is not read aloud again.
 * @param {HTMLElement} list
 * @param {readonly Line[]} lines newest first
 */
export function updateLines(list, lines) {
  const wanted = new Set(lines.map(({ key }) => key));
  const shown = new Set();
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(':scope > li'))) {
    if (wanted.has(element.dataset.key ?? '')) shown.add(element.dataset.key);
    else element.remove();
  }
  list.prepend(...lines.filter(({ key }) => !shown.has(key)).map(element));
}

/** @param {Line} line */
function element({ key, kind, words, tone, time, replayed, uid }) {
  return h(
    'li',
    { 'data-key': key },
    ago(time),
    h('span', { class: `kind ${tone ?? ''}` }, kind),
    h(
      'span',
      { class: 'what' },
      `${words} `,
      uid === null ? null : h('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `${uid.slice(0, 8)}…`),
      ' ',
      replayed ? h('span', { class: 'tag' }, 'Replayed') : null,
    ),
  );
}
