export function writeNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}
