import type { HttpParts } from '../parts.ts';
import type { Route } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { accessRoutes } from './access.ts';
import { adminRoutes } from './admin.ts';
import { agentRoutes } from './agent.ts';
import { agentCardRoutes } from './agent-card.ts';
import { agentFileRoutes } from './agent-files.ts';
import { agentTaskRoutes } from './agent-tasks.ts';
import { asyncApiRoutes } from './asyncapi.ts';
import { attestationRoutes } from './attestations.ts';
import { briefRoutes } from './brief.ts';
import { commerceRoutes } from './commerce.ts';
import { contestRoutes } from './contest.ts';
import { copyTradeRoutes } from './copy-trade.ts';
import { crowdRoutes } from './crowd.ts';
import { healthRoutes } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { marketRoutes } from './market.ts';
import { metadataRoutes } from './metadata.ts';
import { oracleRoutes } from './oracle.ts';
import { pageFileRoutes } from './page.ts';
import { paidRoutes } from './paid.ts';
import { predictionMarketRoutes } from './prediction-markets.ts';
import { purchaseRoutes } from './purchases.ts';
import { referenceRoutes } from './reference.ts';
import { refRoutes } from './refs.ts';
import { regimeRoutes } from './regime.ts';
import { rootRoutes } from './root.ts';
import { rpcRoutes } from './rpc.ts';
import { scorecardRoutes } from './scorecard.ts';
import { selfTestRoutes } from './self-tests.ts';
import { signalRoutes } from './signal.ts';
import { skillRoutes } from './skills.ts';
import { wagerRoutes } from './wagers.ts';
import { webhookCallRoutes } from './webhook-calls.ts';
import { webhookRoutes } from './webhooks.ts';
import { webSocketRoutes } from './websocket.ts';
import { weeklyRoutes } from './weekly.ts';
import { widgetRoutes } from './widget.ts';
import { x402Routes } from './x402.ts';

/** Every route of this door. */
export function allRoutes(parts: HttpParts): Route[] {
  const routes = [
    ...signalRoutes(parts),
    ...oracleRoutes(parts),
    ...regimeRoutes(parts),
    ...copyTradeRoutes(parts),
    ...scorecardRoutes(parts),
    ...attestationRoutes(parts),
    ...predictionMarketRoutes(parts),
    ...crowdRoutes(parts),
    ...wagerRoutes(parts),
    ...selfTestRoutes(parts),
    ...briefRoutes(parts),
    ...weeklyRoutes(parts),
    ...widgetRoutes(parts),
    ...accessRoutes(parts),
    ...skillRoutes(parts),
    ...agentTaskRoutes(parts),
    ...agentRoutes(parts),
    ...agentCardRoutes(parts),
    ...agentFileRoutes(parts),
    ...aboutRoutes(parts),
    ...marketRoutes(parts),
    ...metadataRoutes(parts),
    ...webhookRoutes(parts),
    ...webSocketRoutes(parts),
    ...webhookCallRoutes(parts),
    ...paidRoutes(parts),
    ...x402Routes(parts),
    ...commerceRoutes(parts),
    ...jobRoutes(parts),
    ...purchaseRoutes(parts),
    ...refRoutes(parts),
    ...contestRoutes(parts),
    ...healthRoutes(parts),
    ...adminRoutes(parts),
    ...asyncApiRoutes(parts),
    ...rpcRoutes(parts),
    ...referenceRoutes(parts, () => all),
    ...pageFileRoutes(),
  ];
  const all: Route[] = [...rootRoutes(parts, routes), ...routes];
  return all;
}

/** What a worker serves: enough to see how it does. */
export function workerRoutes(parts: HttpParts): Route[] {
  return healthRoutes(parts);
}
