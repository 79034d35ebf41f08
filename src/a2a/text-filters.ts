import { REGIME_NAMES, type Regime } from '../forecast/regime.ts';

/** What a text says of the forecasts that it wants of the record. */
export interface TextFilters {
  regime: Regime | undefined;
  status: string | undefined;
  pageSize: number | undefined;
}

/** @param text in lower case */
export function filtersIn(text: string): TextFilters {
  return { regime: regimeIn(text), status: statusIn(text), pageSize: pageSizeIn(text) };
}

/** By its name, with whatever stands between its words. That of no other regime is a word of everyday too. */
const REGIME_WORDS = REGIME_NAMES.map((regime) => {
  const name = regime === 'DEFAULT' ? 'regime default|default regime' : regime.toLowerCase().replace('_', '[ _-]');
  return { regime, words: new RegExp(`\\b(?:${name}${regime === 'CHOP' ? '|choppy|sideways' : ''})\\b`) };
});

function regimeIn(text: string): Regime | undefined {
  return REGIME_WORDS.find(({ words }) => words.test(text))?.regime;
}

const SELECTING = /\b(?:which|show|list|only)\b/;
const OUTCOMES = {
  WIN: /\b(?:(?:were|was|been|went) (?:right|correct)|won|wins)\b/,
  LOSS: /\b(?:wrong|lost|losses)\b/,
};

/** By its name; in other words only where forecasts are asked for, not how many of them there are. */
function statusIn(text: string): string | undefined {
  const [, name] = /\bstatus (win|loss|hold|void|pending)\b/.exec(text) ?? [];
  if (name !== undefined) return name.toUpperCase();
  if (!SELECTING.test(text)) return undefined;
  const named = Object.entries(OUTCOMES).flatMap(([status, words]) => (words.test(text) ? [status] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** `the last 10`, which are forecasts unless they are days. */
function pageSizeIn(text: string): number | undefined {
  const [, count] = /\b(?:last|latest|newest) (\d{1,3})\b(?![ -]?(?:d|days?|w|weeks?|months?)\b)/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
}
