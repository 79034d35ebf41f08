import type { Tier } from '../../../auth/caller.ts';
import { type EventViewOptions, viewEvent } from '../../event-view.ts';
import type { AnyEvent } from '../../log/event.ts';
import type { ServerData, ServerMessageName } from './message-schemas.ts';

export type EncodeEvent = (event: AnyEvent, tier: Tier) => Buffer;

export function createEventEncoder(options: EventViewOptions): EncodeEvent {
  const encoded = new Map<string, Buffer>();
  return (event, tier) => {
    const key = `${tier}:${event._id}`;
    const known = encoded.get(key);
    if (known !== undefined) return known;
    const message = Buffer.from(JSON.stringify(viewEvent(event, { tier }, options)));
    encoded.set(key, message);
    return message;
  };
}

export function encodeMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>, now: Date): Buffer {
  return Buffer.from(JSON.stringify({ type, data, timestamp: now.toISOString() }));
}
