import { isAscii } from 'node:buffer';
import { registerHooks } from 'node:module';

const SCRIPTS = new Set(['module', 'commonjs', 'json']);
const BEYOND_LATIN_1 = /[^\0-\xff]/;
/** With the backslashes before it, the last of which may escape it. */
const BEYOND_ASCII = /((?:\\\\)*)\\?([^\0-\x7f])/g;
/** There an escape is something else than its character: in raw templates, and for spaces and separators between words. */
const NO_ESCAPES = /\braw`[^`]*[^\0-\x7f]|[^\0-\x7f\S]/;

/**
 * V8 keeps the text of each module, and one dash or arrow in a comment doubles it: two bytes a character, some 3 MB of a process. Such
 * characters are loaded as escapes, which mean the same in strings, templates, regular expressions, names and JSON. Lines stay what they are.
 */
export function useOneByteSources() {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      return SCRIPTS.has(loaded.format) ? { ...loaded, source: toOneByte(loaded.source) } : loaded;
    },
  });
}

/** @param {string | ArrayBuffer | NodeJS.TypedArray | null | undefined} source UTF-8 unless it is a string */
export function toOneByte(source) {
  if (source == null || (typeof source !== 'string' && isAscii(source))) return source;
  const text = typeof source === 'string' ? source : Buffer.from(source).toString();
  if (!BEYOND_LATIN_1.test(text) || NO_ESCAPES.test(text)) return source;
  const escaped = text.replace(BEYOND_ASCII, (_, pairs, unit) => `${pairs}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  // A replaced string has two bytes a character again.
  return Buffer.from(escaped, 'latin1').latin1Slice();
}
