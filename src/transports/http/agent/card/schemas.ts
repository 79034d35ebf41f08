import { z } from 'zod';

const MEDIA_TYPES = z.array(z.string());
const OPENAPI_SECURITY = z.array(z.record(z.string(), z.array(z.string()).describe('Scopes; the tokens here have none')));

const INTERFACE = z.object({
  url: z.url().describe('Where it answers'),
  protocolBinding: z.enum(['JSONRPC', 'HTTP+JSON']).describe('How it is spoken there'),
  protocolVersion: z.string().describe('Version of A2A: `1.0` or `0.3`, told apart by the header `A2A-Version`'),
});

const LEGACY_INTERFACE = z.object({
  url: z.url().describe('Where it answers'),
  transport: z.enum(['JSONRPC', 'HTTP+JSON']).describe('How it is spoken there'),
});

const EXTENSION = z.object({
  uri: z.string().describe('Name of the extension'),
  description: z.string().describe('What it says, and how to use it'),
  params: z
    .record(z.string(), z.unknown())
    .describe(
      'What the extension says: where the JSON Schemas, prices and freshness of skills are; the identity on chain; terms of payment',
    ),
});

const SCHEME = z.object({
  type: z.literal('http').describe('Kind of scheme, for readers of 0.3'),
  scheme: z.literal('bearer').describe('Scheme of the `Authorization` header'),
  bearerFormat: z.literal('JWT').describe('Form of the token'),
  description: z.string().describe('How to get one'),
  httpAuthSecurityScheme: z
    .object({
      description: z.string().describe('How to get one'),
      scheme: z.literal('bearer').describe('Scheme of the `Authorization` header'),
      bearerFormat: z.literal('JWT').describe('Form of the token'),
    })
    .describe('The same for readers of 1.0'),
});

const REQUIREMENT = z.object({
  schemes: z
    .record(z.string(), z.object({ list: z.array(z.string()).optional().describe('Scopes; absent: none') }))
    .describe('Schemes that are all needed, by name'),
});

const SKILL = z.object({
  id: z.string().describe('What a message names it by'),
  name: z.string().describe('A few words for people'),
  description: z.string().describe('What comes back, what it is worth, what it is not'),
  tags: z.array(z.string()).describe('Keywords'),
  examples: z.array(z.string()).describe('What people say, each followed by the data part that an agent sends for it'),
  inputModes: MEDIA_TYPES.describe('Media types that it takes'),
  outputModes: MEDIA_TYPES.describe('Media types of its artifacts'),
  securityRequirements: z.array(REQUIREMENT).optional().describe('Who may use it, as 1.0 says it; absent: anybody'),
  security: OPENAPI_SECURITY.optional().describe('The same as 0.3 says it'),
});

const SIGNATURE = z.object({
  protected: z.string().describe('Protected header, base64url: `alg` ES256, `typ`, `kid`, and `jku` where the public key is'),
  signature: z.string().describe('Signature, base64url'),
});

/** A2A agent card with the fields of 1.0 and, beside them, those of 0.3. */
export const AGENT_CARD = z.object({
  name: z.string().describe('Name of the agent'),
  description: z.string().describe('What it does'),
  supportedInterfaces: z.array(INTERFACE).describe('Where and how it is reached, the preferred one first'),
  provider: z.object({ url: z.url().describe('Its site'), organization: z.string().describe('Its name') }).describe('Who runs it'),
  version: z.string().describe('Version of the software'),
  documentationUrl: z.url().describe('How to use it, step by step'),
  iconUrl: z.url().describe('Its icon'),
  capabilities: z
    .object({
      streaming: z.boolean().describe('Whether events of a task are streamed'),
      pushNotifications: z.boolean().describe('Whether they are pushed to a URL'),
      extendedAgentCard: z.boolean().describe('Whether callers who are logged in get another card'),
      extensions: z.array(EXTENSION).describe('What the card says beyond the protocol; none has to be understood'),
    })
    .describe('Optional parts of the protocol'),
  securitySchemes: z.record(z.string(), SCHEME).describe('How callers prove who they are, by name'),
  defaultInputModes: MEDIA_TYPES.describe('Media types of messages'),
  defaultOutputModes: MEDIA_TYPES.describe('Media types of artifacts'),
  skills: z.array(SKILL).describe('What it can be asked for'),
  protocolVersion: z.string().describe('Version of A2A that the following five fields are of'),
  url: z.url().describe('0.3: where it is reached'),
  preferredTransport: z.enum(['JSONRPC', 'HTTP+JSON']).describe('0.3: how'),
  additionalInterfaces: z.array(LEGACY_INTERFACE).describe('0.3: all ways to reach it'),
  supportsAuthenticatedExtendedCard: z.boolean().describe('0.3: whether callers who are logged in get another card'),
  security: OPENAPI_SECURITY.describe('0.3: who may call: anybody, or a wallet that is logged in'),
  signatures: z
    .array(SIGNATURE)
    .describe(
      'JWS with detached payload, ES256. The first is over the fields of 1.0 in the canonical form of the SDKs, which leaves out what is empty; the second over the RFC 8785 form of this whole document without `signatures`; the third over the fields of 1.0 in the canonical form of A2A 1.0, section 8.4.1',
    ),
});

const CARD_KEY = z.object({
  kty: z.literal('EC').describe('Kind of key'),
  crv: z.literal('P-256').describe('Its curve'),
  x: z.string().describe('Public point, base64url'),
  y: z.string().describe('Public point, base64url'),
  kid: z.string().describe('Name of the key, its thumbprint (RFC 7638)'),
  alg: z.literal('ES256').describe('Algorithm of the signatures'),
  use: z.literal('sig').describe('What it is for'),
});

export const CARD_KEYS = z.object({
  keys: z.array(CARD_KEY).describe('Keys that an agent card may be signed with, the active one first (RFC 7517)'),
});

const HEADER = z.object({
  name: z.string().describe('Name of the header'),
  description: z.string().describe('What it takes'),
  isRequired: z.boolean().describe('Whether the server is of no use without it'),
  isSecret: z.boolean().describe('Whether its value has to be kept secret'),
});

/** `server.json` of the MCP registry. */
export const MCP_SERVER_FILE = z.object({
  $schema: z.url().describe('Schema of this file'),
  name: z.string().describe('Name in the registry: reverse DNS of the host, a slash, the name of the service'),
  title: z.string().describe('Name for people'),
  description: z.string().max(100).describe('What it is'),
  version: z.string().describe('Version of the software'),
  websiteUrl: z.url().describe('Its site'),
  remotes: z
    .array(
      z.object({
        type: z.literal('streamable-http').describe('Transport'),
        url: z.url().describe('Where it answers'),
        headers: z.array(HEADER).describe('Headers that it takes'),
      }),
    )
    .describe('Where it is reached'),
});
