/** A property of iCalendar: name with parameters, and its value as it is written. */
export type IcalProperty = readonly [name: string, value: string];

const MAX_LINE_BYTES = 75;

/** Content lines of RFC 5545, section 3.1: folded, each ended by CRLF. */
export function renderIcal(properties: readonly IcalProperty[]): string {
  return properties.map(([name, value]) => `${foldLine(`${name}:${value}`)}\r\n`).join('');
}

/** A value of type TEXT (section 3.3.11). */
export function escapeIcalText(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r?\n/g, '\\n');
}

/** A value of type DATE-TIME in UTC (section 3.3.5), whole seconds. */
export function formatIcalTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Lines have at most 75 octets; no character is split. The space that begins a further line counts. */
function foldLine(line: string): string {
  let [folded, bytes] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_LINE_BYTES) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}
