/**
 * The header `Link` to the next page (RFC 8288); none on the last page.
 * @param next query parameters of the next page; null on the last
 */
export function buildNextPageHeaders(
  publicUrl: string,
  path: string,
  next: Record<string, string | number> | null,
): Record<string, string> {
  if (next === null) return {};
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next)) query.set(name, String(value));
  return { Link: `<${publicUrl.replace(/\/$/, '')}${path}?${query}>; rel="next"` };
}
