/** Words of placeholders and common passwords, longest first; each counts as one character. */
const COMMON_WORDS = [
  'correcthorsebatterystaple administrator supersecret development placeholder encryption production characters qwertyuiop insecure',
  'changeit changeme password passw0rd p4ssword p@ssw0rd asdfghjkl cafebabe deadbeef operator yoursecret 1q2w3e4r iloveyou trustno1',
  'football baseball princess sunshine whatever superman letmein welcome default example replace minimum bitcoin ethereum zxcvbnm',
  'dragon monkey master oracle secret signal random string insert qwerty abc123 change please sample dummy admin asdf root salt test',
  'demo todo junk your here with this that must have long pass user',
].flatMap((line) => line.split(' '));
/** English has 1 to 1.5 bits a letter; random words with separators have about 2. */
const BITS_PER_WORD_LETTER = 2;
const MIN_VOWEL_SHARE = 0.3;

/** Conservative: repetitions, sequences and known words count as one character. Random hex has about 3.8 bits a character. */
export function estimateEntropyBits(secret: string, known: readonly string[] = []): number {
  const unit = stripRepetition(secret);
  const readings = [unit.toLowerCase(), replaceLookalikes(unit.toLowerCase())];
  const rests = readings.map((text) => stripRuns(stripWords(text, known)));
  const bitsPerCharacter = (rest: string) =>
    isWordLike(unit) ? Math.min(BITS_PER_WORD_LETTER, computeCharacterEntropy(rest)) : computeCharacterEntropy(rest);
  return Math.min(...rests.map((rest) => rest.length * bitsPerCharacter(rest)));
}

const LOOKALIKE_LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };

function replaceLookalikes(text: string): string {
  return text.replaceAll(/[013457@$]/g, (character) => LOOKALIKE_LETTERS[character]!);
}

/** The period of a repeating text; otherwise the text. */
function stripRepetition(text: string): string {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.startsWith(text.slice(period))) return text.slice(0, period);
  }
  return text;
}

function stripWords(text: string, known: readonly string[]): string {
  const words = [...known.map((word) => word.toLowerCase()).filter((word) => word.length > 2), ...COMMON_WORDS];
  // Separators within a word do not change it.
  const plain = text.replaceAll(/[\s_.-]/g, '');
  return words.reduce((rest, word) => rest.replaceAll(word, word[0]!), plain);
}

/** Removes characters that continue a sequence: `aaa`, `abc`, `321`. */
function stripRuns(text: string): string {
  const step = (index: number) => text.charCodeAt(index) - text.charCodeAt(index - 1);
  return Array.from(text)
    .filter((_, index) => index < 2 || Math.abs(step(index)) > 1 || step(index) !== step(index - 1))
    .join('');
}

/** Words in one case or capitalized, with a vowel share near that of languages; random letters have a fifth. */
function isWordLike(text: string): boolean {
  if (!/^([A-Z]?[a-z]+|[A-Z]+)([\s_.,!?-]+([A-Z]?[a-z]+|[A-Z]+))*[\s_.,!?-]*$/.test(text)) return false;
  const letters = text.toLowerCase().replaceAll(/[^a-z]/g, '');
  return letters.replaceAll(/[^aeiou]/g, '').length >= MIN_VOWEL_SHARE * letters.length;
}

/** Shannon entropy in bits per character. */
function computeCharacterEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}
