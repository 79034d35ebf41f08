import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** What users read: each Markdown of the repository that is no part of a package. */
export const DOCUMENTS: readonly string[] = globSync(['*.md', 'docs/*.md', 'examples/*.md', 'clients/*/*.md', 'deploy/*.md'], {
  cwd: ROOT,
}).toSorted();

/** Commands as a shell without PORT runs them. */
export const documentText = (name: string) => readFileSync(resolve(ROOT, name), 'utf8').replaceAll(/\$\{PORT:-(\d+)\}/g, '$1');

/** The formatter pads the cells of tables. */
export const unpadded = (markdown: string) => markdown.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

/** The script of a document whose first line names it. */
export function scriptIn(markdown: string, name: string): string {
  const scripts = [...markdown.matchAll(/```js\n(.*?)```/gs)].map(([, script]) => script);
  return scripts.find((script) => script.startsWith(`// ${name}:`))!;
}

/** A request as a line of curl writes it. */
export interface CurlLine {
  line: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The lines of curl in a text, those that go on with a backslash joined. */
export function curlLines(markdown: string): CurlLine[] {
  const lines = markdown.replaceAll(/ *\\\n */g, ' ').match(/^ {0,4}curl .*$/gm) ?? [];
  return lines.map((line) => curlLine(line.trim().replace(/ +#.*$/, '')));
}

function curlLine(line: string): CurlLine {
  const request: CurlLine = { line, method: 'GET', url: '', headers: {}, body: undefined };
  const words = (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).slice(1).map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  for (let i = 0; i < words.length; i++) {
    const value = () => words[++i];
    if (words[i] === '-X') request.method = value();
    else if (words[i] === '-d') request.body = value();
    else if (words[i] === '-u') request.headers.Authorization = `Basic ${value()}`;
    else if (words[i] === '-H') {
      const [name, text] = value().split(/: (.*)/);
      request.headers[name] = text;
    } else request.url = words[i];
  }
  return request;
}
