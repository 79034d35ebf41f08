import { h } from './dom.js';
import { fromNow, utcTime } from './format.js';

const EVERY_MS = 10_000;

/**
 * A time in words that stay true while it is shown, such as `3 hours ago`; the exact one is its title.
 * @param {string} time ISO 8601
 */
export function ago(time) {
  return h('time', { class: 'ago', datetime: time, title: utcTime(time) }, fromNow(time));
}

/** Keeps all of them true. */
export function keepTimesTrue() {
  setInterval(() => {
    for (const element of document.querySelectorAll('time.ago')) {
      const words = fromNow(/** @type {HTMLTimeElement} */ (element).dateTime);
      if (element.textContent !== words) element.textContent = words;
    }
  }, EVERY_MS);
}
