/** `Link` header with `rel="next"` (RFC 8288). @param next query of the next page; null on the last page */
export function buildNextPageHeaders(
  publicUrl: string,
  path: string,
  next: Record<string, string | number> | null,
): Record<string, string> {
  if (next === null) return {};
  const query = new URLSearchParams(Object.entries(next).map(([name, value]): [string, string] => [name, String(value)]));
  return { Link: `<${publicUrl.replace(/\/$/, '')}${path}?${query}>; rel="next"` };
}
