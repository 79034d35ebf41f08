import { IDENTITY } from '../../../agent-card/identity.ts';
import { requirementOf, TIER_REQUIREMENTS } from '../../access/tiers.ts';
import { HORIZONS, horizonName } from '../../forecast/model.ts';
import { SIGNAL_HORIZONS } from '../../horizon-input.ts';
import type { SeriesHealth } from '../../market/health.ts';
import { MODEL_SERIES } from '../../market/inputs.ts';
import { SERIES } from '../../market/series.ts';
import type { Caller } from '../../record/caller.ts';
import { summaryOf } from '../../record/scorecard.ts';
import { API_VERSION } from '../openapi/document.ts';
import type { HttpParts } from '../parts.ts';
import type { Info } from '../schemas/info.ts';
import { DOCUMENTS } from './documents.ts';
import { limitsOf } from './limits.ts';
import { modelCardOf } from './model-card.ts';

const DEFAULT_HORIZON_DAYS = 7;

const STATEMENT =
  'The direction of the price over days is close to chance, and no more than that is claimed. What is offered is a calibrated probability, a predictive distribution, a regime, an abstention where nothing is known, and a record without gaps that anybody can check.';

/** What this service is, from its constants, its settings and its record; nothing secret, and no call of the chain. */
export async function infoOf(parts: HttpParts, caller: Caller): Promise<Info> {
  const { about, market, publicUrl, chainId, addresses } = parts;
  const at = parts.now();
  const { series: known } = await market.health(at.getTime());
  return {
    success: true,
    name: IDENTITY.name,
    description: IDENTITY.description,
    version: parts.version,
    apiVersion: API_VERSION,
    capabilities: [...IDENTITY.capabilities],
    skill: await skill(parts),
    model: await modelCardOf(parts, caller, known),
    horizons: { signals: [...SIGNAL_HORIZONS], scored: HORIZONS.map(horizonName), default: horizonName(DEFAULT_HORIZON_DAYS) },
    schedule: [...about.schedule],
    tiers: tiers(),
    chain: {
      id: chainId,
      caip2: `eip155:${chainId}`,
      local: about.local,
      confirmations: about.confirmations,
      attester: parts.attesterAddress,
      rpcUrl: parts.chainReading.rpcUrl,
    },
    contracts: { ...addresses },
    limits: limitsOf(about.rates),
    data: { kind: market.kind, source: market.source, series: known.map(toldSeries) },
    documents: DOCUMENTS.map(({ name, path }) => ({ name, url: `${publicUrl}${path}` })),
    timestamp: at.toISOString(),
  };
}

/** As anybody may know it. */
async function skill({ record, publicUrl }: HttpParts): Promise<Info['skill']> {
  const docs = await record.ofHorizon(DEFAULT_HORIZON_DAYS);
  return {
    statement: STATEMENT,
    horizon: horizonName(DEFAULT_HORIZON_DAYS),
    verdict: summaryOf(docs, DEFAULT_HORIZON_DAYS).verdict,
    scorecard: `${publicUrl}/api/svc/scorecard?horizon=${DEFAULT_HORIZON_DAYS}`,
  };
}

function toldSeries({ series: id, title, source }: SeriesHealth): Info['data']['series'][number] {
  const { unit, lagDays, staleDays } = SERIES[id];
  return { series: id, title, unit, source, lagDays, staleDays, inModel: MODEL_SERIES.includes(id) };
}

function tiers(): Info['tiers'] {
  return [
    {
      tier: 'public',
      requirement: 'nothing',
      gateTokens: null,
      opens: 'market context, scorecard, attestation records, agent identity and reputation; forecasts once their outcome is on chain',
    },
    {
      tier: 'basic',
      requirement: requirementOf('basic'),
      gateTokens: String(TIER_REQUIREMENTS.basic),
      opens: 'direction, confidence and salt of each forecast at once, regimes, webhooks',
    },
    {
      tier: 'premium',
      requirement: requirementOf('premium'),
      gateTokens: String(TIER_REQUIREMENTS.premium),
      opens: 'everything in Basic, the premium signal and the copy-trade interface',
    },
  ];
}
