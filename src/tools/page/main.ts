import { OracleError } from '../../platform/errors.ts';
import { buildPage } from './build-page.ts';

/** Builds the page and prints its size. With `--optional`, as `npm ci` runs it, a missing bundler is no failure. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const { files, widget } = await buildPage();
    for (const { name, text, brotli } of files)
      process.stdout.write(`dist/page/${name}: ${text.length} characters, ${brotli.length} bytes compressed\n`);
    process.stdout.write(`dist/page/${widget.name}: ${widget.text.length} characters\n`);
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    console.error(`${error.message}. ${error.suggestedAction ?? ''}`);
    if (!args.includes('--optional')) process.exitCode = 1;
  }
}
