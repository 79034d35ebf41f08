import type { Tier } from '../../../auth/caller.ts';
import { type EventViewOptions, viewEvent } from '../../event-view.ts';
import type { AnyEvent } from '../../log/event.ts';
import { encodeTextFrame } from './encode-frame.ts';
import type { ServerData, ServerMessageName } from './message-schemas.ts';

/** Encodes each event once for the callers of a tier, and frames that are sent together once for all of their clients. */
export interface EventEncoder {
  /** The frame of an event for callers of a tier. */
  encode(event: AnyEvent, tier: Tier): Buffer;
  /** Frames of `encode` for a tier, one or more, as one buffer: a write costs far more than its bytes. */
  join(frames: readonly Buffer[], tier: Tier): Buffer;
}

interface JoinedFrames {
  frames: readonly Buffer[];
  joined: Buffer;
}

export function createEventEncoder(options: EventViewOptions): EventEncoder {
  const framesByTier = new Map<Tier, Map<number, Buffer>>();
  /** What the last client of a tier was sent: that of the next one is mostly the same. */
  const lastByTier = new Map<Tier, JoinedFrames>();
  return {
    encode(event, tier) {
      const frames = framesByTier.get(tier) ?? new Map<number, Buffer>();
      const known = frames.get(event._id);
      if (known !== undefined) return known;
      const frame = encodeTextFrame(JSON.stringify(viewEvent(event, { tier }, options)));
      framesByTier.set(tier, frames.set(event._id, frame));
      return frame;
    },
    join(frames, tier) {
      if (frames.length === 1) return frames[0];
      const last = lastByTier.get(tier);
      if (last !== undefined && areSameFrames(last.frames, frames)) return last.joined;
      const joined = Buffer.concat(frames);
      lastByTier.set(tier, { frames, joined });
      return joined;
    },
  };
}

function areSameFrames(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.length === others.length && some.every((frame, index) => frame === others[index]);
}

export function encodeMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>, now: Date): Buffer {
  return encodeTextFrame(JSON.stringify({ type, data, timestamp: now.toISOString() }));
}
