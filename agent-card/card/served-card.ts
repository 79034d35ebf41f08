import { AgentCard, type SecurityRequirement } from '@a2a-js/sdk';
import { A2A_LEGACY_VERSION } from '../protocols.ts';
import { buildAgentCard, WALLET_TOKEN } from './card.ts';
import type { CardSource } from './card-source.ts';

type Json = Record<string, unknown>;

/** Unsigned card with the fields of 1.0 and of 0.3, which share only `securitySchemes`. Deterministic: its ETag is stable. */
export function buildServedCard(source: CardSource): Json {
  const card = buildAgentCard(source);
  const { signatures: _, ...wire } = AgentCard.toJSON(card) as Json;
  return {
    ...wire,
    ...buildLegacyInterfaces(card),
    supportsAuthenticatedExtendedCard: card.capabilities?.extendedAgentCard ?? false,
    // Anonymous or with a wallet token.
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

/** 1.0 marks the type of a scheme by its member, 0.3 by `type`. */
function toLegacyScheme(scheme: Json): Json {
  return { type: 'http', ...(scheme.httpAuthSecurityScheme as Json), ...scheme };
}

function toLegacySecurity(requirements: readonly SecurityRequirement[]): Json {
  if (requirements.length === 0) return {};
  return {
    security: requirements.map(({ schemes }) => Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list]))),
  };
}
