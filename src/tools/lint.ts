import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import jsTokens from 'js-tokens';

interface Import {
  specifier: string;
  line: number;
}

interface Finding {
  file: string;
  line: number;
  message: string;
}

/** The import law: code may import its own part, and any part of an earlier line. Type imports count like any other. */
const LAW: readonly (readonly string[])[] = [
  ['src/errors.ts', 'src/forecast'],
  ['src/platform', 'src/config.ts', 'src/settings.ts'],
  ['src/chain', 'src/market', 'src/wager'],
  ['src/verify', 'src/auth/caller.ts'],
  ['src/record', 'src/audit', 'src/context.ts'],
  ['src/auth', 'src/commerce', 'src/events', 'src/pipeline', 'src/contest.ts'],
  ['src/payer.ts', 'src/adapter.ts', 'skills', 'src/page'],
  // What is sold is composed from answers of the skills.
  ['agent-card', 'src/commerce/documents', 'clients/typescript/src'],
  ['src/http', 'src/a2a', 'src/mcp', 'src/cli/svc'],
  ['src/page/browser/responses.ts'],
  ['src/page/browser'],
  ['src/app', 'src/ops', 'src/cli', 'src/dev', 'src/tools', 'src/main.ts'],
];

/** Parts of one line that may import each other. */
const JOINED = [LAW[0], LAW[1], LAW[4], LAW.at(-1)];

/** What a part may import besides itself, of the lines before and of packages, where that is less than all of them. */
const LIMITS: Readonly<Record<string, RegExp>> = {
  // Without input and output, or in browsers too: no package of Node and no database.
  'src/forecast': /^src\/errors\.ts$|^(?!node:|mongodb|src\/)/,
  'src/verify': /^src\/(?:errors\.ts$|forecast\/|chain\/eas\/schemas\.ts$)|^viem$/,
  // The audit stands on its own.
  'src/record': /^(?!src\/audit\/)/,
  'src/audit':
    /^src\/(?:errors\.ts$|forecast\/|verify\/|chain\/(?:addresses|rpc)\.ts$|chain\/eas\/(?:schemas|reader)\.ts$)|^(?:viem(?:\/actions)?|zod\/mini)$/,
  'src/payer.ts': /^src\/(?:errors|chain\/addresses|commerce\/(?:payment-signer|receipts))\.ts$|^(?!node:|mongodb|src\/)/,
  'src/page': /^src\/forecast\/(?:day|move)\.ts$/,
  'src/page/browser':
    /^src\/(?:page|verify|audit)\/|^src\/(?:errors|forecast\/(?:day|move)|chain\/addresses|chain\/eas\/schemas|commerce\/(?:payment-signer|receipts))\.ts$|^(?!node:|src\/)/,
  'clients/typescript/src':
    /^src\/(?:verify|audit)\/|^src\/(?:errors|payer|chain\/addresses|commerce\/payment-signer|auth\/login-message)\.ts$|^(?!node:|src\/)/,
  // A package of its own, without the service.
  'src/cli/svc':
    /^src\/(?:platform|forecast|chain|verify|audit)\/|^src\/(?:errors|payer|auth\/login-client|commerce\/(?:payment-signer|receipts))\.ts$|^(?!src\/|skills\/|agent-card\/)/,
  'src/adapter.ts': /^src\/(?:errors\.ts$|platform\/|auth\/)|^(?!src\/|skills\/)/,
  // They get what happens and the day as functions.
  skills: /^(?!src\/(?:events|pipeline)\/|src\/contest\.ts$)/,
  'agent-card': /^(?!src\/(?:events|pipeline)\/|src\/contest\.ts$)/,
  'src/http': /^(?!src\/pipeline\/|src\/payer\.ts$)/,
  'src/a2a': /^(?!src\/pipeline\/|src\/payer\.ts$)/,
  'src/mcp': /^(?!src\/pipeline\/|src\/payer\.ts$)/,
};

const PARTS = LAW.flatMap((parts, rank) => parts.map((part) => ({ part, rank, joined: JOINED.includes(parts) }))).sort(
  (a, b) => b.part.length - a.part.length,
);

const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
const findPart = (file: string) => PARTS.find(({ part }) => isBelow(file, part));

/** Checks the imports of the sources, or of the folders given. */
export function main(folders: readonly string[]): void {
  const files = (folders.length === 0 ? ['src', 'skills', 'agent-card', 'clients/typescript/src'] : folders).flatMap((folder) =>
    globSync('**/*.{ts,js,mjs}', { cwd: folder, exclude: ['**/node_modules'] }).map((name) => join(folder, name)),
  );
  const findings = files.sort().flatMap((file) => findForbiddenImports(file, readImports(readFileSync(file, 'utf8'))));
  for (const { file, line, message } of findings) console.error(`${file}:${line}  ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}

export function findForbiddenImports(file: string, imports: readonly Import[]): Finding[] {
  const from = findPart(file);
  if (from === undefined) return [];
  return imports.flatMap(({ specifier, line }) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
    if (isAllowed(from, target)) return [];
    return [{ file, line, message: `${from.part} may not import ${target} (docs/ARCHITECTURE.md, "The import law")` }];
  });
}

function isAllowed(from: (typeof PARTS)[number], target: string): boolean {
  const to = findPart(target);
  if (to === from) return true;
  if (LIMITS[from.part]?.test(target) === false) return false;
  if (to === undefined) return !target.startsWith('src/');
  return to.rank < from.rank || (to.rank === from.rank && from.joined);
}

/** Specifiers of `from '…'`, `import '…'` and `import('…')`, type imports included. */
export function readImports(source: string): Import[] {
  const imports: Import[] = [];
  let line = 1;
  let before: string[] = [];
  for (const { type, value } of jsTokens(source)) {
    const [beforeLast, last] = before;
    const isSpecifier = last === 'from' || last === 'import' || (last === '(' && beforeLast === 'import');
    if (type === 'StringLiteral' && isSpecifier) imports.push({ specifier: value.slice(1, -1), line });
    if (type !== 'WhiteSpace' && type !== 'LineTerminatorSequence') before = [...before, value].slice(-2);
    line += value.split('\n').length - 1;
  }
  return imports;
}

/** For the documents. */
export function renderImportLaw(): string {
  return LAW.map((parts, index) => `${index + 1}. ${parts.map((part) => `\`${part}\``).join(', ')}`).join('\n');
}
