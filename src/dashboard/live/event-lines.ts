import { h } from '../lib/dom.ts';
import { createRelativeTime } from '../lib/relative-time.ts';
import { type EventMessage, formatAttestation, formatEvent, formatEventGroup } from './event-messages.ts';
import type { PushedEvent } from './live-events.ts';

export type EventLine = EventMessage & { key: string; time: string; replayed: boolean; uids: readonly string[] };

/** Fields of events and attestations that lines are made of. */
interface EventFields {
  type?: string;
  status?: string;
  date?: string;
  horizon?: string;
  blockNumber?: number;
  uid?: string;
  resolutionUid?: string | null;
  attestedAt?: string;
  replayed?: boolean;
}

/** An event or attestation with its own line. */
interface EventEntry {
  type: string;
  data: EventFields;
  line: EventLine;
}

const UID_PATTERN = /^0x[0-9a-f]{64}$/;

/** @param events newest first */
export function toEventLines(events: readonly PushedEvent[]): EventLine[] {
  const entries = events.map(({ id, type, timestamp, data: payload }) => {
    const data: EventFields = payload;
    const uids = parseEventUids(data.uid ?? data.resolutionUid);
    return {
      type,
      data,
      line: { ...formatEvent(type, data), key: `event-${id}`, time: timestamp, replayed: data.replayed === true, uids },
    };
  });
  return groupEntries(entries);
}

/** @param rows of `GET /api/svc/onchain-oracle/history`, newest first */
export function toAttestationLines(rows: readonly EventFields[]): EventLine[] {
  const entries = rows.map((data) => {
    const { uid = '', attestedAt: time = '', replayed } = data;
    const line = { ...formatAttestation(data), key: uid, time, replayed: replayed === true, uids: parseEventUids(uid) };
    return { type: 'attestation.created', data, line };
  });
  return groupEntries(entries);
}

/** Merges consecutive entries of one step. The key of the newest identifies the line, so that it is redrawn when one more arrives. */
function groupEntries(entries: readonly EventEntry[]): EventLine[] {
  const groups: EventEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const step = getGroupKey(entry);
    if (group !== undefined && step !== null && getGroupKey(group[0]) === step) group.push(entry);
    else groups.push([entry]);
  }
  return groups.map((group) => (group.length === 1 ? group[0].line : mergeGroup(group)));
}

/** Key of a step with one entry per horizon; null for single entries. */
function getGroupKey({ type, data }: EventEntry) {
  if (type === 'signal.new') return `${type} ${data.date}`;
  return type === 'attestation.created' && data.type === 'prediction' ? `${type} ${data.date} ${data.blockNumber}` : null;
}

function mergeGroup(group: readonly EventEntry[]): EventLine {
  const [{ type, line }] = group;
  const all = [...group].sort((one, other) => parseHorizonDays(one) - parseHorizonDays(other));
  return {
    ...line,
    ...formatEventGroup(
      type,
      all.map(({ data }) => data),
    ),
    uids: all.flatMap((entry) => entry.line.uids),
  };
}

function parseHorizonDays({ data: { horizon = '' } }: EventEntry) {
  return Number.parseInt(horizon, 10);
}

function parseEventUids(uid: unknown) {
  return typeof uid === 'string' && UID_PATTERN.test(uid) ? [uid] : [];
}

/**
 * Prepends new lines and removes dropped ones. The others stay in place, so that screen readers do not announce them again.
 * @param lines newest first
 */
export function updateLines(list: HTMLElement, lines: readonly EventLine[]) {
  const wanted = new Set(lines.map(({ key }) => key));
  const shown = new Set();
  for (const element of list.querySelectorAll(':scope > li') as NodeListOf<HTMLElement>) {
    if (wanted.has(element.dataset.key ?? '')) shown.add(element.dataset.key);
    else element.remove();
  }
  list.prepend(...lines.filter(({ key }) => !shown.has(key)).map(renderEventLine));
}

function renderEventLine({ key, kind, text, tone, time, replayed, uids }: EventLine) {
  return h('li', { 'data-key': key, class: replayed && 'replayed' }, [
    createRelativeTime(time),
    h('span', { class: `kind ${tone ?? ''}` }, kind),
    h('span', { class: 'what' }, [
      `${text} `,
      uids.flatMap((uid) => [h('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `${uid.slice(0, 8)}…`), ' ']),
      ' ',
      replayed ? h('span', { class: 'tag' }, 'Replayed') : null,
    ]),
  ]);
}
