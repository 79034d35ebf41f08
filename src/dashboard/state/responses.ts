import type { z } from 'zod';
import type { EventPayload, PAYLOADS } from '../../events/event-payloads.ts';
import type { AttestationHistory, AttestationStatsReply } from '../../record/schemas/attestations.ts';
import type { EXPECTED_RANGE } from '../../record/schemas/expected-range.ts';
import type { ScorecardReply } from '../../record/schemas/scorecard.ts';
import type { PublicSignal } from '../../record/schemas/signal.ts';
import type { ACCESS_REPLY, KEY_REPLY } from '../../transports/http/access/schemas.ts';
import type { CROWD_VS_ORACLE_REPLY } from '../../transports/http/market/crowd/schemas.ts';
import type { WagersReply } from '../../transports/http/market/wagers/schemas.ts';
import type { CHALLENGE_REPLY, SERIES_REPLY } from '../../transports/http/record/challenge/schemas.ts';
import type { SELF_TEST_STATUS_REPLY, WALK_FORWARD_REPLY } from '../../transports/http/record/self-tests/schemas.ts';
import type { Info } from '../../transports/http/service/about/info-schemas.ts';
import type { CacheStats, Health } from '../../transports/http/service/health/schemas.ts';

/** Response of each resource, typed by the schemas of the operations so that they cannot drift apart. */
export interface ApiResponses {
  info: Info;
  signal: PublicSignal;
  range: z.input<typeof EXPECTED_RANGE>;
  scorecard: ScorecardReply;
  series: z.input<typeof SERIES_REPLY>;
  challenge: z.input<typeof CHALLENGE_REPLY>;
  stats: AttestationStatsReply;
  price: BtcPrice;
  crowd: z.input<typeof CROWD_VS_ORACLE_REPLY>;
  wagers: WagersReply;
  selfTests: z.input<typeof SELF_TEST_STATUS_REPLY>;
  feeds: CacheStats;
}

export type { AttestationHistory, EventPayload };

export type EventName = keyof typeof PAYLOADS;

export type AccessReply = z.input<typeof ACCESS_REPLY>;

export type ApiKeyReply = z.input<typeof KEY_REPLY>;

/** Report of the walk-forward test. */
export type WalkForward = z.input<typeof WALK_FORWARD_REPLY>;

export type ScorecardRow = ScorecardReply['predictions'][number];

/** `/api/btc-price`; its schema is declared per field. */
interface BtcPrice {
  price: number | null;
  change24h: number | null;
  source: string;
  kind: string;
  observedAt: string | null;
  ageSeconds: number | null;
  stale: boolean;
}

/** Startup progress. */
export type StartupStatus = NonNullable<Health['setup']>;

export type HealthReport = Health;
