/** An absolute URL of this service, whose base may have a path and trailing slashes. @param path begins with a slash */
export function joinUrl(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}
