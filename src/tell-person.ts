/** A line for whoever started the process: on standard error, like the progress of long work. */
export function tellPerson(text: string): void {
  process.stderr.write(`${text}\n`);
}
