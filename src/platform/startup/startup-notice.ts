/** Writes a line for the operator to standard error. */
export function writeNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}
