import { REGIME_NAMES, type Regime } from '../../../forecast/regime/regime.ts';

export interface TextFilters {
  regime: Regime | undefined;
  status: string | undefined;
  pageSize: number | undefined;
}

/** @param text in lower case */
export function parseTextFilters(text: string): TextFilters {
  return { regime: findRegime(text), status: findStatus(text), pageSize: findPageSize(text) };
}

/** By name. CHOP also has everyday synonyms. */
const REGIME_PATTERNS = REGIME_NAMES.map((regime) => {
  const name = regime === 'DEFAULT' ? 'regime default|default regime' : regime.toLowerCase().replace('_', '[ _-]');
  return { regime, pattern: new RegExp(`\\b(?:${name}${regime === 'CHOP' ? '|choppy|sideways' : ''})\\b`) };
});

function findRegime(text: string): Regime | undefined {
  return REGIME_PATTERNS.find(({ pattern }) => pattern.test(text))?.regime;
}

const SELECTION_PATTERN = /\b(?:which|show|list|only)\b/;
const OUTCOME_PATTERNS = {
  WIN: /\b(?:(?:were|was|been|went) (?:right|correct)|won|wins)\b/,
  LOSS: /\b(?:wrong|lost|losses)\b/,
};

/** By name. Other words count only in a request for a list, because questions for a number contain them too. */
function findStatus(text: string): string | undefined {
  const [, name] = /\bstatus (win|loss|hold|void|pending)\b/.exec(text) ?? [];
  if (name !== undefined) return name.toUpperCase();
  if (!SELECTION_PATTERN.test(text)) return undefined;
  const named = Object.entries(OUTCOME_PATTERNS).flatMap(([status, pattern]) => (pattern.test(text) ? [status] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** `the last 10`, unless a unit of time follows. */
function findPageSize(text: string): number | undefined {
  const [, count] = /\b(?:last|latest|newest) (\d{1,3})\b(?![ -]?(?:d|days?|w|weeks?|months?)\b)/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
}
