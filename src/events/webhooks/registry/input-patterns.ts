import { MAX_SECRET_LENGTH, MIN_SECRET_BYTES } from '../signing/secret.ts';

/** JSON Schema patterns for inputs that functions check: each accepts only what its function accepts. */

const GROUP = '[A-Za-z0-9+/]{4}';
/** One or two trailing bytes in base64, whose unused bits are zero. */
const ONE_BYTE = '[A-Za-z0-9+/][AQgw](?:==)?';
const TWO_BYTES = '[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=?';
/** Endings after whole groups, by the minimum number of further bytes. */
const ENDINGS = [`(?:${ONE_BYTE}|${TWO_BYTES})?`, `(?:${ONE_BYTE}|${TWO_BYTES}|${GROUP})`, `(?:${TWO_BYTES}|${GROUP}(?:${ONE_BYTE})?)`];
const BASE64 = `(?:${GROUP}){${Math.floor(MIN_SECRET_BYTES / 3)},}${ENDINGS[MIN_SECRET_BYTES % 3]}`;

/** `whsec_` and base64, or text of the Basic Multilingual Plane without control characters; `toSigningKey` also accepts other planes. */
export const SECRET_PATTERN = `^(?:whsec_${BASE64}|(?!whsec_)[ -~\\u00a0-\\ud7ff\\ue000-\\uffff]{${MIN_SECRET_BYTES},${MAX_SECRET_LENGTH}})$`;

const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const LABEL = '(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NOT_LOCAL = '(?![^/?:]*\\.(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\\.arpa)(?:[/?:]|$))';

/** https, a non-local host in lower case, no credentials or fragment. `parseTarget` accepts more spellings; a lookup decides on the address. */
export const CALLBACK_PATTERN = `^https://${NOT_LOCAL}(?:${LABEL}\\.)+[a-z]{2,63}(?::${PORT})?(?:[/?][\\w.~!$&()*+,;=:@/?%-]*)?$`;
