import type { Route } from './route.ts';
import { accessEntryRoutes } from './routes/access.ts';
import { adminRoutes } from './routes/admin.ts';
import { agentCardRoutes, agentFileRoutes, discoveryRoutes } from './routes/agent-card.ts';
import { attestationRoutes, metadataRoutes } from './routes/attestations.ts';
import { accessRoutes } from './routes/auth.ts';
import { briefRoutes, weeklyRoutes } from './routes/briefs.ts';
import { challengeRoutes, distributionRoutes, seriesRoutes } from './routes/challenge.ts';
import { contestRoutes } from './routes/contest.ts';
import { copyTradeRoutes } from './routes/copy-trade.ts';
import { crowdRoutes } from './routes/crowd.ts';
import { datasetRoutes } from './routes/dataset.ts';
import { demoRoutes } from './routes/demo.ts';
import { asyncApiRoutes, referenceRoutes } from './routes/docs.ts';
import { documentRoutes } from './routes/documents.ts';
import { clientFeedbackRoutes, paymentFeedbackRoutes } from './routes/feedback.ts';
import { feedRoutes } from './routes/feeds.ts';
import { forecastPageRoutes } from './routes/forecasts.ts';
import { connectionRoutes, healthRoutes } from './routes/health.ts';
import { pageFileRoutes, rootRoutes } from './routes/home.ts';
import { agentRoutes } from './routes/identity.ts';
import { aboutRoutes } from './routes/info.ts';
import { jobRoutes, purchaseRoutes } from './routes/jobs.ts';
import { marketRoutes, regimeRoutes } from './routes/market.ts';
import { commerceRoutes, refRoutes } from './routes/offerings.ts';
import { paidRoutes, x402Routes } from './routes/paid.ts';
import { predictionMarketRoutes, wagerRoutes } from './routes/prediction-markets.ts';
import { rpcRoutes } from './routes/rpc.ts';
import { scorecardRoutes } from './routes/scorecard.ts';
import { selfTestRoutes } from './routes/self-tests.ts';
import { oracleRoutes, signalRoutes } from './routes/signal.ts';
import { agentTaskRoutes, skillRoutes } from './routes/skills.ts';
import { webhookCallRoutes, webhookRoutes } from './routes/webhooks.ts';
import { webSocketRoutes } from './routes/websocket.ts';
import { widgetRoutes } from './routes/widget.ts';
import type { Services } from './services.ts';

export function allRoutes(deps: Services): Route[] {
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
    ...predictionMarketRoutes(deps),
    ...crowdRoutes(deps),
    ...wagerRoutes(deps),
    ...selfTestRoutes(deps),
    ...briefRoutes(deps),
    ...weeklyRoutes(deps),
    ...widgetRoutes(deps),
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
  ];
  const all: Route[] = [...rootRoutes(deps, routes), ...routes];
  return all;
}

/** Property reads return itself: a route factory only passes its dependencies on to the handlers. */
const NO_DEPS: object = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? NO_DEPS : undefined) });

/** Every operation for documents, without dependencies: the handlers must not be called. @param hasDemo whether on a local chain */
export function declaredRoutes({ hasDemo = true } = {}): Route[] {
  return allRoutes((hasDemo ? NO_DEPS : Object.create(NO_DEPS, { demo: { value: null } })) as Services);
}
