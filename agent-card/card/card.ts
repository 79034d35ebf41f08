import type { AgentCard, AgentInterface, AgentSkill, SecurityScheme } from '@a2a-js/sdk';
import { SKILLS } from '../../skills/index.ts';
import type { Skill } from '../../skills/skill.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../src/auth/tokens/token-key-store.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';
import { INTERFACES } from '../interfaces.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../protocols.ts';
import type { CardSource } from './card-source.ts';
import { buildExtensions } from './extensions.ts';

/** Security scheme, named as in the OpenAPI document. */
export const WALLET_TOKEN = 'walletToken';

/** Media types of messages and artifacts. */
export const MODES = ['application/json', 'text/plain'] as const;

/** A2A 1.0 agent card in the form of the SDK, without anything that depends on time. */
export function buildAgentCard(source: CardSource): AgentCard {
  const { publicUrl, version } = source;
  return {
    name: IDENTITY.name,
    description: IDENTITY.description,
    supportedInterfaces: buildInterfaces(publicUrl),
    provider: { organization: IDENTITY.name, url: joinUrl(publicUrl, '/') },
    version,
    documentationUrl: joinUrl(publicUrl, ENDPOINTS.skillFile),
    iconUrl: joinUrl(publicUrl, ENDPOINTS.icon),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: buildExtensions(source) },
    securitySchemes: { [WALLET_TOKEN]: buildSecurityScheme(publicUrl) },
    // Login is optional; gated skills declare their own requirement.
    securityRequirements: [],
    defaultInputModes: [...MODES],
    defaultOutputModes: [...MODES],
    skills: SKILLS.map(toAgentSkill),
    signatures: [],
  };
}

/** Preferred first. Both versions share the URLs and are distinguished by the header `A2A-Version`. */
function buildInterfaces(publicUrl: string): AgentInterface[] {
  const [rpc, rest] = INTERFACES.a2a.endpoints;
  const bindings = [
    { protocolBinding: 'JSONRPC', url: joinUrl(publicUrl, rpc) },
    { protocolBinding: 'HTTP+JSON', url: joinUrl(publicUrl, rest) },
  ];
  return [A2A_VERSION, A2A_LEGACY_VERSION].flatMap((protocolVersion) =>
    bindings.map((binding) => ({ ...binding, protocolVersion, tenant: '' })),
  );
}

function buildSecurityScheme(publicUrl: string): SecurityScheme {
  const login = joinUrl(publicUrl, '/api/svc/oracle/verify');
  const description = `Access token from wallet login: POST ${login} with a signed message, as described at ${joinUrl(publicUrl, ENDPOINTS.skillFile)}. Valid for ${TOKEN_LIFETIME_SECONDS / 60} minutes, with the tier of the gate token balance.`;
  return { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer', bearerFormat: 'JWT', description } } };
}

function toAgentSkill({ id, title, description, tags, examples, tier }: Skill): AgentSkill {
  return {
    id,
    name: title,
    description,
    tags: [...tags],
    examples: examples.flatMap(({ say, input }) => [say, JSON.stringify({ skill: id, input })]),
    inputModes: [...MODES],
    outputModes: [...MODES],
    securityRequirements: tier === 'public' ? [] : [{ schemes: { [WALLET_TOKEN]: { list: [] } } }],
  };
}
