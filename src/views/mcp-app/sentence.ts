/** A clause of an answer as a sentence of its own. */
export function toSentence(clause: string): string {
  const text = clause.trim();
  if (text === '') return '';
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
}
