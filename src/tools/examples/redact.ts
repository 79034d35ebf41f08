const REPLACEMENTS: Record<string, string> = {
  token: 'redacted.access.token',
  secret: 'redacted-secret-shown-once',
  ticket: 'redacted-ticket',
  signature: `0x${'00'.repeat(65)}`,
  protected: 'redacted',
};

/** Callbacks are registered by IP address; examples show a host name. */
const CALLBACK = /https:\/\/9\.9\.9\.9\/[\w-]*/g;
const API_KEY = /\bbso_[0-9A-Za-z]{49}\b/g;
const TICKET = /\bticket=[\w-]+/g;
const SCHEMA_MEMBERS = 3;
const MAX_ENTRIES = 1;
/** Lists kept whole: types to sign, public keys, parts of a JSON Schema. */
const UNCUT_MEMBERS = new Set(['Commitment', 'Receipt', 'accepts', 'proof', 'keys', 'include', 'enum', 'anyOf']);

export function redactValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return REPLACEMENTS[name] ?? redactText(value);
  if (Array.isArray(value)) return (UNCUT_MEMBERS.has(name) ? value : value.slice(0, MAX_ENTRIES)).map((entry) => redactValue(entry));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).slice(0, name === 'properties' ? SCHEMA_MEMBERS : undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, redactValue(member, key)]));
}

function redactText(text: string): string {
  return text
    .replaceAll(CALLBACK, 'https://hooks.example.com/oracle')
    .replaceAll(TICKET, `ticket=${REPLACEMENTS.ticket}`)
    .replaceAll(API_KEY, 'bso_redacted');
}

export function truncateLines(text: string, lines = 40): string {
  const all = text.split('\n');
  return all.length <= lines ? text : [...all.slice(0, lines), '...'].join('\n');
}
