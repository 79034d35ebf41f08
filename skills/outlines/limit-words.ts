/** The text up to a number of words; `...` marks a cut. */
export function limitWords(text: string, max: number): string {
  const words = text.split(/\s+/);
  return words.length <= max ? text : `${words.slice(0, max).join(' ')} ...`;
}
