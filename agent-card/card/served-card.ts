import { AgentCard, type SecurityRequirement } from '@a2a-js/sdk';
import { A2A_LEGACY_VERSION } from '../protocols.ts';
import { buildAgentCard, type CardSource, WALLET_TOKEN } from './card.ts';

type Json = Record<string, unknown>;

/**
 * The card as JSON without its signatures: the protocol's 1.0 form, with the fields of 0.3 beside them. The two share no name but
 * `securitySchemes`, whose entries are what both read. A whole document for either reader, and the same bytes at any time.
 */
export function buildServedCard(source: CardSource): Json {
  const card = buildAgentCard(source);
  const { signatures: _, ...wire } = AgentCard.toJSON(card) as Json;
  return {
    ...wire,
    ...buildLegacyInterfaces(card),
    supportsAuthenticatedExtendedCard: card.capabilities?.extendedAgentCard ?? false,
    // Either nobody or a wallet that is logged in.
    security: [{}, { [WALLET_TOKEN]: [] }],
    securitySchemes: Object.fromEntries(
      Object.entries(wire.securitySchemes as Json).map(([name, scheme]) => [name, toLegacyScheme(scheme as Json)]),
    ),
    skills: card.skills.map((skill, index) => ({ ...(wire.skills as Json[])[index], ...toLegacySecurity(skill.securityRequirements) })),
  };
}

function buildLegacyInterfaces({ supportedInterfaces }: AgentCard): Json {
  const legacy = supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === A2A_LEGACY_VERSION);
  const [preferred] = legacy;
  return {
    protocolVersion: `${A2A_LEGACY_VERSION}.0`,
    url: preferred.url,
    preferredTransport: preferred.protocolBinding,
    additionalInterfaces: legacy.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })),
  };
}

/** 1.0 names the kind of a scheme by its member, 0.3 by `type`, as OpenAPI does. */
function toLegacyScheme(scheme: Json): Json {
  return { type: 'http', ...(scheme.httpAuthSecurityScheme as Json), ...scheme };
}

function toLegacySecurity(requirements: readonly SecurityRequirement[]): Json {
  if (requirements.length === 0) return {};
  return {
    security: requirements.map(({ schemes }) => Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list]))),
  };
}
