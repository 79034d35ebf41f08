import { accessEntryRoutes } from './access/routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { discoveryRoutes } from './agent/card/discovery-routes.ts';
import { agentFileRoutes } from './agent/card/file-routes.ts';
import { agentCardRoutes } from './agent/card/routes.ts';
import { clientFeedbackRoutes } from './agent/feedback/list-routes.ts';
import { paymentFeedbackRoutes } from './agent/feedback/routes.ts';
import { agentRoutes } from './agent/identity/routes.ts';
import { skillRoutes } from './agent/skills/routes.ts';
import { agentTaskRoutes } from './agent/tasks/routes.ts';
import { accessRoutes } from './auth/routes.ts';
import { jobRoutes } from './commerce/jobs/routes.ts';
import { refRoutes } from './commerce/offerings/ref-routes.ts';
import { commerceRoutes } from './commerce/offerings/routes.ts';
import { purchaseRoutes } from './commerce/purchases/routes.ts';
import { x402Routes } from './commerce/x402/discovery-routes.ts';
import { paidRoutes } from './commerce/x402/paid-routes.ts';
import { contestRoutes } from './contest/routes.ts';
import { demoRoutes } from './demo/routes.ts';
import type { HttpDeps } from './deps.ts';
import { asyncApiRoutes } from './docs/asyncapi-routes.ts';
import { referenceRoutes } from './docs/routes.ts';
import { copyTradeRoutes } from './forecast/copy-trade/routes.ts';
import { regimeRoutes } from './forecast/regime/routes.ts';
import { oracleRoutes } from './forecast/signal/oracle-routes.ts';
import { signalRoutes } from './forecast/signal/routes.ts';
import { crowdRoutes } from './market/crowd/routes.ts';
import { predictionMarketRoutes } from './market/prediction-markets/routes.ts';
import { marketRoutes } from './market/reports/routes.ts';
import { wagerRoutes } from './market/wagers/routes.ts';
import { documentRoutes } from './page/documents/routes.ts';
import { forecastPageRoutes } from './page/forecasts/routes.ts';
import { previewRoutes } from './page/preview/routes.ts';
import { rootRoutes } from './page/root-routes.ts';
import { pageFileRoutes } from './page/routes.ts';
import { metadataRoutes } from './record/attestations/metadata-routes.ts';
import { attestationRoutes } from './record/attestations/routes.ts';
import { challengeRoutes } from './record/challenge/routes.ts';
import { seriesRoutes } from './record/challenge/series-routes.ts';
import { datasetRoutes } from './record/dataset/routes.ts';
import { distributionRoutes } from './record/distributions/routes.ts';
import { feedRoutes } from './record/feeds/routes.ts';
import { scorecardRoutes } from './record/scorecard/routes.ts';
import { selfTestRoutes } from './record/self-tests/routes.ts';
import { timestampRoutes } from './record/timestamps/routes.ts';
import { briefRoutes } from './reports/brief-routes.ts';
import { weeklyRoutes } from './reports/weekly-routes.ts';
import type { Route } from './server/route.ts';
import { aboutRoutes } from './service/about/routes.ts';
import { connectionRoutes } from './service/connection/routes.ts';
import { type HealthDeps, healthRoutes } from './service/health/routes.ts';
import { rpcRoutes } from './service/rpc/routes.ts';
import { webhookCallRoutes } from './webhooks/call-routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { webSocketRoutes } from './websocket/routes.ts';
import { embedRoutes } from './widget/embed-routes.ts';
import { widgetRoutes } from './widget/routes.ts';

export function allRoutes(deps: HttpDeps): Route[] {
  const routes = [
    ...signalRoutes(deps),
    ...oracleRoutes(deps),
    ...regimeRoutes(deps),
    ...copyTradeRoutes(deps),
    ...scorecardRoutes(deps),
    ...seriesRoutes(deps),
    ...challengeRoutes(deps),
    ...attestationRoutes(deps),
    ...datasetRoutes(deps),
    ...distributionRoutes(deps),
    ...feedRoutes(deps),
    ...timestampRoutes(deps),
    ...predictionMarketRoutes(deps),
    ...crowdRoutes(deps),
    ...wagerRoutes(deps),
    ...selfTestRoutes(deps),
    ...briefRoutes(deps),
    ...weeklyRoutes(deps),
    ...widgetRoutes(deps),
    ...embedRoutes(deps),
    ...accessRoutes(deps),
    ...accessEntryRoutes(deps),
    ...demoRoutes(deps),
    ...skillRoutes(deps),
    ...agentTaskRoutes(deps),
    ...agentRoutes(deps),
    ...paymentFeedbackRoutes(deps),
    ...clientFeedbackRoutes(deps),
    ...agentCardRoutes(deps),
    ...agentFileRoutes(deps),
    ...discoveryRoutes(deps),
    ...aboutRoutes(deps),
    ...connectionRoutes(),
    ...marketRoutes(deps),
    ...metadataRoutes(deps),
    ...webhookRoutes(deps),
    ...webSocketRoutes(deps),
    ...webhookCallRoutes(deps),
    ...paidRoutes(deps),
    ...x402Routes(deps),
    ...commerceRoutes(deps),
    ...jobRoutes(deps),
    ...purchaseRoutes(deps),
    ...refRoutes(deps),
    ...contestRoutes(deps),
    ...healthRoutes(deps),
    ...adminRoutes(deps),
    ...asyncApiRoutes(deps),
    ...rpcRoutes(deps),
    ...referenceRoutes(deps, () => all),
    ...documentRoutes(deps),
    ...pageFileRoutes(),
    ...forecastPageRoutes(deps),
    ...previewRoutes(deps),
  ];
  const all: Route[] = [...rootRoutes(deps, routes), ...routes];
  return all;
}

export function workerRoutes(deps: HealthDeps): Route[] {
  return healthRoutes(deps);
}

/** Property reads return itself: a route factory only passes its dependencies on to the handlers. */
const NO_DEPS: object = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? NO_DEPS : undefined) });

/** Every operation for documents, without dependencies: the handlers must not be called. */
export function declaredRoutes(): Route[] {
  return allRoutes(NO_DEPS as HttpDeps);
}
