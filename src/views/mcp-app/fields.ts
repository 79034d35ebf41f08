/** Members of an answer. Its length depends on the call, so each is read as possibly missing. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Interval {
  low: number;
  high: number;
}

/** Longer text is cut. */
const MAX_CHARACTERS = 800;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without members for anything but an object. */
export function readFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Empty for anything but a text. */
export function readText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
}

export function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The objects of a list. */
export function readList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Null without both bounds in order. */
export function readInterval(value: unknown): Interval | null {
  const { low: from, high: to } = readFields(value);
  const [low, high] = [readNumber(from), readNumber(to)];
  return low === null || high === null || low > high ? null : { low, high };
}

/** An ISO 8601 time; empty for anything else. */
export function readTime(value: unknown): string {
  const text = readText(value);
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? text : '';
}
