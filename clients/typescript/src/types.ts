import type { components, operations } from '../generated/openapi.ts';

type Schemas = components['schemas'];

/** Days from the opening of the outcome window to its end. */
export type Horizon = Schemas['Horizon'];
/** Horizons of a signal. The record has 1-day forecasts besides. */
export type SignalHorizon = NonNullable<NonNullable<operations['getPublicSignal']['parameters']['query']>['horizon']>;

/** The public signal: `GATED`, with direction and confidence null, until its outcome is known. */
export type Signal = Schemas['PublicSignal'];
/** The newest forecast, as token holders receive it. The direction has no demonstrated skill: `skill.verdict` has the figures. */
export type OracleSignal = Schemas['OracleSignal'];
/** Central ranges of the price at the end of the horizon. They say nothing of the direction. */
export type ExpectedRange = Schemas['ExpectedRange'];
/** The record of a horizon with its error bars, and a page of forecasts. */
export type Scorecard = Schemas['Scorecard'];
/** A forecast of the record. */
export type Forecast = Scorecard['predictions'][number];
/** The record by filters, with statistics of exactly the filtered forecasts. */
export type TrackRecord = Schemas['RunGetTrackRecordResponse']['output'];
export type TrackRecordFilters = Schemas['RunGetTrackRecordRequest'];
/** An attestation, compared with the record by the service itself. */
export type Verification = Schemas['Verification'];
/** Tables of the resolved record, with licence, columns and digests. */
export type Dataset = Schemas['DatasetIndex'];
/** An error response, RFC 9457. */
export type Problem = Schemas['Problem'];
/** A bought signal: charged, or a free HOLD. */
export type PaidSignal = Schemas['PaidSignal'];
export type PaidPremiumSignal = Schemas['PaidPremiumSignal'];
export type Info = Schemas['Info'];

export type { components, operations, paths } from '../generated/openapi.ts';
