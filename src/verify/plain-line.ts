/** Sanitizes untrusted text to one line: control and format characters, which a terminal would interpret, become U+FFFD. */
export function toPlainLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
