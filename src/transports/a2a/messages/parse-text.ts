import { SKILLS } from '../../../../skills/index.ts';
import { parseTextFilters } from './text-filters.ts';

/** A text as a skill call, or as a skill whose input is incomplete. */
export type TextCall = { skill: string; input: Record<string, unknown> } | { skill: string; missing: string };

/** `after` is looked for behind the first match of `word`: one pattern with both would take quadratic time. */
type Keyword = readonly [weight: number, word: RegExp, after?: RegExp];

/** Weighted keywords, each counted once. Ordered by priority: of equal scores the later skill wins. */
const KEYWORDS: readonly { skill: string; words: readonly Keyword[] }[] = [
  {
    skill: 'get_market_context',
    words: [
      [3, /\b(?:fear|greed|sentiment|etfs?|inflows?|outflows?|macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi|regime)\b/],
      [3, /\bmarkets?\b/],
      [2, /\b(?:price|cost|worth|trading at|how much)\b/],
      [2, /\bcontext\b/],
    ],
  },
  {
    skill: 'predict_btc_direction',
    words: [
      [3, /\b(?:forecast|predict(?:ion)?|outlook|signal|direction)\b/],
      [3, /\b(?:will|going to|go(?:es|ing)?|head(?:ed|ing)?|move)\b/, /\b(?:up|down|rise|fall|drop|higher|lower|next|tomorrow|week)\b/],
      [3, /\bwhere\b/, /\b(?:going|heading|headed)\b/],
      [3, /\b(?:up or down|bull(?:ish)?|bear(?:ish)?|long or short|buy|sell)\b/],
      [1, /\b(?:next week|tomorrow|coming days|over the next)\b/],
    ],
  },
  {
    skill: 'get_track_record',
    words: [
      [7, /\b(?:track record|score ?card|hit rate|win rate|brier|calibrat\w+|statistics|stats)\b/],
      [
        7,
        /\b(?:accura\w+|performance|how (?:good|reliable|often)|how well|how many|right so far|past (?:forecasts|predictions|results))\b/,
      ],
      [4, /\b(?:history|results|record|won|lost|wins|losses|calls)\b/],
      [4, /\b(?:were|was|been) (?:right|wrong|correct)\b/],
      [7, /\bhow (?:did|have) you (?:do|done|fare|perform)\w*\b/],
    ],
  },
  {
    skill: 'verify_prediction',
    words: [
      [7, /\b(?:verif(?:y|ied|ies|ication)|authentic\w*|tamper\w*|genuine)\b/],
      [5, /\b(?:check|prove|valid(?:ate)?|audit)\b/],
      [5, /\b(?:made|committed) before\b/],
      [2, /\b(?:on[- ]chain|attest\w*|commitment|proof)\b/],
      [20, /\b0x[0-9a-f]{64}\b/],
      [20, /\b\d{4}-\d{2}-\d{2}:[1-9]d\b/],
      [2, /\b\d{4}-\d{2}-\d{2}\b/],
    ],
  },
];

/** Fixed rules: equal texts give equal calls. Null if the text names no skill and there is no `previous` one. */
export function parseText(text: string, previous?: string): TextCall | null {
  const lower = normalizeDates(text.toLowerCase());
  const skill = findNamedSkill(lower) ?? findBestSkill(lower) ?? previous;
  if (skill === undefined) return null;
  if (skill === 'verify_prediction') return parseVerification(lower);
  const fields = { horizon: findHorizon(lower), ...findDateRange(lower), ...parseTextFilters(lower), include: findSections(lower) };
  return { skill, input: pickSkillFields(skill, fields) };
}

function findNamedSkill(text: string): string | undefined {
  return SKILLS.find(({ id }) => text.includes(id))?.id;
}

function findBestSkill(text: string): string | undefined {
  const scores = KEYWORDS.map(({ skill, words }) => ({
    skill,
    score: words.reduce((sum, [weight, word, after]) => (isFound(text, word, after) ? sum + weight : sum), 0),
  }));
  const best = scores.reduce((one, other) => (other.score >= one.score ? other : one));
  return best.score > 0 ? best.skill : undefined;
}

function isFound(text: string, word: RegExp, after: RegExp | undefined): boolean {
  const found = word.exec(text);
  return found !== null && (after === undefined || after.test(text.slice(found.index + found[0].length)));
}

function parseVerification(text: string): TextCall {
  const skill = 'verify_prediction';
  const [uid] = /\b0x[0-9a-f]{64}\b/.exec(text) ?? [];
  if (uid !== undefined) return { skill, input: { uid } };
  const [predictionId] = /\b\d{4}-\d{2}-\d{2}:[1-9]d\b/.exec(text) ?? [];
  if (predictionId !== undefined) return { skill, input: { predictionId } };
  const [date] = findDates(text);
  if (date === undefined) {
    return {
      skill,
      missing:
        'Which forecast should be verified? Send its date (YYYY-MM-DD), its id (e.g. 2026-01-05:7d) or the uid of its attestation (0x and 64 hex digits).',
    };
  }
  return { skill, input: pickSkillFields(skill, { date, horizon: findHorizon(text) }) };
}

const NUMBERS: Record<string, number> = { a: 1, an: 1, one: 1, two: 2, three: 3, seven: 7 };

/** `2d`, `3 days`, `three-day`, `a week`, `next week`, `tomorrow`. */
function findHorizon(text: string): string | undefined {
  const [, count, unit] = /\b(\d{1,3}|(?:an?|one|two|three|seven)(?=[ -]))[ -]?(d|days?|w|weeks?)\b/.exec(text) ?? [];
  if (count !== undefined) return `${(NUMBERS[count] ?? Number(count)) * (unit.startsWith('w') ? 7 : 1)}d`;
  if (/\b(?:this|next|the|coming|per)? ?(?:week|weekly)\b/.test(text)) return '7d';
  return undefined;
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

function findDateRange(text: string): { from?: string; to?: string } {
  const [from, to] = findDates(text).sort();
  if (to !== undefined) return { from, to };
  if (from === undefined) return {};
  return /\b(?:until|till|before|up to|to \d{4}-)/.test(text) ? { to: from } : { from };
}

function findDates(text: string): string[] {
  return (text.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? []).slice(0, 2);
}

const SECTIONS: Record<string, RegExp> = {
  price: /\b(?:price|cost|worth|trading at|how much)\b/,
  sentiment: /\b(?:fear|greed|sentiment)\b/,
  flows: /\b(?:etfs?|inflows?|outflows?|flows?)\b/,
  macro: /\b(?:macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi)\b/,
  regime: /\bregime\b/,
};

/** Undefined, which means all, if the text names none. */
function findSections(text: string): string[] | undefined {
  const named = Object.entries(SECTIONS).flatMap(([section, words]) => (words.test(text) ? [section] : []));
  return named.length === 0 ? undefined : named;
}

/** Keeps the fields that the skill declares and the text contains. */
function pickSkillFields(skill: string, fields: Record<string, unknown>): Record<string, unknown> {
  const known = SKILLS.find(({ id }) => id === skill)?.input.shape ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([field, value]) => value !== undefined && field in known));
}
