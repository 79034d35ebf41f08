/** Members that nobody should take for something to use, with what stands there instead; in the form that their schemas ask for. */
const REPLACEMENTS: Record<string, string> = {
  token: 'redacted.access.token',
  secret: 'redacted-secret-shown-once',
  ticket: 'redacted-ticket',
  signature: `0x${'00'.repeat(65)}`,
  protected: 'redacted',
};

/** Callbacks are registered by address; a reader expects a name. */
const CALLBACK = /https:\/\/9\.9\.9\.9\/[\w-]*/g;

/** One in the URL that it opens. */
const TICKET = /\bticket=[\w-]+/g;

/** Members of a JSON Schema that are enough to see what the rest is like. */
const SCHEMA_MEMBERS = 3;

/** Entries of a list that are enough to see what the rest is like. */
const MAX_ENTRIES = 1;

/** Lists of which each entry counts: a type to sign, public keys, what a JSON Schema is made of. */
const UNCUT_MEMBERS = new Set(['Commitment', 'Receipt', 'accepts', 'proof', 'keys', 'include', 'enum', 'anyOf']);

/** A real request or answer, fit to be printed: lists cut short, nothing that could be used. */
export function redactValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return REPLACEMENTS[name] ?? redactText(value);
  if (Array.isArray(value)) return (UNCUT_MEMBERS.has(name) ? value : value.slice(0, MAX_ENTRIES)).map((entry) => redactValue(entry));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).slice(0, name === 'properties' ? SCHEMA_MEMBERS : undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, redactValue(member, key)]));
}

function redactText(text: string): string {
  return text.replaceAll(CALLBACK, 'https://hooks.example.com/oracle').replaceAll(TICKET, `ticket=${REPLACEMENTS.ticket}`);
}

/** The beginning of a text, by whole lines. */
export function truncateLines(text: string, lines = 40): string {
  const all = text.split('\n');
  return all.length <= lines ? text : [...all.slice(0, lines), '...'].join('\n');
}
