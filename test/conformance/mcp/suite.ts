import { execFile } from 'node:child_process';
import { resolve } from 'node:path';

const PACKAGES = resolve(import.meta.dirname, '../node_modules');

/** Official suites by the newest MCP revision that they cover. */
export const SUITES = {
  '2025-11-25': '@modelcontextprotocol/conformance',
  '2026-07-28': 'conformance-next',
} as const;

export interface SuiteRun {
  code: number;
  output: string;
}

/** Runs the command line of a suite in a child process. `cwd` receives its files. */
export function runSuite(revision: keyof typeof SUITES, words: string[], cwd: string): Promise<SuiteRun> {
  const command = resolve(PACKAGES, SUITES[revision], 'dist/index.js');
  return new Promise((done) => {
    execFile(process.execPath, [command, 'server', ...words], { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output: stdout + stderr }),
    );
  });
}

export function summaryOf({ output }: SuiteRun): string {
  const start = output.indexOf('=== SUMMARY ===');
  return start < 0 ? output : output.slice(start);
}
