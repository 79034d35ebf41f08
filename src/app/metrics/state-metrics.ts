import { CHAIN_METRICS } from './definitions/chain.ts';
import { MARKET_METRICS } from './definitions/market.ts';
import { PIPELINE_METRICS } from './definitions/pipeline.ts';
import { RECORD_METRICS, SELF_TEST_METRICS } from './definitions/record.ts';
import { SERVICE_METRICS } from './definitions/service.ts';
import { WORK_METRICS } from './definitions/work.ts';
import type { StateMetric } from './metric-definition.ts';

/** Every gauge of the service, beside those of the process, its requests and Node. */
export const STATE_METRICS: readonly StateMetric[] = [
  ...SERVICE_METRICS,
  ...PIPELINE_METRICS,
  ...RECORD_METRICS,
  ...SELF_TEST_METRICS,
  ...CHAIN_METRICS,
  ...MARKET_METRICS,
  ...WORK_METRICS,
];
