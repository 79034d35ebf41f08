import type { Regime } from '../../forecast/regime/regime.ts';
import type { CommittedValues, ForecastDoc } from '../../record/forecast-doc.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import type { PushedName } from '../event-names.ts';

type ForecastFacts = Pick<ForecastDoc, '_id' | 'day' | 'horizonDays' | 'sequence' | 'modelVersion' | 'replayed'>;
type SignalFacts = ForecastFacts &
  Pick<ForecastDoc, 'regime' | 'signalAt' | 'windowOpensAt' | 'resolvesAt' | 'commitment' | 'late'> & { values: CommittedValues };
type AttestationFacts = ForecastFacts & Pick<ForecastDoc, 'commitment' | 'cid'>;
type WagerFacts = Pick<WagerDoc, '_id' | 'venue' | 'asset' | 'market' | 'listing' | 'side' | 'contracts' | 'costMicros' | 'replayed'>;

export interface EventContent {
  'signal.new': SignalFacts;
  'signal.resolved': ForecastFacts &
    Required<Pick<ForecastDoc, 'attestation' | 'resolution' | 'reveal'>> & { values: CommittedValues; outcome: 'WIN' | 'LOSS' };
  'attestation.created': AttestationFacts & {
    kind: 'prediction' | 'resolution';
    status: 'PENDING' | 'VOID' | 'WIN' | 'LOSS' | 'HOLD';
    attested: NonNullable<ForecastDoc['attestation']>;
    refUid: ForecastDoc['previousUid'];
  };
  'wager.placed': WagerFacts & Pick<WagerDoc, 'pModel' | 'qMarket' | 'pBelieved' | 'weight' | 'placedAt' | 'skippedBecause'>;
  'wager.settled': WagerFacts & Pick<WagerDoc, 'winner' | 'payoutMicros' | 'settledAt'> & { outcome: 'WIN' | 'LOSS' };
  'regime.changed': { date: string; from: Regime; to: Regime; at: Date; replayed: boolean };
  'webhook.disabled': { webhookId: string; url: string; reason: string; failingSince: Date | null };
}

export interface EventDraft<Name extends PushedName = PushedName> {
  /** Idempotency key: the same occurrence has the same key in every process. */
  key: string;
  type: Name;
  at: Date;
  /** Days; null for events without a horizon. */
  horizonDays: number | null;
  /** The only recipient, in lower case; null: all subscribers. */
  wallet: string | null;
  /** Of the request or job that caused it. */
  traceparent?: string;
  content: EventContent[Name];
}

/** `_id` counts from 1 without gaps; subscribers resume by it. */
export type EventDoc<Name extends PushedName = PushedName> = EventDraft<Name> & { _id: number; appendedAt: Date };

export type AnyEvent = { [Name in PushedName]: EventDoc<Name> }[PushedName];
export type AnyEventDraft = { [Name in PushedName]: EventDraft<Name> }[PushedName];
