import { formatUtc } from '../time.ts';

const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z/g;

/** A clause of an answer as a sentence of its own, its times to the minute. */
export function toSentence(clause: string): string {
  const text = clause.trim().replace(TIME, formatUtc);
  if (text === '') return '';
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
}
