/** Everything but letters with their accents, digits and the punctuation that no markup is made of. */
const UNSAFE_CHARACTERS = /[^\p{L}\p{M}\p{N} .,:;%$?'()+/-]/gu;

/**
 * Text from outside as it may stand in a line of plain text, Markdown or HTML: without control characters, direction marks, line
 * breaks and markup, nothing that becomes a link, at most `max` characters long.
 */
export function sanitizeText(text: string, max: number): string {
  const plain = text
    .slice(0, 10 * max)
    .normalize('NFC')
    .replaceAll(UNSAFE_CHARACTERS, ' ')
    .replaceAll(/\/{2,}/g, ' ')
    .replaceAll(/www\./gi, 'www ')
    .replaceAll(/ +/g, ' ')
    .trim();
  const characters = [...plain];
  if (characters.length <= max) return plain;
  const kept = characters.slice(0, max - 1).join('');
  return `${kept.trimEnd()}…`;
}
