import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { INTERFACES } from '../../../../../agent-card/interfaces.ts';
import type { Caller } from '../../../../auth/caller.ts';
import { formatTierRequirement, TIER_REQUIREMENTS } from '../../../../auth/tiers/tiers.ts';
import { getBlockExplorerUrl } from '../../../../chain/addresses.ts';
import { SIGNAL_HORIZONS } from '../../../../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS } from '../../../../forecast/model.ts';
import { MODEL_SERIES } from '../../../../market/inputs/day-inputs.ts';
import { SERIES } from '../../../../market/series/series.ts';
import type { SeriesHealth } from '../../../../market/series/series-health.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { DEMO_PATHS, DEMO_ROLES } from '../../demo/demo-wallets.ts';
import type { HttpDeps } from '../../deps.ts';
import { API_VERSION } from '../../openapi/document.ts';
import type { Info } from './info-schemas.ts';
import { buildLimits } from './limits.ts';
import { buildModelCard, type ModelCardDeps } from './model-card.ts';

const DOCUMENTS = [
  { name: 'all operations', path: '/' },
  { name: 'OpenAPI 3.1 document', path: INTERFACES.rest.description.path },
  { name: 'AsyncAPI 3.1 document of events', path: INTERFACES.events.description.path },
  { name: 'API reference for browsers', path: INTERFACES.rest.guide },
  { name: 'step-by-step instructions for agents', path: ENDPOINTS.skillFile },
  { name: 'skills with schemas and prices', path: ENDPOINTS.skills },
  { name: 'A2A agent card', path: INTERFACES.a2a.description.path },
  { name: 'MCP endpoint', path: INTERFACES.mcp.endpoints[0] },
  { name: 'MCP server card', path: INTERFACES.mcp.description.path },
  { name: 'x402 resources and terms', path: INTERFACES.x402.description.path },
  { name: 'AI catalog', path: ENDPOINTS.aiCatalog },
  { name: 'API catalog, RFC 9727', path: ENDPOINTS.apiCatalog },
  { name: 'MCP registry entry', path: ENDPOINTS.mcpServer },
  { name: 'llms.txt', path: ENDPOINTS.llms },
  { name: 'methodology: how forecasts are made and verified', path: ENDPOINTS.methodology },
  { name: 'ERC-8004 registration file', path: ENDPOINTS.registration },
  { name: 'public keys of the agent card', path: ENDPOINTS.cardKeys },
  { name: 'public keys of session tokens', path: '/.well-known/jwks.json' },
  { name: 'standards and contracts with live state', path: '/api/claw/ecosystem' },
  { name: 'offerings and prices', path: '/api/svc/commerce/offerings' },
  { name: 'status of the service', path: '/api/status' },
] as const;

export type InfoDeps = ModelCardDeps &
  Pick<HttpDeps, 'about' | 'addresses' | 'attesterAddress' | 'chainId' | 'chainReading' | 'demo' | 'now' | 'statistics' | 'version'>;

const DEFAULT_HORIZON_DAYS = 7;

const STATEMENT =
  'Over days, the direction of the price is close to chance, and no more is claimed. The service offers a calibrated probability, a predictive distribution, a regime, abstention without an edge, and a gapless, publicly verifiable record.';

/** Public facts from constants, settings and record; no secrets, no chain calls. */
export async function buildInfo(deps: InfoDeps, caller: Caller): Promise<Info> {
  const { about, market, publicUrl, chainId, addresses } = deps;
  const at = deps.now();
  const { series: seriesHealth } = await market.health(at.getTime());
  return {
    success: true,
    name: IDENTITY.name,
    description: IDENTITY.description,
    version: deps.version,
    apiVersion: API_VERSION,
    capabilities: [...IDENTITY.capabilities],
    skill: await buildSkillStatement(deps),
    model: await buildModelCard(deps, caller, seriesHealth),
    horizons: { signals: [...SIGNAL_HORIZONS], scored: HORIZONS.map(formatHorizonName), default: formatHorizonName(DEFAULT_HORIZON_DAYS) },
    schedule: [...about.schedule],
    tiers: listTiers(),
    chain: {
      id: chainId,
      caip2: `eip155:${chainId}`,
      local: about.local,
      confirmations: about.confirmations,
      attester: deps.attesterAddress,
      explorerUrl: about.local ? null : getBlockExplorerUrl(chainId),
      rpcUrl: deps.chainReading.rpcUrl,
    },
    contracts: { ...addresses },
    demo: describeDemo(deps),
    limits: buildLimits(about.rates),
    data: { kind: market.kind, source: market.source, series: seriesHealth.map(toSeriesInfo) },
    documents: DOCUMENTS.map(({ name, path }) => ({ name, url: `${publicUrl}${path}` })),
    timestamp: at.toISOString(),
  };
}

/** From the public view of the record. */
async function buildSkillStatement({ statistics, publicUrl }: InfoDeps): Promise<Info['skill']> {
  const { summary } = await statistics.figures.getHorizon(DEFAULT_HORIZON_DAYS);
  return {
    statement: STATEMENT,
    horizon: formatHorizonName(DEFAULT_HORIZON_DAYS),
    verdict: summary.verdict,
    scorecard: `${publicUrl}/api/svc/scorecard?horizon=${DEFAULT_HORIZON_DAYS}`,
  };
}

function toSeriesInfo({ series: id, title, source }: SeriesHealth): Info['data']['series'][number] {
  const { unit, lagDays, staleDays } = SERIES[id];
  return { series: id, title, unit, source, lagDays, staleDays, inModel: MODEL_SERIES.includes(id) };
}

function describeDemo({ demo, publicUrl }: InfoDeps): Info['demo'] {
  if (demo === null) return null;
  const wallets = DEMO_ROLES.map((role) => ({ role, address: demo.addresses[role] }));
  return { login: joinUrl(publicUrl, DEMO_PATHS.login), payment: joinUrl(publicUrl, DEMO_PATHS.payment), wallets };
}

function listTiers(): Info['tiers'] {
  return [
    {
      tier: 'public',
      requirement: 'nothing',
      gateTokens: null,
      opens: 'market context, scorecard, attestations, agent identity and reputation; forecasts once their outcome is on chain',
    },
    {
      tier: 'basic',
      requirement: formatTierRequirement('basic'),
      gateTokens: String(TIER_REQUIREMENTS.basic),
      opens: 'direction, confidence and salt of each forecast at once, regimes, webhooks',
    },
    {
      tier: 'premium',
      requirement: formatTierRequirement('premium'),
      gateTokens: String(TIER_REQUIREMENTS.premium),
      opens: 'everything in Basic, the premium signal and copy trading',
    },
  ];
}
