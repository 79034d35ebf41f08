import { z } from 'zod';
import { brokenRules } from './check.ts';
import type { Fields } from './fields.ts';

const PRICE = z.number().positive();
const DIRECTION = z.enum(['UP', 'DOWN']);

/** Section 6.1: fields of `data` by the event's type; what is not shown there has no rule. */
export const EVENTS: Readonly<Record<string, Fields>> = {
  'signal.new': {
    signal: z.enum(['BUY', 'SELL', 'HOLD']),
    confidence: z.number().min(0.5).max(0.99),
    direction: DIRECTION,
    btcPrice: PRICE,
    regime: z.string().min(1),
    horizon: z.literal('7d'),
  },
  'signal.resolved': {
    date: z.iso.date(),
    direction: DIRECTION,
    outcome: z.enum(['WIN', 'LOSS']),
    btcAtSignal: PRICE,
    btcAtResolution: PRICE,
  },
  'wager.placed': { market: z.string().min(1), side: z.string().min(1), amount: z.number().min(0), odds: z.number().min(0) },
  'wager.settled': {},
  'attestation.created': {},
  'regime.changed': { from: z.string().min(1), to: z.string().min(1), timestamp: z.iso.datetime() },
};

const ENVELOPE = z.looseObject({ type: z.string(), data: z.looseObject({}), timestamp: z.iso.datetime() });

/** An event as a client reads it that knows the interface alone. */
export interface ReadEvent {
  type: string;
  data: Record<string, unknown>;
  timestamp: string;
}

/** Reads a pushed message; null for a kind that the interface does not name. @throws Error naming each value that breaks a rule */
export function readEvent(message: unknown): ReadEvent | null {
  const event = ENVELOPE.parse(message);
  const rules = EVENTS[event.type];
  if (rules === undefined) return null;
  const broken = brokenRules(rules, event.data);
  if (broken.length > 0) throw new Error(`${event.type}: ${broken.join(', ')}`);
  return event;
}
