import { createHash } from 'node:crypto';
import {
  AgentCard,
  type AgentCardSignature,
  type AgentExtension,
  type AgentInterface,
  type AgentSkill,
  canonicalizeAgentCard,
  type SecurityRequirement,
  type SecurityScheme,
} from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import { FlattenedSign } from 'jose';
import type { Collection, Db } from 'mongodb';
import { SKILLS } from '../skills/index.ts';
import type { Skill } from '../skills/skill.ts';
import { CARD_ALGORITHM, type CardKeyStore, type SigningKey, TOKEN_LIFETIME_SECONDS } from '../src/auth/tokens.ts';
import { ignoreDuplicate } from '../src/platform/mongo.ts';
import { joinUrl } from '../src/platform/service-client.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION, type CardSource, ENDPOINTS, IDENTITY, INTERFACES } from './endpoints.ts';

/** Security scheme, named as in the OpenAPI document. */
const WALLET_TOKEN = 'walletToken';

/** Media types of messages and artifacts. */
export const MODES = ['application/json', 'text/plain'] as const;

/** A2A 1.0 agent card in the form of the SDK, without anything that depends on time. */
export function buildAgentCard(source: CardSource): AgentCard {
  const { publicUrl, version } = source;
  // All optional. No number and no non-ASCII character: the Python SDK canonicalizes those differently and would reject the signature.
  const extensions = [buildContractsExtension(source), buildIdentityExtension(source), buildPaymentsExtension(source)];
  return {
    name: IDENTITY.name,
    description: IDENTITY.description,
    supportedInterfaces: buildInterfaces(publicUrl),
    provider: { organization: IDENTITY.name, url: joinUrl(publicUrl, '/') },
    version,
    documentationUrl: joinUrl(publicUrl, ENDPOINTS.skillFile),
    iconUrl: joinUrl(publicUrl, ENDPOINTS.icon),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions },
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

export const EXTENSION_URIS = {
  skillContracts: 'urn:bitcoin-signal-oracle:ext:skill-contracts:v2',
  identity: 'urn:bitcoin-signal-oracle:ext:erc-8004:v1',
  /** Third-party extension for x402 payments. */
  x402: 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2',
} as const;

const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

function buildContractsExtension({ publicUrl }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.skillContracts,
    description:
      '`contracts` has the JSON Schemas, tier, price and freshness of each skill. Call a skill with a data part {"skill": "<id>", "input": {...}}; the artifact of the task has the output as a data part and as text. No activation needed.',
    required: false,
    params: {
      documentation: joinUrl(publicUrl, ENDPOINTS.skillFile),
      contracts: joinUrl(publicUrl, ENDPOINTS.skills),
      prices: joinUrl(publicUrl, '/api/svc/commerce/offerings'),
      schemaDialect: SCHEMA_DIALECT,
    },
  };
}

function buildPaymentsExtension({ publicUrl, chainId, payments: { payee, asset, receiptSigner } }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.x402,
    description:
      'Single answers for callers without the tier: the task requests payment and continues with a message that carries it. Without activation, such a call is rejected. Tasks paid without a token are not listed: keep the id.',
    required: false,
    params: {
      documentation: joinUrl(publicUrl, ENDPOINTS.skillFile),
      network: `eip155:${chainId}`,
      payee,
      asset,
      receiptSigner,
      terms: joinUrl(publicUrl, ENDPOINTS.x402),
      // Our metadata beside that of the extension.
      metadata: {
        'bitcoin-signal-oracle/payment-required': 'payment requirements in x402 version 2; payments of both versions are accepted',
        'bitcoin-signal-oracle/receipt': 'with the answer: settlement and signed EIP-712 receipt',
        'bitcoin-signal-oracle/ref': 'with the payment: referral code',
      },
    },
  };
}

function buildIdentityExtension({ publicUrl, chainId, registry, agentId }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.identity,
    description: 'ERC-8004 identity of this agent. The registry links the registration file, which links this card.',
    required: false,
    params: {
      registration: joinUrl(publicUrl, ENDPOINTS.registration),
      agentRegistry: `eip155:${chainId}:${registry}`,
      // A string, because protobuf converts numbers to floats.
      agentId: String(agentId),
      identity: joinUrl(publicUrl, '/api/svc/agent/identity'),
    },
  };
}

interface SignedCard extends SignedDocument {
  /** Last change in any process, in whole seconds. */
  modifiedAt: Date;
}

interface SignedDocument {
  json: string;
  /** Weak, over the unsigned card and the key id: signatures differ between processes. */
  etag: string;
  kid: string;
}

interface CardServiceDeps {
  source: CardSource;
  keys: CardKeyStore;
  changes: Pick<CardChangeStore, 'record'>;
  now(): Date;
}

/** Interval at which a process looks for a key that another process has rotated. */
const KEY_CHECK_INTERVAL_MS = 60_000;

export type CardService = ReturnType<typeof createCardService>;

/** Signs the card once per key and caches it. */
export function createCardService({ source, keys, changes, now }: CardServiceDeps) {
  let signed: SignedCard | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return {
    source,
    /** Public keys, active one first. */
    keys: () => keys.listPublicKeys(),
    /** Activates a new key, in other processes within a minute. With `revoke`, cards signed with earlier keys no longer verify. */
    async rotate(options: { revoke: boolean }) {
      const rotated = await keys.rotate(options);
      checkedAtMs = Number.NEGATIVE_INFINITY;
      return rotated;
    },
    async current(): Promise<SignedCard> {
      const nowMs = now().getTime();
      if (signed !== undefined && nowMs - checkedAtMs < KEY_CHECK_INTERVAL_MS) return signed;
      const key = await keys.getSigningKey();
      if (signed?.kid !== key.kid) {
        const card = await signCard(source, key);
        signed = { ...card, modifiedAt: await changes.record(card.etag) };
      }
      checkedAtMs = nowMs;
      return signed;
    },
  };
}

/** One signature per canonical form (A2A 1.0, section 8.4): of the SDKs (no empty values), RFC 8785, and section 8.4.1. */
export async function signCard(source: CardSource, { kid, privateKey }: SigningKey): Promise<SignedDocument> {
  const card = buildServedCard(source);
  const whole = canonicalize(card) as string;
  const header = { alg: CARD_ALGORITHM, typ: 'JOSE', kid, jku: joinUrl(source.publicUrl, ENDPOINTS.cardKeys) };
  const sign = async (text: string): Promise<Omit<AgentCardSignature, 'header'>> => {
    const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(privateKey);
    return { protected: jws.protected!, signature: jws.signature };
  };
  const payloads = [canonicalizeAgentCard(card as unknown as AgentCard), whole, toCanonicalCard(card)];
  const signatures = await Promise.all(payloads.map(sign));
  const etag = `W/"${createHash('sha256').update(`${kid}.${whole}`).digest('base64url')}"`;
  return { json: JSON.stringify({ ...card, signatures }), etag, kid };
}

/**
 * Canonical form of A2A 1.0, section 8.4.1: the 1.0 fields without `signatures`, as RFC 8785 JSON. Default values are omitted; required
 * and optional fields that are set stay, and so do empty messages, which the SDKs drop.
 * @param card its required fields must not be empty, because empty ones would be omitted
 */
function toCanonicalCard(card: Record<string, unknown>): string {
  const { signatures: _, ...fields } = AgentCard.toJSON(AgentCard.fromJSON(card)) as Record<string, unknown>;
  return canonicalize(fields) as string;
}

/** Times at which the agent card changed, shared by all processes. */
export class CardChangeStore {
  /** `changedAt` in whole seconds, as in HTTP dates. */
  readonly #changes: Collection<{ _id: 'agent-card'; etag: string; changedAt: Date }>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#changes = db.collection('card_changes');
    this.#now = now;
  }

  /** Returns when the card got this tag, in whole seconds; now for a new tag. */
  async record(etag: string): Promise<Date> {
    const changedAt = new Date(Math.floor(this.#now().getTime() / 1_000) * 1_000);
    // A concurrent process may insert first; the duplicate key is ignored.
    await this.#changes
      .updateOne({ _id: 'agent-card', etag: { $ne: etag } }, { $set: { etag, changedAt } }, { upsert: true })
      .catch(ignoreDuplicate);
    const found = await this.#changes.findOne({ _id: 'agent-card', etag });
    return found?.changedAt ?? changedAt;
  }
}

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
    // 1.0 marks the type of a scheme by its member, 0.3 by `type`.
    securitySchemes: Object.fromEntries(
      Object.entries(wire.securitySchemes as Record<string, Json>).map(([name, scheme]) => [
        name,
        { type: 'http', ...(scheme.httpAuthSecurityScheme as Json), ...scheme },
      ]),
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

function toLegacySecurity(requirements: readonly SecurityRequirement[]): Json {
  if (requirements.length === 0) return {};
  return {
    security: requirements.map(({ schemes }) => Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list]))),
  };
}
