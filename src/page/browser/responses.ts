import type { z } from 'zod';
import type { EventPayload, PAYLOADS } from '../../events/events.ts';
import type { ACCESS_REPLY, KEY_REPLY } from '../../http/routes/access.ts';
import type { SERIES_REPLY } from '../../http/routes/challenge.ts';
import type { CROWD_VS_ORACLE_REPLY } from '../../http/routes/crowd.ts';
import type { WagersReply } from '../../http/routes/prediction-markets.ts';
import type { CacheStats, Health } from '../../http/schemas/health.ts';
import type { Info } from '../../http/schemas/info.ts';
import type { EXPECTED_RANGE } from '../../record/schemas/forecast.ts';
import type { PublicSignal } from '../../record/schemas/signal.ts';
import type { ScorecardPageReply } from '../../record/schemas/track-record.ts';
import type { AttestationHistory, AttestationStatsReply } from '../../record/schemas/verification.ts';

/** Response of each resource, typed by the schemas of the operations so that they cannot drift apart. */
export interface ApiResponses {
  info: Info;
  signal: PublicSignal;
  range: z.input<typeof EXPECTED_RANGE>;
  scorecard: ScorecardPageReply;
  series: z.input<typeof SERIES_REPLY>;
  stats: AttestationStatsReply;
  price: BtcPrice;
  crowd: z.input<typeof CROWD_VS_ORACLE_REPLY>;
  wagers: WagersReply;
  feeds: CacheStats;
}

export type { AttestationHistory, EventPayload };

export type EventName = keyof typeof PAYLOADS;

export type AccessReply = z.input<typeof ACCESS_REPLY>;

export type ApiKeyReply = z.input<typeof KEY_REPLY>;

export type ScorecardRow = ScorecardPageReply['predictions'][number];

/** `/api/btc-price`; its schema is declared per field. */
interface BtcPrice {
  price: number | null;
  change24h: number | null;
  source: string;
  kind: string;
  /** Of the observation. */
  timestamp: string | null;
  ageSeconds: number | null;
  stale: boolean;
}

/** Startup progress. */
export type StartupStatus = NonNullable<Health['setup']>;

export type HealthReport = Health;
