import { z } from 'zod';
import { listOf, objectOf } from '../../../../platform/validation/described.ts';

const MEDIA_TYPES = z.array(z.string());
const OPENAPI_SECURITY = z.array(z.record(z.string(), z.array(z.string()).describe('Scopes; tokens have none')));

const INTERFACE = z.object({
  url: z.url().describe('Endpoint URL'),
  protocolBinding: z.enum(['JSONRPC', 'HTTP+JSON']).describe('Protocol binding'),
  protocolVersion: z.string().describe('A2A version, `1.0` or `0.3`; selected by the header `A2A-Version`'),
});

const LEGACY_INTERFACE = z.object({
  url: z.url().describe('Endpoint URL'),
  transport: z.enum(['JSONRPC', 'HTTP+JSON']).describe('Protocol binding'),
});

const EXTENSION = z.object({
  uri: z.string().describe('URI of the extension'),
  description: z.string().describe('What it adds, and how to use it'),
  params: z
    .record(z.string(), z.unknown())
    .describe('Parameters: URL of schemas, prices and freshness of the skills; on-chain identity; payment terms'),
});

const SCHEME = z.object({
  type: z.literal('http').describe('Scheme type, for A2A 0.3'),
  scheme: z.literal('bearer').describe('Scheme of `Authorization`'),
  bearerFormat: z.literal('JWT').describe('Token format'),
  description: z.string().describe('How to get a token'),
  httpAuthSecurityScheme: objectOf('The same for A2A 1.0', {
    description: z.string().describe('How to get a token'),
    scheme: z.literal('bearer').describe('Scheme of `Authorization`'),
    bearerFormat: z.literal('JWT').describe('Token format'),
  }),
});

const REQUIREMENT = z.object({
  schemes: z
    .record(z.string(), z.object({ list: z.array(z.string()).optional().describe('Scopes; absent: none') }))
    .describe('Required schemes, by name'),
});

const SKILL = z.object({
  id: z.string().describe('Id, as messages name it'),
  name: z.string().describe('Short title'),
  description: z.string().describe('What it returns, and its limits'),
  tags: z.array(z.string()).describe('Keywords'),
  examples: z.array(z.string()).describe('Example prompts, each followed by the equivalent data part'),
  inputModes: MEDIA_TYPES.describe('Accepted media types'),
  outputModes: MEDIA_TYPES.describe('Media types of artifacts'),
  securityRequirements: z.array(REQUIREMENT).optional().describe('A2A 1.0: required credentials; absent: public'),
  security: OPENAPI_SECURITY.optional().describe('The same for A2A 0.3'),
});

const SIGNATURE = z.object({
  protected: z.string().describe('Protected header, base64url: `alg` ES256, `typ`, `kid`, and `jku` with the URL of the public key'),
  signature: z.string().describe('Signature, base64url'),
});

/** A2A agent card with the fields of 1.0 and 0.3. */
export const AGENT_CARD = z.object({
  name: z.string().describe('Name of the agent'),
  description: z.string().describe('What it does'),
  supportedInterfaces: z.array(INTERFACE).describe('Endpoints, the preferred one first'),
  provider: z.object({ url: z.url().describe('Website'), organization: z.string().describe('Its name') }).describe('Operator'),
  version: z.string().describe('Version of the software'),
  documentationUrl: z.url().describe('Step-by-step instructions'),
  iconUrl: z.url().describe('Its icon'),
  capabilities: objectOf('Optional protocol features', {
    streaming: z.boolean().describe('Task events are streamed'),
    pushNotifications: z.boolean().describe('Task events are pushed to a URL'),
    extendedAgentCard: z.boolean().describe('Whether authenticated callers get an extended card'),
    extensions: z.array(EXTENSION).describe('Extensions; none is required'),
  }),
  securitySchemes: z.record(z.string(), SCHEME).describe('Authentication schemes, by name'),
  defaultInputModes: MEDIA_TYPES.describe('Media types of messages'),
  defaultOutputModes: MEDIA_TYPES.describe('Media types of artifacts'),
  skills: z.array(SKILL).describe('Skills'),
  protocolVersion: z.string().describe('A2A version of the next five fields'),
  url: z.url().describe('0.3: endpoint URL'),
  preferredTransport: z.enum(['JSONRPC', 'HTTP+JSON']).describe('0.3: preferred transport'),
  additionalInterfaces: z.array(LEGACY_INTERFACE).describe('0.3: all endpoints'),
  supportsAuthenticatedExtendedCard: z.boolean().describe('0.3: whether authenticated callers get an extended card'),
  security: OPENAPI_SECURITY.describe('0.3: accepted credentials; public access included'),
  signatures: z
    .array(SIGNATURE)
    .describe(
      'JWS with detached payload, ES256, over: (1) the 1.0 fields in the canonical form of the SDKs, which omits empty values; (2) the RFC 8785 form of this document without `signatures`; (3) the 1.0 fields in the canonical form of A2A 1.0, section 8.4.1',
    ),
});

const CARD_KEY = z.object({
  kty: z.literal('EC').describe('Key type'),
  crv: z.literal('P-256').describe('Curve'),
  x: z.string().describe('Public point, base64url'),
  y: z.string().describe('Public point, base64url'),
  kid: z.string().describe('Key id: its RFC 7638 thumbprint'),
  alg: z.literal('ES256').describe('Signature algorithm'),
  use: z.literal('sig').describe('Purpose'),
});

export const CARD_KEYS = z.object({
  keys: z.array(CARD_KEY).describe('Valid signing keys of the agent card, the active one first (RFC 7517)'),
});

const HEADER = z.object({
  name: z.string().describe('Name of the header'),
  description: z.string().describe('Value that it takes'),
  isRequired: z.boolean().describe('Whether the server requires it'),
  isSecret: z.boolean().describe('Whether its value is secret'),
});

export const MCP_SERVER_FILE = z.object({
  $schema: z.url().describe('Schema of this file'),
  name: z.string().describe('Registry name: reverse DNS of the host, a slash, the service name'),
  title: z.string().describe('Display name'),
  description: z.string().max(100).describe('What it is'),
  version: z.string().describe('Version of the software'),
  websiteUrl: z.url().describe('Website'),
  remotes: listOf('Endpoints', {
    type: z.literal('streamable-http').describe('Transport'),
    url: z.url().describe('Endpoint URL'),
    headers: z.array(HEADER).describe('Accepted headers'),
  }),
});
