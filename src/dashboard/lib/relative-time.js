import { h } from './dom.js';
import { formatRelativeTime, formatUtcTime } from './format.js';

const UPDATE_MS = 10_000;

/** A relative time such as `3 hours ago` that is kept current, with the exact time as its title. @param {string} time ISO 8601 */
export function createRelativeTime(time) {
  return h('time', { class: 'ago', datetime: time, title: formatUtcTime(time) }, formatRelativeTime(time));
}

export function startTimeUpdates() {
  setInterval(() => {
    for (const element of document.querySelectorAll('time.ago')) {
      const text = formatRelativeTime(/** @type {HTMLTimeElement} */ (element).dateTime);
      if (element.textContent !== text) element.textContent = text;
    }
  }, UPDATE_MS);
}
