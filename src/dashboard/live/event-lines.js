import { ago } from '../lib/ago.js';
import { h } from '../lib/dom.js';
import { attestationWords, eventWords, groupWords } from './event-words.js';

/** @import { Told } from './event-words.js' */
/** @import { PushedEvent } from './live.js' */

/** One line of a list of events. @typedef {Told & { key: string, time: string, replayed: boolean, uids: readonly string[] }} Line */

/**
 * An event, or what else has its words, with the line that it has by itself.
 * @typedef {{ type: string, data: Record<string, any>, line: Line }} Entry
 */

const UID = /^0x[0-9a-f]{64}$/;

/** @param {readonly PushedEvent[]} events newest first @returns {Line[]} */
export function linesOfEvents(events) {
  const entries = events.map(({ id, type, timestamp, data }) => {
    const uids = uidsOf(data.uid ?? data.resolutionUid);
    return { type, data, line: { ...eventWords(type, data), key: `event-${id}`, time: timestamp, replayed: data.replayed === true, uids } };
  });
  return linesOf(entries);
}

/** @param {readonly Record<string, any>[]} rows of `GET /api/svc/onchain-oracle/history`, newest first @returns {Line[]} */
export function linesOfAttestations(rows) {
  const entries = rows.map((data) => {
    const { uid, attestedAt: time, replayed } = data;
    const line = { ...attestationWords(data), key: uid, time, replayed: replayed === true, uids: uidsOf(uid) };
    return { type: 'attestation.created', data, line };
  });
  return linesOf(entries);
}

/**
 * What follows each other and belongs together is one line. It is called by the newest, so that it is another line when one more comes.
 * @param {readonly Entry[]} entries
 * @returns {Line[]}
 */
function linesOf(entries) {
  /** @type {Entry[][]} */
  const groups = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const step = stepOf(entry);
    if (group !== undefined && step !== null && stepOf(group[0]) === step) group.push(entry);
    else groups.push([entry]);
  }
  return groups.map((group) => (group.length === 1 ? group[0].line : lineOf(group)));
}

/** The step of a day that makes one of each horizon; null of what stands alone. @param {Entry} entry */
function stepOf({ type, data }) {
  if (type === 'signal.new') return `${type} ${data.date}`;
  return type === 'attestation.created' && data.type === 'prediction' ? `${type} ${data.date} ${data.blockNumber}` : null;
}

/** @param {readonly Entry[]} group @returns {Line} */
function lineOf(group) {
  const [{ type, line }] = group;
  // By ascending horizon, whichever came first.
  const all = [...group].sort((one, other) => Number.parseInt(one.data.horizon, 10) - Number.parseInt(other.data.horizon, 10));
  return {
    ...line,
    ...groupWords(
      type,
      all.map(({ data }) => data),
    ),
    uids: all.flatMap((entry) => entry.line.uids),
  };
}

/** @param {unknown} uid */
function uidsOf(uid) {
  return typeof uid === 'string' && UID.test(uid) ? [uid] : [];
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
function element({ key, kind, words, tone, time, replayed, uids }) {
  return h(
    'li',
    { 'data-key': key },
    ago(time),
    h('span', { class: `kind ${tone ?? ''}` }, kind),
    h(
      'span',
      { class: 'what' },
      `${words} `,
      uids.flatMap((uid) => [h('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `${uid.slice(0, 8)}…`), ' ']),
      ' ',
      replayed ? h('span', { class: 'tag' }, 'Replayed') : null,
    ),
  );
}
