/**
 * Canonical forms of an agent card, computed from the descriptor of the `AgentCard` message and from nothing of this service or its SDK.
 */

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Json = any;

/** Of the proto: `presence` for `optional` scalars, whose default value is kept where it was set. */
interface Field {
  type: 'string' | 'bool' | 'struct' | keyof typeof MESSAGES;
  repeated?: true;
  map?: true;
  required?: true;
  presence?: true;
}

const string = { type: 'string' } as const;
const required = { type: 'string', required: true } as const;
const strings = { type: 'string', repeated: true } as const;
const requirements = { type: 'SecurityRequirement', repeated: true } as const;
const flag = { type: 'bool', presence: true } as const;

/** Fields of a2a.proto 1.0 that a card of this service can have, by their JSON names. */
const MESSAGES = {
  AgentCard: {
    name: required,
    description: required,
    supportedInterfaces: { type: 'AgentInterface', repeated: true, required: true },
    provider: { type: 'AgentProvider' },
    version: required,
    documentationUrl: { type: 'string', presence: true },
    capabilities: { type: 'AgentCapabilities', required: true },
    securitySchemes: { type: 'SecurityScheme', map: true },
    securityRequirements: requirements,
    defaultInputModes: { ...strings, required: true },
    defaultOutputModes: { ...strings, required: true },
    skills: { type: 'AgentSkill', repeated: true, required: true },
    iconUrl: { type: 'string', presence: true },
  },
  AgentInterface: { url: required, protocolBinding: required, tenant: string, protocolVersion: required },
  AgentProvider: { url: required, organization: required },
  AgentCapabilities: {
    streaming: flag,
    pushNotifications: flag,
    extensions: { type: 'AgentExtension', repeated: true },
    extendedAgentCard: flag,
  },
  AgentExtension: { uri: string, description: string, required: { type: 'bool' }, params: { type: 'struct' } },
  AgentSkill: {
    ...{ id: required, name: required, description: required, tags: { ...strings, required: true } },
    ...{ examples: strings, inputModes: strings, outputModes: strings, securityRequirements: requirements },
  },
  SecurityScheme: { httpAuthSecurityScheme: { type: 'HTTPAuthSecurityScheme' } },
  HTTPAuthSecurityScheme: { description: string, scheme: required, bearerFormat: string },
  SecurityRequirement: { schemes: { type: 'StringList', map: true } },
  StringList: { list: strings },
} as const;

const isMessage = (type: Field['type']): type is keyof typeof MESSAGES => type in MESSAGES;
const fieldsOf = (type: keyof typeof MESSAGES) => Object.entries(MESSAGES[type] as Record<string, Field>);
const mapValues = (map: Json, work: (value: Json) => Json) => Object.fromEntries(Object.entries(map).map(([key, one]) => [key, work(one)]));

/** One value as protobuf prints it; `undefined` where the printer leaves it out. */
function printed(value: Json, { type, repeated, map, presence, required: always }: Field, keepRequired: boolean): Json {
  const one = (item: Json) => (isMessage(type) ? messageToJson(item, type, keepRequired) : item);
  const kept = keepRequired && always === true;
  if (map) return Object.keys(value ?? {}).length === 0 ? undefined : mapValues(value, one);
  if (repeated) return (value ?? []).length === 0 && !kept ? undefined : (value ?? []).map(one);
  if (isMessage(type) || type === 'struct') return value === undefined ? undefined : one(value);
  const isDefault = value === undefined || value === '' || value === false;
  if (!isDefault || (presence && value !== undefined)) return value;
  return kept ? '' : undefined;
}

/** What `ParseDict(..., ignore_unknown_fields=True)` and `MessageToDict` make of a message. @param keepRequired keep REQUIRED fields at their default */
function messageToJson(message: Json, type: keyof typeof MESSAGES, keepRequired: boolean): Json {
  const entries = fieldsOf(type).map(([name, field]) => [name, printed(message[name], field, keepRequired)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** JSON with sorted keys and without whitespace. @param scalar prints what is neither a list nor an object */
function sorted(value: Json, scalar: (value: Json) => string = JSON.stringify): string {
  if (Array.isArray(value)) return `[${value.map((one) => sorted(one, scalar)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return scalar(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${scalar(key)}:${sorted(value[key], scalar)}`).join(',')}}`;
}

/** `json.dumps` of a scalar: all numbers of a card stand in a `Struct`, and so are floats; what is not ASCII is escaped. */
function pythonScalar(value: Json): string {
  if (typeof value === 'number' && Number.isInteger(value)) return `${value}.0`;
  return JSON.stringify(value).replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `_clean_empty` of the Python SDK: null for what it drops. */
function cleanEmpty(value: Json): Json {
  if (value === '' || value === null) return null;
  if (Array.isArray(value)) {
    const list = value.map(cleanEmpty).filter((one) => one !== null);
    return list.length === 0 ? null : list;
  }
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, one]) => [key, cleanEmpty(one)] as const);
  const kept = entries.filter(([, one]) => one !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** `_map_legacy_security` of the Python SDK. */
const legacyRequirements = (list: Json[]) => list.map((schemes) => ({ schemes: mapValues(schemes, (scopes) => ({ list: scopes })) }));

/** `parse_agent_card` of `a2a/client/card_resolver.py` (a2a-sdk 1.x): fields of 0.3 take the place of those of 1.0 that are missing. */
function upgradeLegacyFields(served: Json): Json {
  const card = structuredClone(served);
  if (card.supportsAuthenticatedExtendedCard) card.capabilities.extendedAgentCard ??= true;
  if (card.security !== undefined) card.securityRequirements ??= legacyRequirements(card.security);
  for (const skill of card.skills) if (skill.security !== undefined) skill.securityRequirements ??= legacyRequirements(skill.security);
  card.securitySchemes = mapValues(card.securitySchemes, ({ type, ...scheme }) =>
    type === 'http' ? { httpAuthSecurityScheme: scheme } : { type, ...scheme },
  );
  return card;
}

/**
 * The bytes that the Python SDK verifies a card over: `_canonicalize_agent_card` of `a2a/utils/signing.py` (a2a-sdk 1.x), reproduced from
 * its source since no Python runs here.
 */
export function pythonCanonicalCard(served: Json): string {
  return sorted(cleanEmpty(messageToJson(upgradeLegacyFields(served), 'AgentCard', false)), pythonScalar);
}

/** The canonical form that A2A 1.0, section 8.4.1, describes: defaults left out, what is required or set as optional kept. */
export function literalCanonicalCard(served: Json): string {
  return sorted(messageToJson(served, 'AgentCard', true));
}
