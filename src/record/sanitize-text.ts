/** Characters other than letters, marks, digits and punctuation that no markup uses. */
const UNSAFE_CHARACTERS = /[^\p{L}\p{M}\p{N} .,:;%$?'()+/-]/gu;

/** Makes external text safe for a line of text, Markdown or HTML: no control or bidi characters, line breaks, markup or links. */
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
