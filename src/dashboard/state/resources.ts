import type { ApiResponses } from './responses.ts';

type GetLastResponse = <Name extends keyof ApiResponses>(name: Name) => ApiResponses[Name] | null;

/** URL of each resource by horizon in days; null when it cannot exist yet. */
export const RESOURCE_PATHS: Record<keyof ApiResponses, (horizonDays: number, last: GetLastResponse) => string | null> = {
  info: () => 'api/svc/info',
  // Without a forecast the service would return an error.
  signal: (days, last) => (last('scorecard')?.predictions.length ? `api/svc/open/signal?horizon=${days}d` : null),
  range: (_, last) => (last('scorecard')?.predictions.length ? 'api/svc/open/range?horizons=all' : null),
  scorecard: (days) => `api/svc/scorecard?horizon=${days}`,
  series: (days) => `api/svc/scorecard/series?horizon=${days}`,
  challenge: () => 'api/svc/challenge',
  stats: () => 'api/svc/onchain-oracle/stats?horizons=all',
  price: () => 'api/btc-price',
  crowd: () => 'api/svc/crowd-vs-oracle',
  wagers: () => 'api/svc/wagers',
  selfTests: () => 'api/self-test/status',
  feeds: () => 'api/cache/stats',
};

/** Resources that are requested after the one that they depend on. */
export const DEPENDS_ON: Partial<Record<keyof ApiResponses, keyof ApiResponses>> = { signal: 'scorecard', range: 'scorecard' };

/** Resources whose answers name their horizon. */
export const HORIZON_RESOURCES: readonly (keyof ApiResponses)[] = ['signal', 'scorecard', 'series'];
