import { h } from './dom.ts';
import { formatRelativeTime, formatUtcTime } from './format.ts';

const UPDATE_MS = 10_000;

/** A relative time such as `3 hours ago` that is kept current, with the exact time as its title. @param time ISO 8601 */
export function createRelativeTime(time: string) {
  return h('time', { class: 'ago', datetime: time, title: formatUtcTime(time) }, formatRelativeTime(time));
}

export function startTimeUpdates() {
  setInterval(() => {
    for (const element of document.querySelectorAll('time.ago')) {
      const text = formatRelativeTime((element as HTMLTimeElement).dateTime);
      if (element.textContent !== text) element.textContent = text;
    }
  }, UPDATE_MS);
}
