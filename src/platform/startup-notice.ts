/** A line for whoever started the process: on standard error, like the progress of long work. */
export function writeNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}
