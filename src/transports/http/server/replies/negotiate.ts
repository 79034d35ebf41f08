interface MediaRange {
  type: string;
  subtype: string;
  quality: number;
}

/** How exactly a range names a media type, for the choice between ranges that all match; none does at zero. */
const NO_MATCH = 0;

/**
 * The offered media type that an `Accept` header likes best (RFC 9110, section 12.5.1): the highest quality wins, the earlier offer of
 * equals. The first offer where there is no header, or where it takes none of them: an answer of another type helps more than none.
 */
export function negotiateMediaType<Type extends string>(accept: string, offered: readonly [Type, ...Type[]]): Type {
  const ranges = parseAccept(accept);
  if (ranges.length === 0) return offered[0];
  const rated = offered.map((type) => ({ type, quality: getQuality(type, ranges) }));
  const best = rated.reduce((winner, candidate) => (candidate.quality > winner.quality ? candidate : winner));
  return best.quality > 0 ? best.type : offered[0];
}

function parseAccept(accept: string): MediaRange[] {
  return accept.split(',').flatMap((item) => {
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const [, type, subtype] = /^([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)$/.exec(range) ?? [];
    if (type === undefined || (type === '*' && subtype !== '*')) return [];
    return [{ type, subtype, quality: parseQuality(parameters) }];
  });
}

/** 0 to 1; 1 unless told, and for what is no quality. */
function parseQuality(parameters: string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1;
}

/** By the range that names the type most exactly, whatever the others say. */
function getQuality(mediaType: string, ranges: readonly MediaRange[]): number {
  const [type, subtype] = mediaType.split('/');
  const exactness = (range: MediaRange) => {
    if (range.type === '*') return 1;
    if (range.type !== type) return NO_MATCH;
    return range.subtype === subtype ? 3 : range.subtype === '*' ? 2 : NO_MATCH;
  };
  const matching = ranges.filter((range) => exactness(range) > NO_MATCH).toSorted((a, b) => exactness(b) - exactness(a));
  return matching[0]?.quality ?? 0;
}
