/** @import { Answers } from './answers.ts' */

/** @typedef {<Name extends keyof Answers>(name: Name) => Answers[Name] | null} LastAnswer */

/**
 * Where each resource of the page is, for a horizon in days; null where there is nothing to ask for yet.
 * @type {Record<keyof Answers, (horizonDays: number, last: LastAnswer) => string | null>}
 */
export const RESOURCES = {
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
 * @type {Partial<Record<keyof Answers, keyof Answers>>}
 */
export const DEPENDS_ON = { signal: 'scorecard' };

/**
 * Resources of one horizon, which their answers name.
 * @type {readonly (keyof Answers)[]}
 */
export const OF_THE_HORIZON = ['signal', 'scorecard'];
