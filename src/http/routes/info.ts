import type { Address } from 'viem';
import { z } from 'zod';
import { ENDPOINTS, IDENTITY, INTERFACES } from '../../../agent-card/endpoints.ts';
import type { Caller } from '../../auth/caller.ts';
import { formatTierRequirement, getRequiredBalance } from '../../auth/tiers.ts';
import { CONTRACT_STATES, type ContractReading, type TokenMetadata } from '../../chain/contracts.ts';
import { EAS_SCHEMAS, type SchemaName } from '../../chain/eas/schemas.ts';
import { WEBSOCKET } from '../../events/events.ts';
import { formatDay } from '../../forecast/day.ts';
import { SIGNAL_HORIZONS } from '../../forecast/horizon-input.ts';
import * as model from '../../forecast/model.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import { getModelName, MODEL_VERSIONS } from '../../forecast/models.ts';
import { REGIME_NAMES, REGIME_RULE_TERMS, REGIME_RULES, REGIMES } from '../../forecast/regime.ts';
import type { Feed } from '../../market/feed.ts';
import { MODEL_SERIES } from '../../market/inputs.ts';
import { PROVIDERS, type ProviderId } from '../../market/live/provider.ts';
import type { SeriesHealth } from '../../market/market.ts';
import { SERIES } from '../../market/series.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { ADDRESS, BYTES32, COUNT, listOf, namedObject, nullableObjectOf, objectOf, SUCCESS, TIME } from '../../platform/validation.ts';
import { summarizeAttestations } from '../../record/figures.ts';
import * as statements from '../../record/model-card.ts';
import { buildFitCard, digestCoefficients, MODEL_INPUT_SERIES, VERSION_STATEMENTS } from '../../record/model-card.ts';
import { mayReadUnresolved } from '../../record/visibility.ts';
import { API_VERSION } from '../openapi/document.ts';
import { type Route, route } from '../route.ts';
import { buildLimits, DEMO_PATHS, DEMO_ROLES, INFO, type Info, type ModelCard } from '../schemas/info.ts';
import type { Services } from '../services.ts';

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

const DEFAULT_HORIZON_DAYS = 7;

const STATEMENT =
  'Over days, the direction of the price is close to chance, and no more is claimed. The service offers a calibrated probability, a predictive distribution, a regime, abstention without an edge, and a gapless, publicly verifiable record.';

/** Public facts from constants, settings and record; no secrets, no chain calls. */
async function buildInfo(deps: Services, caller: Caller): Promise<Info> {
  const { about, market, publicUrl, demo } = deps;
  const { addresses, chainId } = deps.chain;
  const at = deps.now();
  const { series: seriesHealth } = await market.health(at.getTime());
  const { summary } = await deps.figures.getHorizon(DEFAULT_HORIZON_DAYS);
  return {
    success: true,
    name: IDENTITY.name,
    description: IDENTITY.description,
    version: deps.version,
    apiVersion: API_VERSION,
    capabilities: [...IDENTITY.capabilities],
    // From the public view of the record.
    skill: {
      statement: STATEMENT,
      horizon: formatHorizonName(DEFAULT_HORIZON_DAYS),
      verdict: summary.verdict,
      scorecard: `${publicUrl}/api/svc/scorecard?horizon=${DEFAULT_HORIZON_DAYS}`,
    },
    model: await buildModelCard(deps, caller, seriesHealth),
    horizons: { signals: [...SIGNAL_HORIZONS], scored: HORIZONS.map(formatHorizonName), default: formatHorizonName(DEFAULT_HORIZON_DAYS) },
    schedule: [...about.schedule],
    tiers: listTiers(),
    chain: {
      id: chainId,
      caip2: `eip155:${chainId}`,
      local: about.local,
      confirmations: about.confirmations,
      attester: deps.wallets.attester.address,
      explorerUrl: about.local ? null : getBlockExplorerUrl(chainId),
      rpcUrl: deps.chainReading.rpcUrl,
    },
    contracts: { ...addresses },
    demo: demo && {
      login: joinUrl(publicUrl, DEMO_PATHS.login),
      payment: joinUrl(publicUrl, DEMO_PATHS.payment),
      wallets: DEMO_ROLES.map((role) => ({ role, address: demo.addresses[role] })),
    },
    limits: buildLimits(about.rates),
    data: {
      kind: market.kind,
      source: market.source,
      series: seriesHealth.map(({ series, title, source }) => {
        const { unit, lagDays, staleDays } = SERIES[series];
        return { series, title, unit, source, lagDays, staleDays, inModel: MODEL_SERIES.includes(series) };
      }),
    },
    documents: DOCUMENTS.map(({ name, path }) => ({ name, url: `${publicUrl}${path}` })),
    timestamp: at.toISOString(),
  };
}

const BLOCK_EXPLORER_URLS: Readonly<Record<number, string>> = {
  8453: 'https://basescan.org',
  84532: 'https://sepolia.basescan.org',
};

/** Base URL of the chain's block explorer, without a trailing slash; null for an unknown chain. */
function getBlockExplorerUrl(chainId: number): string | null {
  return BLOCK_EXPLORER_URLS[chainId] ?? null;
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
      gateTokens: getRequiredBalance('basic'),
      opens: 'direction, confidence and salt of each forecast at once, regimes, webhooks, WebSocket',
    },
    {
      tier: 'premium',
      requirement: formatTierRequirement('premium'),
      gateTokens: getRequiredBalance('premium'),
      opens: 'everything in Basic, the premium signal and copy trading',
    },
  ];
}

async function buildModelCard(deps: Services, caller: Caller, seriesHealth: readonly SeriesHealth[]): Promise<ModelCard> {
  const { record, models, publicUrl } = deps;
  // All horizons of a day have the same model version.
  const version = record.known.findLatest(DEFAULT_HORIZON_DAYS)?.modelVersion ?? null;
  const fitted = version === null ? null : await models.get(version);
  const mayReadCalibration = mayReadUnresolved(deps.viewFor(caller));
  return {
    name: version === null ? model.MODEL_NAME : getModelName(version),
    method: [...statements.METHOD],
    trials: model.TRIAL_COUNT,
    versions: MODEL_VERSIONS.map(({ name, title, distributionTrials }) => {
      const { reads, method, findings } = VERSION_STATEMENTS[name];
      const role = version === null ? null : getModelName(version) === name ? 'champion' : 'challenger';
      return { name, title, role, distributionTrials, reads: [...reads], method: [...method], findings: [...findings] };
    }),
    distributionTrials: model.DISTRIBUTION_TRIAL_COUNT,
    blockDays: model.BLOCK_DAYS,
    embargoDays: model.EMBARGO_DAYS,
    trainingStart: formatDay(model.TRAINING_START),
    scores: [...model.MODEL_INPUTS],
    inputs: MODEL_INPUT_SERIES.map(({ enters, ...input }) => {
      const { source, providers } = seriesHealth.find(({ series }) => series === input.series)!;
      return { ...input, enters: [...enters], source, licences: getLicences(deps.market, providers) };
    }),
    regimes: REGIME_NAMES.map((regime) => {
      const { daysToEnter, theta, riskLevel } = REGIMES[regime];
      return { regime, rule: REGIME_RULES[regime], daysToEnter, theta, riskLevel };
    }),
    regimeTerms: REGIME_RULE_TERMS,
    independentCallsAYear: model.HORIZONS.map((days) => ({
      horizon: model.formatHorizonName(days),
      calls: statements.countIndependentCallsPerYear(days),
    })),
    fitted: fitted && {
      version: fitted._id,
      fittedAt: fitted.fittedAt.toISOString(),
      horizons: fitted.horizons.map((fit) => buildFitCard(fit, mayReadCalibration)),
      trainingDigest: fitted.trainingDigest,
      coefficientsDigest: digestCoefficients(fitted),
    },
    selfTests: {
      walkForward: `${publicUrl}/api/self-test/walk-forward`,
      contamination: `${publicUrl}/api/self-test/contamination`,
      stability: `${publicUrl}/api/self-test/stability`,
    },
    intendedUse: [...statements.INTENDED_USE],
    notFor: [...statements.NOT_INTENDED_FOR],
    knownFailures: [...statements.KNOWN_FAILURES],
    limits: [...statements.CAVEATS],
  };
}

/** Terms of use of a series: those of its providers, or of the feed for simulated and CSV data. */
export function getLicences({ kind, source }: Pick<Feed, 'kind' | 'source'>, providers: readonly { provider: ProviderId }[]) {
  if (kind === 'simulated') return [{ of: source, licence: 'simulated data, free of third-party rights' }];
  if (kind === 'csv') return [{ of: source, licence: 'licence of the files, unknown to the service' }];
  return providers.map(({ provider }) => ({ of: PROVIDERS[provider].title, licence: PROVIDERS[provider].licence }));
}

export function aboutRoutes(deps: Services): Route[] {
  return [
    route('GET /api/svc/info', 'getInfo', {
      units: 0.2,
      tag: 'service',
      reply: INFO,
      summary: 'Service overview: model card, horizons, schedule, tiers, limits, data, documents, and skill',
      variesByCaller: true,
      handle: async ({ caller }) => ({ body: await buildInfo(deps, caller) }),
    }),
    route('GET /api/claw/ecosystem', 'getEcosystem', {
      tag: 'service',
      cost: 'rpc',
      reply: ECOSYSTEM,
      summary: 'Supported standards and contracts with live state',
      description: 'A contract that does not answer is reported as `unreachable`.',
      handle: async () => ({ body: await buildEcosystem(deps) }),
    }),
  ];
}

async function buildEcosystem(deps: Services): Promise<Ecosystem> {
  const { about, publicUrl } = deps;
  const { addresses, chainId } = deps.chain;
  const [states, attestations] = await Promise.all([about.contracts(), deps.figures.getAttestations()]);
  const { predictions, resolutions, latestAttestation } = summarizeAttestations(attestations, HORIZONS);
  const { eas, schemaRegistry, identityRegistry, reputationRegistry, agentCommerce } = states;
  return {
    success: true,
    chain: { id: chainId, caip2: `eip155:${chainId}`, local: about.local },
    checkedAt: states.checkedAt.toISOString(),
    contracts: {
      eas: {
        ...toContractState(addresses.eas, eas),
        version: eas.value?.version ?? null,
        attester: deps.wallets.attester.address,
        predictions,
        resolutions,
        latestAttestation,
      },
      schemaRegistry: { ...toContractState(addresses.schemaRegistry, schemaRegistry), schemas: schemaRegistry.value?.schemas ?? null },
      identityRegistry: {
        ...toContractState(addresses.identityRegistry, identityRegistry),
        agentId: deps.identity()?.agentId ?? null,
        owner: identityRegistry.value?.owner ?? null,
        agentUri: identityRegistry.value?.agentUri ?? null,
      },
      reputationRegistry: {
        ...toContractState(addresses.reputationRegistry, reputationRegistry),
        feedback: reputationRegistry.value?.feedback ?? null,
        reporter: reputationRegistry.value?.reporter ?? null,
      },
      gateToken: addresses.gateToken && states.gateToken && toToken(addresses.gateToken, states.gateToken),
      stablecoin: toToken(addresses.stablecoin, states.stablecoin),
      agentCommerce:
        addresses.agentCommerce === null || agentCommerce === null
          ? null
          : { ...toContractState(addresses.agentCommerce, agentCommerce), paymentToken: agentCommerce.value?.paymentToken ?? null },
    },
    standards: STANDARDS.map(({ paths, note, ...standard }) => ({
      ...standard,
      live: true,
      note,
      endpoints: paths.map((path) => `${publicUrl}${path}`),
    })),
  };
}

const toContractState = (address: Address, { state, reason }: ContractReading<unknown>) => ({ address, state, reason });

function toToken(address: Address, observed: ContractReading<TokenMetadata>): z.input<typeof TOKEN> {
  const { symbol = null, decimals = null } = observed.value ?? {};
  return { ...toContractState(address, observed), symbol, decimals };
}

const STANDARD_KINDS = ['chain', 'identity', 'payment', 'agent', 'push', 'http'] as const;

const eip = (number: number) => `https://eips.ethereum.org/EIPS/eip-${number}`;
const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;

/** Id, topic, name, specification, use in this service. */
const ROWS: readonly (readonly [id: string, kind: (typeof STANDARD_KINDS)[number], name: string, url: string, note: string])[] = [
  ['eas', 'chain', 'Ethereum Attestation Service', 'https://attest.org', 'Every forecast and every outcome is an attestation.'],
  ['erc-8004', 'agent', 'ERC-8004 Trustless Agents', eip(8004), 'Agent identity, and wager outcomes in the reputation registry.'],
  ['eip-191', 'identity', 'EIP-191 Signed Data', eip(191), 'Wallet login by a signed message.'],
  ['eip-4361', 'identity', 'EIP-4361 Sign-In with Ethereum', eip(4361), 'Alternative wallet login.'],
  ['eip-1271', 'identity', 'EIP-1271 Signatures of Contracts', eip(1271), 'Login of contract wallets; of undeployed ones by ERC-6492.'],
  ['eip-712', 'identity', 'EIP-712 Typed Structured Data', eip(712), 'Commitments of the contest.'],
  ['jwt', 'identity', 'JSON Web Token, EdDSA, with its key set', rfc(7519), 'Session tokens, publicly verifiable.'],
  ['jws', 'agent', 'JSON Web Signature, ES256, with its key set', rfc(7515), 'Signature of the agent card, over its RFC 8785 form.'],
  ['api-catalog', 'http', 'RFC 9727 API Catalog', rfc(9727), 'All endpoints with their descriptions.'],
  ['ai-catalog', 'agent', 'AI Catalog 0.9', 'https://ai-catalog.io', 'Agent card, MCP server card and skills for directories.'],
  ['agent-skills', 'agent', 'Agent Skills, and llms.txt', 'https://agentskills.io', 'Instructions for agents and language models.'],
  ['x402', 'payment', 'x402 Payment Required', 'https://x402.org', 'Payment with the request, in a stablecoin by EIP-3009.'],
  ['erc-8183', 'payment', 'ERC-8183 Agentic Commerce', eip(8183), 'Jobs paid from escrow.'],
  [
    'a2a',
    'agent',
    'Agent2Agent Protocol',
    'https://a2a-protocol.org',
    'Tasks from other agents, 1.0 and 0.3, over JSON-RPC and HTTP+JSON.',
  ],
  ['mcp', 'agent', 'Model Context Protocol', 'https://modelcontextprotocol.io', 'Tools for assistants, over Streamable HTTP.'],
  [
    'standard-webhooks',
    'push',
    'Standard Webhooks',
    'https://www.standardwebhooks.com',
    'Signed webhooks, in order, with the retries of the standard.',
  ],
  ['websocket', 'push', 'WebSocket Protocol', rfc(6455), 'Events as they happen.'],
  ['openapi', 'http', 'OpenAPI 3.1', 'https://spec.openapis.org/oas/v3.1.0', 'Generated from the mounted operations.'],
  [
    'asyncapi',
    'push',
    'AsyncAPI 3.1',
    'https://www.asyncapi.com/docs/reference/specification/v3.1.0',
    'Generated from the message schemas.',
  ],
  ['rfc-9457', 'http', 'RFC 9457 Problem Details', rfc(9457), 'All errors.'],
  [
    'ratelimit-headers',
    'http',
    'RateLimit header fields, draft-ietf-httpapi-ratelimit-headers',
    'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/',
    'On all rate-limited responses.',
  ],
  ['rfc-9745', 'http', 'RFC 9745 Deprecation header field', rfc(9745), 'On deprecated operations.'],
  ['rfc-8785', 'http', 'RFC 8785 JSON Canonicalization Scheme, and CIDv1', rfc(8785), 'The exact bytes behind on-chain digests.'],
];

/** Endpoints by standard; others apply everywhere, or on chain only. */
const PATHS: Record<string, readonly string[]> = {
  eas: ['/api/svc/onchain-oracle/verify/{uid}'],
  'erc-8004': ['/api/svc/agent/identity', '/api/svc/agent/reputation', '/.well-known/agent-registration.json'],
  'eip-191': ['/api/svc/oracle/verify'],
  'eip-4361': ['/api/svc/oracle/nonce', '/api/svc/oracle/siwe'],
  'eip-1271': ['/api/svc/oracle/verify'],
  'eip-712': ['/api/svc/prestake/commit'],
  jwt: ['/.well-known/jwks.json'],
  jws: [ENDPOINTS.agentCard, ENDPOINTS.cardKeys],
  'agent-skills': [ENDPOINTS.skillFile, ENDPOINTS.llms],
  x402: [...INTERFACES.x402.endpoints, INTERFACES.x402.description.path],
  a2a: [INTERFACES.a2a.description.path, ...INTERFACES.a2a.endpoints],
  mcp: [...INTERFACES.mcp.endpoints, ENDPOINTS.mcpServer, INTERFACES.mcp.description.path],
  'ai-catalog': [ENDPOINTS.aiCatalog],
  'api-catalog': [ENDPOINTS.apiCatalog],
  'standard-webhooks': ['/api/svc/webhooks/register'],
  websocket: [WEBSOCKET.path, '/api/svc/ws/ticket'],
  openapi: [INTERFACES.rest.description.path],
  asyncapi: [INTERFACES.events.description.path],
  'rfc-9745': ['/api/svc/signal'],
  'rfc-8785': ['/ipfs/{cid}'],
};

export const STANDARDS = ROWS.map(([id, kind, name, url, note]) => ({ id, name, kind, url, paths: PATHS[id] ?? [], note }));

const CONTRACT = {
  address: ADDRESS.describe('Contract address'),
  state: z.enum(CONTRACT_STATES).describe('`missing`: no such contract at the address; `unreachable`: the chain does not answer'),
  reason: z.string().nullable().describe('Reason where not live; null otherwise'),
};

const TOKEN = namedObject('TokenContract', {
  ...CONTRACT,
  symbol: z.string().nullable().describe('Symbol of the contract, at most 32 characters; null unless live'),
  decimals: COUNT.nullable().describe('Decimals; null unless live'),
});

const EAS = z.object({
  ...CONTRACT,
  version: z.string().nullable().describe('Contract version; null unless live'),
  attester: ADDRESS.describe('Attesting wallet'),
  predictions: COUNT.describe('Attested predictions'),
  resolutions: COUNT.describe('Attested resolutions'),
  latestAttestation: TIME.nullable().describe('Block time of the newest; null before the first'),
});

const ECOSYSTEM = namedObject('Ecosystem', {
  success: SUCCESS,
  chain: objectOf('Chain of the contracts', {
    id: z.int().min(1).describe('Chain id'),
    caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
    local: z.boolean().describe('True for a local throw-away chain'),
  }),
  checkedAt: TIME.describe('When the contracts were read; results are cached for up to a minute'),
  contracts: objectOf('Contracts with their states', {
    eas: EAS.describe('Ethereum Attestation Service'),
    schemaRegistry: objectOf('Schema registry of EAS', {
      ...CONTRACT,
      schemas: z
        .array(
          z.object({
            name: z.enum(Object.keys(EAS_SCHEMAS) as SchemaName[]).describe('Schema name'),
            uid: BYTES32.describe('UID'),
            registered: z.boolean().describe('Whether it is registered; the first attestation of its kind registers it'),
          }),
        )
        .nullable()
        .describe('Schemas of this service; null unless live'),
    }),
    identityRegistry: objectOf('ERC-8004 identity registry', {
      ...CONTRACT,
      agentId: COUNT.nullable().describe('Agent id, from 0; null before registration'),
      owner: ADDRESS.nullable().describe('Owner in the registry; null unless live'),
      agentUri: z.string().nullable().describe('URL of the registration file in the registry; null unless live'),
    }),
    reputationRegistry: objectOf('ERC-8004 reputation registry', {
      ...CONTRACT,
      feedback: COUNT.nullable().describe("Outcomes logged by the operator's reporter; null unless live"),
      reporter: ADDRESS.nullable().describe('Reporter wallet; null unless live'),
    }),
    gateToken: TOKEN.nullable().describe('ERC-20 gate token; null without one'),
    stablecoin: TOKEN.describe('Stablecoin of payments'),
    agentCommerce: nullableObjectOf('ERC-8183 contract; null where no jobs are taken', {
      ...CONTRACT,
      paymentToken: ADDRESS.nullable().describe('Payment token of jobs; null unless live'),
    }),
  }),
  standards: listOf('Standards and protocols', {
    id: z.string().describe('Id'),
    name: z.string().describe('Name'),
    kind: z.enum(STANDARD_KINDS).describe('Topics'),
    url: z.url().describe('Specification'),
    live: z.boolean().describe('Whether this service supports it today'),
    endpoints: z.array(z.string()).describe('Endpoints; empty where it applies everywhere, on chain only, or not yet'),
    note: z.string().describe('Use in this service'),
  }),
});

type Ecosystem = z.input<typeof ECOSYSTEM>;
