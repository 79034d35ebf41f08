import type { z } from 'zod';
import type { AttestationStatsReply } from '../../record/schemas/attestations.ts';
import type { ScorecardReply } from '../../record/schemas/scorecard.ts';
import type { PublicSignal } from '../../record/schemas/signal.ts';
import type { CROWD_VS_ORACLE_REPLY } from '../../transports/http/market/crowd/schemas.ts';
import type { WagersReply } from '../../transports/http/market/wagers/schemas.ts';
import type { SELF_TEST_STATUS_REPLY } from '../../transports/http/record/self-tests/schemas.ts';
import type { Info } from '../../transports/http/service/about/info-schemas.ts';
import type { CacheStats, Health } from '../../transports/http/service/health/schemas.ts';

/** What each resource of the page answers with: the types of the operations themselves, so that neither can drift from the other. */
export interface ApiResponses {
  info: Info;
  signal: PublicSignal;
  scorecard: ScorecardReply;
  stats: AttestationStatsReply;
  price: BtcPrice;
  crowd: z.input<typeof CROWD_VS_ORACLE_REPLY>;
  wagers: WagersReply;
  selfTests: z.input<typeof SELF_TEST_STATUS_REPLY>;
  feeds: CacheStats;
}

export type ScorecardRow = ScorecardReply['predictions'][number];

/** As `/api/btc-price` has it; reports are declared field by field, not as types. */
interface BtcPrice {
  price: number | null;
  change24h: number | null;
  source: string;
  kind: string;
  observedAt: string | null;
  ageSeconds: number | null;
  stale: boolean;
}

/** What a start is at. */
export type StartupStatus = NonNullable<Health['setup']>;
