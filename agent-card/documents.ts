import { isIP } from 'node:net';
import { DIRECTION_CODES, EAS_SCHEMAS, OUTCOME_CODES, SIGNAL_CODES } from '../src/chain/eas/schemas.ts';
import {
  BLOCK_DAYS,
  DISTRIBUTION_TRIAL_COUNT,
  EMBARGO_DAYS,
  HORIZONS,
  MODEL_INPUTS,
  MODEL_NAME,
  TRIAL_COUNT,
} from '../src/forecast/model.ts';
import { CONFIDENCE_RANGE, DIRECTION_EVIDENCE } from '../src/forecast/signal.ts';
import { SIGNAL_TIME } from '../src/market/feed.ts';
import { QUORUM_RULES } from '../src/market/quorum.ts';
import { joinUrl } from '../src/platform/service-client.ts';
import { COMMITMENT_FORMULA, formatCodes } from '../src/record/prediction.ts';
import { ENDPOINTS, IDENTITY, INTERFACES, MCP_VERSION } from './endpoints.ts';

interface McpServerFileSource {
  publicUrl: string;
  version: string;
  /** Whether assistants can authorize by OAuth. */
  hasOAuth: boolean;
}

export const MCP_REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Members that say the same in every entry and card. */
export const SERVER_COPY = { title: IDENTITY.name, description: IDENTITY.tagline } as const;

/** Entry of this very service in the MCP registry (`server.json`). The package, which reaches any service, has an entry of its own. */
export function buildMcpServerFile({ publicUrl, version, hasOAuth }: McpServerFileSource) {
  const oauth = hasOAuth ? `. Assistants authorize by OAuth at ${joinUrl(publicUrl, ENDPOINTS.mcpAccount)}` : '';
  return {
    $schema: MCP_REGISTRY_SCHEMA,
    name: `${toNamespace(publicUrl)}/${IDENTITY.slug}`,
    ...SERVER_COPY,
    version,
    websiteUrl: joinUrl(publicUrl, '/'),
    remotes: [
      {
        type: 'streamable-http' as const,
        url: joinUrl(publicUrl, INTERFACES.mcp.endpoints[0]),
        headers: [
          {
            name: 'Authorization',
            description: `"Bearer " and a token from POST ${joinUrl(publicUrl, '/api/svc/oracle/verify')}; only gated tools ask for it${oauth}`,
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** Every revision that the MCP endpoint serves, the newest first. */
export const MCP_VERSIONS = [MCP_VERSION, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/** MCP server card (SEP-2127): how to connect. Tools are listed by the server itself. */
export function buildMcpServerCard(source: McpServerFileSource) {
  const { $schema: _, remotes, ...server } = buildMcpServerFile(source);
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...server,
    icons: [{ src: joinUrl(source.publicUrl, ENDPOINTS.icon), mimeType: 'image/svg+xml', sizes: ['any'] }],
    remotes: remotes.map((remote) => ({ ...remote, supportedProtocolVersions: [...MCP_VERSIONS] })),
  };
}

/** Reverse host name; `localhost` for an IP address. */
function toNamespace(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.split('.').filter(Boolean).reverse().join('.') : 'localhost';
}

/** `Link` header by which other documents name the catalog. */
export function formatCatalogLink({ publicUrl }: { publicUrl: string }): string {
  return `<${joinUrl(publicUrl, ENDPOINTS.apiCatalog)}>; rel="api-catalog"`;
}

export const REGISTRATION_PATH = ENDPOINTS.registration;

const formatClock = ({ hours, minutes }: { hours: number; minutes: number }) =>
  [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');

/** The methodology as Markdown, identical for all callers and over time. */
export function renderMethodology({ publicUrl }: { publicUrl: string }): string {
  return [
    `# How ${IDENTITY.name} forecasts, and how to check it`,
    renderForecasting(publicUrl),
    renderCommitment(),
    renderResolution(),
    renderScoring(publicUrl),
    renderVerification(publicUrl),
  ].join('\n\n');
}

function renderForecasting(publicUrl: string): string {
  return `## A forecast

Once a day, at ${formatClock(SIGNAL_TIME)} UTC, the service forecasts BTC/USD for ${HORIZONS.join(', ')} days by the model \`${MODEL_NAME}\`: a logistic regression
on ${MODEL_INPUTS.length} scores (${MODEL_INPUTS.join(', ')}) computed from data known at that minute. One fit serves ${BLOCK_DAYS} days; its training outcomes end at least
${EMBARGO_DAYS} days before the first of them. Probabilities are calibrated on earlier blocks.

- \`P(up)\` is the probability that the window closes above its opening price; \`direction\` is the likelier side, \`confidence\` its
  probability within ${CONFIDENCE_RANGE.least} to ${CONFIDENCE_RANGE.most}.
- \`signal\` is BUY or SELL where \`P(up)\` is far enough from one half for the current regime, else HOLD. The direction of a HOLD
  is committed too.
- ${TRIAL_COUNT} variants of the direction and ${DISTRIBUTION_TRIAL_COUNT} distributions were tried before this model was fixed. Discount its record for that selection.

For inputs, rules, results, known failures and limits, see the
[model card](${joinUrl(publicUrl, '/documents/model.md')}); for coefficients, \`model\` at ${joinUrl(publicUrl, '/api/svc/info')}.`;
}

function renderCommitment(): string {
  return `## Committed before the window opens

The outcome window opens at 00:00 UTC after the forecast. Before that, all horizons of the day are committed on chain as
irrevocable attestations of the Ethereum Attestation Service:

    ${EAS_SCHEMAS.prediction}

    commitment = ${COMMITMENT_FORMULA}

with \`signal\` ${formatCodes(SIGNAL_CODES)} and \`direction\` ${formatCodes(DIRECTION_CODES)}. Each refers to the prediction of the day before for the same horizon
(\`refUID\`), and \`sequence\` has no gaps, so a dropped day is visible. A forecast that is not on chain in time is void: it stays
in the sequence and never counts. Salt and values are available to callers with access at once, and to everyone when the forecast is revealed.`;
}

function renderResolution(): string {
  const { minVenues, maxDeviationBps } = QUORUM_RULES.live;
  return `## Resolved in public

The outcome compares the daily closes at both ends of the window. On live data a close is the median of at least
${minVenues} venues within ${maxDeviationBps / 100} % of it; without that quorum, resolution waits. Simulated and recorded data have one source, named in
\`source\`; results on simulated data prove only that the machinery works.

A second attestation refers to the first and reveals its values:

    ${EAS_SCHEMAS.resolution}

with \`outcome\` ${formatCodes(OUTCOME_CODES)}.`;
}

function renderScoring(publicUrl: string): string {
  return `## Scored, and what it is worth

${joinUrl(publicUrl, '/api/svc/scorecard')} lists every forecast, including HOLD and missed days. HOLD is not scored. Windows of several days
overlap, so their outcomes are dependent: intervals use the effective number of independent windows. The verdict is computed
from these numbers.

**The direction shows no skill that can be distinguished from luck.** ${DIRECTION_EVIDENCE} Over days the price is close to a coin flip, and no more is claimed. The service offers
a probability that states how little is known, an abstention where nothing is, and a record that cannot be edited. Nothing here is
advice to trade.

Every day has a wager: by its edge over the market's price, or of a small minimum stake, so that the number of wagers says nothing of the forecasts.
Outcomes of wagers are logged to the ERC-8004 reputation registry by the operator's own second wallet. Paper venues stake nothing, so their
results prove nothing.`;
}

function renderVerification(publicUrl: string): string {
  return `## Check it yourself

1. \`GET ${joinUrl(publicUrl, '/api/svc/onchain-oracle/verify/<uid>')}\` reads an attestation from the chain and lists each check with its result.
2. Without trusting this service: read the attestation from the chain, compare its block time with \`windowOpensAt\`,
   and hash the revealed values and salt with the formula above. The result must equal the commitment.
3. \`metadata\` is the sha2-256 of the bytes at \`${joinUrl(publicUrl, '/ipfs/<cid>')}\`: model version and
   digest, regime, sources and times of all inputs.
4. Follow \`refUID\` from prediction to prediction: the sequence must have no gap.
5. Recompute outcomes from public prices, and the scorecard from outcomes.

To call the service from a program, see ${joinUrl(publicUrl, ENDPOINTS.skillFile)}
`;
}
