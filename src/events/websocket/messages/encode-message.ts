import type { Tier } from '../../../auth/caller.ts';
import { type EventViewOptions, viewEvent } from '../../event-view.ts';
import type { AnyEvent } from '../../log/event.ts';
import { encodeTextFrame } from './encode-frame.ts';
import type { ServerData, ServerMessageName } from './message-schemas.ts';

/** The frame of an event for callers of a tier. */
export type EncodeEvent = (event: AnyEvent, tier: Tier) => Buffer;

export function createEventEncoder(options: EventViewOptions): EncodeEvent {
  const framesByTier = new Map<Tier, Map<number, Buffer>>();
  return (event, tier) => {
    const frames = framesByTier.get(tier) ?? new Map<number, Buffer>();
    const known = frames.get(event._id);
    if (known !== undefined) return known;
    const frame = encodeTextFrame(JSON.stringify(viewEvent(event, { tier }, options)));
    framesByTier.set(tier, frames.set(event._id, frame));
    return frame;
  };
}

export function encodeMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>, now: Date): Buffer {
  return encodeTextFrame(JSON.stringify({ type, data, timestamp: now.toISOString() }));
}
