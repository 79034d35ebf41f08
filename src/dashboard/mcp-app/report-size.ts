import type { HostConnection } from './host-connection.ts';

/** Sends the size of the content, in pixels, now and whenever it has changed. */
export function reportSize(host: HostConnection): void {
  let last = '';
  const observer = new ResizeObserver(() => {
    const size = { width: window.innerWidth, height: Math.ceil(document.body.getBoundingClientRect().height) };
    const text = `${size.width} ${size.height}`;
    if (text !== last) host.notify('ui/notifications/size-changed', size);
    last = text;
  });
  observer.observe(document.body);
}
