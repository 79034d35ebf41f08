/** @import { ApiResponses } from './responses.ts' */

/** @typedef {<Name extends keyof ApiResponses>(name: Name) => ApiResponses[Name] | null} GetLastResponse */

/**
 * Where each resource of the page is, for a horizon in days; null where there is nothing to ask for yet.
 * @type {Record<keyof ApiResponses, (horizonDays: number, last: GetLastResponse) => string | null>}
 */
export const RESOURCE_PATHS = {
  info: () => 'api/svc/info',
  // Without a forecast the service could only refuse.
  signal: (days, last) => (last('scorecard')?.predictions.length ? `api/svc/open/signal?horizon=${days}d` : null),
  scorecard: (days) => `api/svc/scorecard?horizon=${days}&limit=1000`,
  stats: () => 'api/svc/onchain-oracle/stats?horizons=all',
  price: () => 'api/btc-price',
  crowd: () => 'api/svc/crowd-vs-oracle',
  wagers: () => 'api/svc/wagers',
  selfTests: () => 'api/self-test/status',
  feeds: () => 'api/cache/stats',
};

/**
 * Resources that another one decides whether to ask for: they are asked for after it.
 * @type {Partial<Record<keyof ApiResponses, keyof ApiResponses>>}
 */
export const DEPENDS_ON = { signal: 'scorecard' };

/**
 * Resources of one horizon, which their answers name.
 * @type {readonly (keyof ApiResponses)[]}
 */
export const HORIZON_RESOURCES = ['signal', 'scorecard'];
