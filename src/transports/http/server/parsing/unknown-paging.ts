import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';

/** Paging parameters of common APIs, in lower case without `_` and `-`. */
const PAGING_NAMES = new Set(
  'page pageno pagenumber perpage pagesize pagetoken nexttoken continuationtoken cursor nextcursor before nextbefore after skip start from offset limit count size take first last'.split(
    ' ',
  ),
);

/** Longest name that an error echoes; all names of the list are shorter. */
const MAX_NAME_CHARS = 30;

/** Ignored, it would return the first page for every page. @throws OracleError INPUT_INVALID naming it and the parameters taken */
export function rejectUnknownPaging(schema: z.ZodObject | undefined, query: object): void {
  const taken = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(query).find((name) => !taken.includes(name) && isPagingName(name));
  if (unknown === undefined) return;
  const accepted = taken.length === 0 ? 'no query parameters' : taken.join(', ');
  throw new OracleError('INPUT_INVALID', `query parameter "${unknown}": is unknown; this operation takes ${accepted}`, {
    field: unknown,
    suggestedAction:
      taken.length === 0 ? `Omit "${unknown}": the response has one page.` : `Omit "${unknown}", or send one of: ${accepted}.`,
  });
}

function isPagingName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && PAGING_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
