import { REGIME_NAMES, type Regime } from '../../../forecast/regime/regime.ts';

/** What a text says of the forecasts that it wants of the record. */
export interface TextFilters {
  regime: Regime | undefined;
  status: string | undefined;
  pageSize: number | undefined;
}

/** @param text in lower case */
export function parseTextFilters(text: string): TextFilters {
  return { regime: findRegime(text), status: findStatus(text), pageSize: findPageSize(text) };
}

/** By its name, with whatever stands between its words. That of no other regime is a word of everyday too. */
const REGIME_PATTERNS = REGIME_NAMES.map((regime) => {
  const name = regime === 'DEFAULT' ? 'regime default|default regime' : regime.toLowerCase().replace('_', '[ _-]');
  return { regime, words: new RegExp(`\\b(?:${name}${regime === 'CHOP' ? '|choppy|sideways' : ''})\\b`) };
});

function findRegime(text: string): Regime | undefined {
  return REGIME_PATTERNS.find(({ words: pattern }) => pattern.test(text))?.regime;
}

const SELECTION_PATTERN = /\b(?:which|show|list|only)\b/;
const OUTCOME_PATTERNS = {
  WIN: /\b(?:(?:were|was|been|went) (?:right|correct)|won|wins)\b/,
  LOSS: /\b(?:wrong|lost|losses)\b/,
};

/** By its name; in other words only where forecasts are asked for, not how many of them there are. */
function findStatus(text: string): string | undefined {
  const [, name] = /\bstatus (win|loss|hold|void|pending)\b/.exec(text) ?? [];
  if (name !== undefined) return name.toUpperCase();
  if (!SELECTION_PATTERN.test(text)) return undefined;
  const named = Object.entries(OUTCOME_PATTERNS).flatMap(([status, pattern]) => (pattern.test(text) ? [status] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** `the last 10`, which are forecasts unless they are days. */
function findPageSize(text: string): number | undefined {
  const [, count] = /\b(?:last|latest|newest) (\d{1,3})\b(?![ -]?(?:d|days?|w|weeks?|months?)\b)/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
}
