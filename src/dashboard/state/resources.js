/** @import { ApiResponses } from './responses.ts' */

/** @typedef {<Name extends keyof ApiResponses>(name: Name) => ApiResponses[Name] | null} GetLastResponse */

/**
 * URL of each resource by horizon in days; null when it cannot exist yet.
 * @type {Record<keyof ApiResponses, (horizonDays: number, last: GetLastResponse) => string | null>}
 */
export const RESOURCE_PATHS = {
  info: () => 'api/svc/info',
  // Without a forecast the service would return an error.
  signal: (days, last) => (last('scorecard')?.predictions.length ? `api/svc/open/signal?horizon=${days}d` : null),
  scorecard: (days) => `api/svc/scorecard?horizon=${days}&limit=1000`,
  stats: () => 'api/svc/onchain-oracle/stats?horizons=all',
  price: () => 'api/btc-price',
  crowd: () => 'api/svc/crowd-vs-oracle',
  wagers: () => 'api/svc/wagers',
  selfTests: () => 'api/self-test/status',
  feeds: () => 'api/cache/stats',
};

/** Resources that are requested after the one that they depend on. @type {Partial<Record<keyof ApiResponses, keyof ApiResponses>>} */
export const DEPENDS_ON = { signal: 'scorecard' };

/** Resources whose answers name their horizon. @type {readonly (keyof ApiResponses)[]} */
export const HORIZON_RESOURCES = ['signal', 'scorecard'];
