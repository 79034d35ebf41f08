import { createRequire } from 'node:module';

interface Diagnostic {
  message: string;
  path: (string | number)[];
}

type ParserClass = new () => { parse(text: string): Promise<{ diagnostics: Diagnostic[] }> };

/** All diagnostics of the official AsyncAPI parser, of any severity. */
export async function asyncApiDiagnostics(text: string): Promise<string[]> {
  // Not imported, because the type checker runs without the packages of this folder.
  const { Parser } = createRequire(import.meta.url)('@asyncapi/parser') as { Parser: ParserClass };
  const { diagnostics } = await new Parser().parse(text);
  return diagnostics.map(({ message, path }) => `${path.join('.')}: ${message}`);
}
