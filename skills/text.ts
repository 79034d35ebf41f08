/** `after` is looked for behind the first match of `word`: one pattern with both would take quadratic time. */
export type Keyword = readonly [weight: number, word: RegExp, after?: RegExp];

/** How a skill is recognized in plain text, and what is read from it. Patterns get lower case, with dates as `YYYY-MM-DD`. */
export interface TextRules<Input> {
  /** The skill with the highest sum of weights is called; each keyword counts once. */
  words: readonly Keyword[];
  /** What a text says that it does not want, where `words` are not looked for. Has the flag `g`. */
  unwanted?: RegExp;
  /** Of equal sums the higher rank wins, then the skill that is listed first. Default: 0 */
  rank?: number;
  /** The input as far as the text contains it, or the question for what is required and missing. */
  read(text: string): Input | string;
}

interface RecognizableSkill {
  id: string;
  fromText: TextRules<Record<string, unknown>>;
}

/** A text as a skill call, or as a skill whose input is incomplete. */
type TextCall = { skill: string; input: Record<string, unknown> } | { skill: string; missing: string };

/** Fixed rules: equal texts give equal calls. Null if the text names no skill and there is no `previous` one. */
export function parseText(text: string, skills: readonly RecognizableSkill[], previous?: string): TextCall | null {
  const lower = normalizeDates(text.toLowerCase());
  const named = skills.find(({ id }) => lower.includes(id));
  const found = named ?? findBestSkill(lower, skills) ?? skills.find(({ id }) => id === previous);
  if (found === undefined) return null;
  const { id: skill, fromText } = found;
  const input = fromText.read(lower);
  if (typeof input === 'string') return { skill, missing: input };
  return { skill, input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) };
}

function findBestSkill(text: string, skills: readonly RecognizableSkill[]): RecognizableSkill | undefined {
  const found = skills.map((skill) => ({ skill, rank: skill.fromText.rank ?? 0, score: computeScore(text, skill.fromText) }));
  const [best] = found.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score || other.rank - one.rank);
  return best?.skill;
}

function computeScore(text: string, { words, unwanted }: RecognizableSkill['fromText']): number {
  const wanted = unwanted === undefined ? text : text.replace(unwanted, '');
  return words.reduce((sum, keyword) => (isFound(wanted, keyword) ? sum + keyword[0] : sum), 0);
}

function isFound(text: string, [, word, after]: Keyword): boolean {
  const found = word.exec(text);
  return found !== null && (after === undefined || after.test(text.slice(found.index + found[0].length)));
}

const NUMBERS: Record<string, number> = { a: 1, an: 1, one: 1, two: 2, three: 3, seven: 7 };

/** `2d`, `3 days`, `three-day`, `a week`, `next week`. */
export function findHorizon(text: string): string | undefined {
  const [, count, unit] = /\b(\d{1,3}|(?:an?|one|two|three|seven)(?=[ -]))[ -]?(d|days?|w|weeks?)\b/.exec(text) ?? [];
  if (count !== undefined) return `${(NUMBERS[count] ?? Number(count)) * (unit.startsWith('w') ? 7 : 1)}d`;
  if (/\b(?:this|next|the|coming|per)? ?(?:week|weekly)\b/.test(text)) return '7d';
  return undefined;
}

/** `risk 1% of 10,000 USD`, `1.5 % at risk, account of $2000`; nothing unless both are there. */
export function findRisk(text: string): { riskPercent?: number; accountUsd?: number } {
  if (!/\brisk/.test(text)) return {};
  const [, percent] = /(\d{1,3}(?:\.\d{1,4})?) ?(?:%|percent)/.exec(text) ?? [];
  const [, before, after] = /\$ ?(\d[\d,]{0,16}(?:\.\d{1,2})?)|\b(\d[\d,]{0,16}(?:\.\d{1,2})?) ?(?:\$|usd\b|dollars?\b)/.exec(text) ?? [];
  const account = before ?? after;
  if (percent === undefined || account === undefined) return {};
  return { riskPercent: Number(percent), accountUsd: Number(account.replaceAll(',', '')) };
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(${MONTHS.join('|')})[a-z]{0,6}\\.?`;
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?${MONTH},? (\\d{4})\\b`, 'g');
const MONTH_FIRST = new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, 'g');

/** `5 January 2026` and `January 5th, 2026` as `2026-01-05`. */
function normalizeDates(text: string): string {
  const iso = (year: string, month: string, day: string) =>
    `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return text
    .replace(DAY_FIRST, (_, day: string, month: string, year: string) => iso(year, month, day))
    .replace(MONTH_FIRST, (_, month: string, day: string, year: string) => iso(year, month, day));
}

/** The first two. */
export function findDates(text: string): string[] {
  return (text.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? []).slice(0, 2);
}

export function findDateRange(text: string): { from?: string; to?: string } {
  const [from, to] = findDates(text).sort();
  if (to !== undefined) return { from, to };
  if (from === undefined) return {};
  return /\b(?:until|till|before|up to|to \d{4}-)/.test(text) ? { to: from } : { from };
}

/** The values whose pattern the text matches. */
export function findNamed<Value extends string>(text: string, patterns: Readonly<Record<Value, RegExp>>): Value[] {
  return (Object.keys(patterns) as Value[]).filter((value) => patterns[value].test(text));
}
