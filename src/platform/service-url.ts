/** An absolute URL of this service: the base may have a path of its own and slashes at its end. @param path begins with a slash */
export function joinUrl(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}
