import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];

/** Events by their `type` (docs/EVENTS.md of the service). */
export interface EventTypes {
  'signal.new': Schemas['SignalNewEvent'];
  'signal.resolved': Schemas['SignalResolvedEvent'];
  'wager.placed': Schemas['WagerPlacedEvent'];
  'wager.settled': Schemas['WagerSettledEvent'];
  'attestation.created': Schemas['AttestationCreatedEvent'];
  'regime.changed': Schemas['RegimeChangedEvent'];
  'webhook.disabled': Schemas['WebhookDisabledEvent'];
}

export type EventName = keyof EventTypes;

/** An event of the stream or of a webhook: `type` narrows `data`. `id` increases by one an event over all of the service's events. */
export type OracleEvent = EventTypes[EventName];
