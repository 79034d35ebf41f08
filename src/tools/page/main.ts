import { OracleError } from '../../platform/errors.ts';
import { getAppFileName } from '../../transports/mcp/apps/app-documents.ts';
import { APP_VIEWS } from '../../views/mcp-app/app-views.ts';
import { buildApp } from './build-app.ts';
import { buildPage } from './build-page.ts';

/** Builds the page and the MCP App, and prints their sizes. With `--optional`, as `npm ci` runs it, a missing bundler is no failure. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const { files, widget } = await buildPage();
    for (const { name, text, brotli } of files)
      process.stdout.write(`dist/page/${name}: ${text.length} characters, ${brotli.length} bytes compressed\n`);
    process.stdout.write(`dist/page/${widget.name}: ${widget.text.length} characters\n`);
    const documents = await buildApp();
    for (const view of APP_VIEWS) process.stdout.write(`dist/mcp-app/${getAppFileName(view)}: ${documents[view].length} characters\n`);
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    console.error(`${error.message}. ${error.suggestedAction ?? ''}`);
    if (!args.includes('--optional')) process.exitCode = 1;
  }
}
