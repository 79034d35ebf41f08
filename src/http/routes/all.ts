import type { HttpParts } from '../parts.ts';
import type { Route } from '../route.ts';
import { agentRoutes } from './agent.ts';
import { attestationRoutes } from './attestations.ts';
import { healthRoutes } from './health.ts';
import { marketRoutes } from './market.ts';
import { metadataRoutes } from './metadata.ts';
import { predictionMarketRoutes } from './prediction-markets.ts';
import { rootRoutes } from './root.ts';
import { scorecardRoutes } from './scorecard.ts';
import { signalRoutes } from './signal.ts';

/** Every route of this door. */
export function allRoutes(parts: HttpParts): Route[] {
  const routes = [
    ...signalRoutes(parts),
    ...scorecardRoutes(parts),
    ...attestationRoutes(parts),
    ...predictionMarketRoutes(parts),
    ...agentRoutes(parts),
    ...marketRoutes(parts),
    ...metadataRoutes(parts),
    ...healthRoutes(parts),
  ];
  return [...rootRoutes(parts, routes), ...routes];
}

/** What a worker serves: enough to see how it does. */
export function workerRoutes(parts: HttpParts): Route[] {
  return healthRoutes(parts);
}
