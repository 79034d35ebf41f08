/**
 * The offered media type of the highest quality in an `Accept` header (RFC 9110, section 12.5.1); the first offer wins a tie, and where
 * none is acceptable. Express `accepts` decides ties by the header, and rejects `text/markdown; charset=utf-8`, which clients send.
 */
export function negotiateMediaType<Type extends string>(accept: string, offered: readonly [Type, ...Type[]]): Type {
  const ranges = parseAccept(accept);
  const rated = offered.map((type) => ({ type, quality: getQuality(type, ranges) }));
  return rated.reduce((best, candidate) => (candidate.quality > best.quality ? candidate : best)).type;
}

interface MediaRange {
  type: string;
  subtype: string;
  quality: number;
}

function parseAccept(accept: string): MediaRange[] {
  return accept.split(',').flatMap((item) => {
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const [, type, subtype] = /^([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)$/.exec(range) ?? [];
    if (type === undefined || (type === '*' && subtype !== '*')) return [];
    return [{ type, subtype, quality: parseQuality(parameters) }];
  });
}

/** 1 where the parameter is absent or malformed. */
function parseQuality(parameters: string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1;
}

/** Quality of the most specific range that matches; 0 without a match. */
function getQuality(mediaType: string, ranges: readonly MediaRange[]): number {
  const [type, subtype] = mediaType.split('/');
  const find = (wantedType: string, wantedSubtype: string) =>
    ranges.find((range) => range.type === wantedType && range.subtype === wantedSubtype);
  return (find(type, subtype) ?? find(type, '*') ?? find('*', '*'))?.quality ?? 0;
}
